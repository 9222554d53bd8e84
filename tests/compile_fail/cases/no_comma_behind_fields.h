/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a comma is missing after the fields */
// want: TRACE_EVENT\(request, \.\.\.\) has 5 parts, not 6: a comma is missing
#ifdef EVENTS
#define OWN_REQUEST
#ifdef WRONG
TRACE_EVENT(request, TP_PROTO(int id), TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id)) TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id));
#else
TRACE_EVENT(request, TP_PROTO(int id), TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id));
#endif
#endif
