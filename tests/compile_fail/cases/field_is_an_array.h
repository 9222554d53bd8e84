/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* __field() of an array: its length would be lost */
// want: is_no_array_
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART __field(int, list[5])
#else
#define PART __array(int, list, 5)
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
