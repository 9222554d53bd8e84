/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Idle states.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM power
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE idle

#if !defined(_SCHEDTAP_EVENTS_IDLE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_IDLE_H

#include <linux/tracepoint.h>

/*
 * cpu_idle: a CPU enters idle state `state`, or leaves it (state = 4294967295).
 *
 * Source: power:cpu_idle.
 */
TRACE_EVENT(cpu_idle,
	TP_PROTO(unsigned int state, unsigned int cpu_id),
	TP_ARGS(state, cpu_id),

	TP_STRUCT__entry(
		__field(u32, state)
		__field(u32, cpu_id)
	),

	TP_fast_assign(
		__entry->state = state;
		__entry->cpu_id = cpu_id;
	),

	TP_printk("state=%lu cpu_id=%lu", (unsigned long)__entry->state,
		  (unsigned long)__entry->cpu_id)
);
TRACE_HOOK(cpu_idle, cpu_idle, TP_PROTO(unsigned int state, unsigned int cpu_id),
	TP_ARGS(state, cpu_id));

#endif
#include <trace/define_trace.h>
