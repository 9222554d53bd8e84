/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An event of which the case says one part: PART_ARGS, PART_FIELD, PART_ASSIGN or PART_PRINT. */
#define OWN_REQUEST
#ifndef PART_ARGS
#define PART_ARGS id, list
#endif
#ifndef PART_FIELD
#define PART_FIELD
#endif
#ifndef PART_ASSIGN
#define PART_ASSIGN
#endif
#ifndef PART_PRINT
#define PART_PRINT TP_printk("id=%d", __entry->id)
#endif

TRACE_EVENT(request,
	TP_PROTO(int id, int *list),
	TP_ARGS(PART_ARGS),
	TP_STRUCT__entry(
		__field(int, id) PART_FIELD
	),
	TP_fast_assign(
		__entry->id = id; PART_ASSIGN
	),
	PART_PRINT
);
