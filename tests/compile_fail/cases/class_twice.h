/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* two classes of one name */
// want: request_class
// errors: 11
#ifdef EVENTS
#include "class.h"
#ifdef WRONG
#include "class.h"
#else
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id), TP_ARGS(id));
#endif
#endif
