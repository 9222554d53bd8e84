/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an event has a comma too many */
// want: TRACE_EVENT\(request, \.\.\.\) has 7 parts, not 6: a comma is missing, or there is one too many
#ifdef EVENTS
#define OWN_REQUEST
#ifdef WRONG
TRACE_EVENT(request, TP_PROTO(int id), TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id),);
#else
TRACE_EVENT(request, TP_PROTO(int id), TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id));
#endif
#endif
