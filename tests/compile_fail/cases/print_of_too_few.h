/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fewer arguments than conversions */
// want: request|more .%. conversions than data arguments
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART TP_printk("id=%d %d", __entry->id)
#else
#define PART TP_printk("id=%d %d", __entry->id, 1)
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
