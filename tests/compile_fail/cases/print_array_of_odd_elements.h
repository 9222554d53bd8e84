/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* elements of a size that there is not */
// want: __print_array.*1, 2, 4 or 8
#ifdef EVENTS
#define OWN_REQUEST
#undef PART
#ifdef WRONG
#define PART TP_printk("%s", __print_array(&__entry->id, 1, 3))
#else
#define PART TP_printk("%s", __print_array(&__entry->id, 1, 4))
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
