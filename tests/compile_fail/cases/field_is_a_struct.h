/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* __field() of a struct: it has no sign */
// want: request
#ifdef EVENTS
#define OWN_REQUEST
#ifndef ONCE
#define ONCE
struct pair {
	int a, b;
};
#endif
#undef PART
#ifdef WRONG
#define PART __field(struct pair, pair)
#else
#define PART __field_struct(struct pair, pair)
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
