/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TP_ARGS() that TP_PROTO() does not have */
// want: nosuch
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART id, nosuch
#else
#define PART id, list
#endif
TRACE_EVENT(request,
	TP_PROTO(int id, int *list),
	TP_ARGS(PART),
	TP_STRUCT__entry(
		__field(int, id)
	),
	TP_fast_assign(
		__entry->id = id;
	),
	TP_printk("id=%d", __entry->id)
);
#endif
