/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a comma is missing in a tracepoint without an event */
// want: DECLARE_TRACE\(request_bare, \.\.\.\) has 2 parts, not 3
#ifdef EVENTS
#ifdef WRONG
DECLARE_TRACE(request_bare, TP_PROTO(int id) TP_ARGS(id));
#else
DECLARE_TRACE(request_bare, TP_PROTO(int id), TP_ARGS(id));
#endif
#endif
