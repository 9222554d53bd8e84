/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* two events of one name */
// want: request_end
// errors: 13
#ifdef EVENTS
#include "class.h"
#ifdef WRONG
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id), TP_ARGS(id));
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id), TP_ARGS(id));
#else
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id), TP_ARGS(id));
#endif
#endif
