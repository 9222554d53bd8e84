/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the task was whose event is right before it on the same CPU, with the same time (`schedtap record --stack`). Not
 * fed by tracepoints: what records an event also records these.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE stack

#if !defined(_SCHEDTAP_EVENTS_STACK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_STACK_H

#include <linux/tracepoint.h>

/*
 * stack: its number in this recording, where each is once, in the print format: 1, 2, ...; 0: it could not be read or
 * kept. Frames are as ftrace prints those of its kernel_stack and user_stack, the innermost first.
 */
DECLARE_EVENT_CLASS(stack,
	TP_PROTO(u32 stack),
	TP_ARGS(stack),

	TP_STRUCT__entry(
		__field(u32, stack)
	),

	TP_fast_assign(
		__entry->stack = stack;
	),

	TP_printk("%s", tp_stack(__entry->stack))
);

/* kernel_stack: in the kernel. */
DEFINE_EVENT(stack, kernel_stack, TP_PROTO(u32 stack), TP_ARGS(stack));
/* user_stack: in the program. */
DEFINE_EVENT(stack, user_stack, TP_PROTO(u32 stack), TP_ARGS(stack));

#endif
#include <trace/define_trace.h>
