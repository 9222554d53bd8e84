/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a field that is not there */
// want: request
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART TP_printk("%d", __entry->nosuch)
#else
#define PART TP_printk("%d", __entry->id)
#endif
TRACE_EVENT(request,
	TP_PROTO(int id, int *list),
	TP_ARGS(id, list),
	TP_STRUCT__entry(
		__field(int, id)
	),
	TP_fast_assign(
		__entry->id = id;
	),
	PART
);
#endif
