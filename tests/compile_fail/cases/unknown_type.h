/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a type that is not there */
// want: request
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART __field(nosuch_t, more)
#else
#define PART __field(int, more)
#endif
TRACE_EVENT(request,
	TP_PROTO(int id, int *list),
	TP_ARGS(id, list),
	TP_STRUCT__entry(
		__field(int, id) PART
	),
	TP_fast_assign(
		__entry->id = id;
	),
	TP_printk("id=%d", __entry->id)
);
#endif
