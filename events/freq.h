/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU frequency.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM power
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE freq

#if !defined(_SCHEDTAP_EVENTS_FREQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_FREQ_H

#include <linux/tracepoint.h>

/*
 * cpu_frequency: a CPU was asked to run at `state` kHz.
 *
 * Source: power:cpu_frequency.
 */
TRACE_EVENT(cpu_frequency,
	TP_PROTO(unsigned int frequency, unsigned int cpu_id),
	TP_ARGS(frequency, cpu_id),

	TP_STRUCT__entry(
		__field(u32, state)
		__field(u32, cpu_id)
	),

	TP_fast_assign(
		__entry->state = frequency;
		__entry->cpu_id = cpu_id;
	),

	TP_printk("state=%lu cpu_id=%lu", (unsigned long)__entry->state,
		  (unsigned long)__entry->cpu_id)
);
TRACE_HOOK(cpu_frequency, cpu_frequency,
	TP_PROTO(unsigned int frequency, unsigned int cpu_id), TP_ARGS(frequency, cpu_id));

#endif
#include <trace/define_trace.h>
