/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an alignment that records do not have */
// want: event request: a field.{1,3}s type has an alignment above 8
#ifdef EVENTS
#define OWN_REQUEST
#ifndef ONCE
#define ONCE
struct wide {
	int x;
} __attribute__((aligned(8)));
struct wider {
	int x;
} __attribute__((aligned(16)));
#endif
#undef PART
#ifdef WRONG
#define PART __field_struct(struct wider, wide)
#else
#define PART __field_struct(struct wide, wide)
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
