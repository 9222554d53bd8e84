/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an event of a class that is not there */
// want: request_end
// errors: 8
#ifdef EVENTS
#include "class.h"
#ifdef WRONG
DEFINE_EVENT(nosuch, request_end, TP_PROTO(int id), TP_ARGS(id));
#else
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id), TP_ARGS(id));
#endif
#endif
