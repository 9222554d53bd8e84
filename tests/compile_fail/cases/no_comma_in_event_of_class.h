/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a comma is missing in an event of a class */
// want: DEFINE_EVENT\(request_class, \.\.\.\) has 3 parts, not 4
#ifdef EVENTS
#include "class.h"
#ifdef WRONG
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id) TP_ARGS(id));
#else
DEFINE_EVENT(request_class, request_end, TP_PROTO(int id), TP_ARGS(id));
#endif
#endif
