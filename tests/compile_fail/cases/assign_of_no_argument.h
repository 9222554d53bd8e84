/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an argument that the event does not have */
// want: nosuch
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART __entry->id = nosuch;
#else
#define PART __entry->id = *list;
#endif
TRACE_EVENT(request,
	TP_PROTO(int id, int *list),
	TP_ARGS(id, list),
	TP_STRUCT__entry(
		__field(int, id)
	),
	TP_fast_assign(
		__entry->id = id; PART
	),
	TP_printk("id=%d", __entry->id)
);
#endif
