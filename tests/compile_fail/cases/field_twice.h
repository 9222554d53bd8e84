/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* two fields of one name */
// want: duplicate member|redeclaration
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART __field(int, id)
#else
#define PART __field(int, id2)
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
