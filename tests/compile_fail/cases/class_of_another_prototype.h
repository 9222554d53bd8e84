/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an event that is given something else than its class */
// want: request_end
#ifdef EVENTS
#include "class.h"
#ifdef WRONG
DEFINE_EVENT(request_class, request_end, TP_PROTO(int *id), TP_ARGS(id));
#else
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id), TP_ARGS(id));
#endif
#endif
