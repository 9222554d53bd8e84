/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* more than a record may have */
// want: event request: its fields are longer than a record may be
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART __array(char, big, 4100)
#else
#define PART __array(char, big, 4000)
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
