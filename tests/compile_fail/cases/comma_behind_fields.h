/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a comma follows the last field */
// want: TP_STRUCT__entry\(\): there is a comma behind a field
// errors: 2
#ifdef EVENTS
#define OWN_REQUEST
#ifdef WRONG
TRACE_EVENT(request, TP_PROTO(int id), TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id) __field(int, more),), TP_fast_assign(__entry->id = __entry->more = id;), TP_printk("id=%d", __entry->id));
#else
TRACE_EVENT(request, TP_PROTO(int id), TP_ARGS(id),
	TP_STRUCT__entry(__field(int, id) __field(int, more)), TP_fast_assign(__entry->id = __entry->more = id;), TP_printk("id=%d", __entry->id));
#endif
#endif
