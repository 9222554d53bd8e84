/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TP_PROTO() that TP_ARGS() leaves out */
// want: event request: TP_ARGS\(\) leaves out what TP_PROTO\(\) has
// errors: 6
#ifdef EVENTS
#define OWN_REQUEST
#ifdef WRONG
#define PROTO int id
#else
#define PROTO void
#endif
TRACE_EVENT(request, TP_PROTO(PROTO), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));
#endif
