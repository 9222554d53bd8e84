/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of the event that immediately precedes this record on the same CPU, with the same time
 * stamp (`schedtap record --stack`). No tracepoint fires these events: the BPF program that records
 * an event also records its stacks.
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
 * stack: number of the stack, from 1; 0: it could not be read or stored. The frames of each
 * distinct stack are stored once per recording, in this event's print format: innermost first,
 * formatted like ftrace's kernel_stack and user_stack.
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

/* kernel_stack: the kernel frames. */
DEFINE_EVENT(stack, kernel_stack, TP_PROTO(u32 stack), TP_ARGS(stack));
/* user_stack: the user-space frames. */
DEFINE_EVENT(stack, user_stack, TP_PROTO(u32 stack), TP_ARGS(stack));

#endif
#include <trace/define_trace.h>
