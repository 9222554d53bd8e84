/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an argument whose type is not there */
// want: nosuch_t
// errors: 17
#ifdef EVENTS
#define OWN_REQUEST
#ifdef WRONG
TRACE_EVENT(request, TP_PROTO(nosuch_t *from, int id), TP_ARGS(from, id),
	TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id));
#else
TRACE_EVENT(request, TP_PROTO(void *from, int id), TP_ARGS(from, id),
	TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;), TP_printk("id=%d", __entry->id));
#endif
#endif
