/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPU hotplug: CPUs going offline and coming online. This is the kernel's own event, with the
 * fields and the print format of v6.18. Taking one CPU down or up fires some hundred of these
 * events.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cpuhp
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE cpuhp

#if !defined(_SCHEDTAP_EVENTS_CPUHP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_CPUHP_H

#include <linux/tracepoint.h>

/*
 * cpuhp_exit: a hotplug callback, one step of taking `cpu` down or up, returned. The CPU that ran
 * the callback records the event, and that may be another CPU: the last steps of taking `cpu` down
 * run when `cpu` is already dead.
 *
 * Source: cpuhp:cpuhp_exit, cpuhp_invoke_callback() in kernel/cpu.c.
 */
TRACE_EVENT(cpuhp_exit,
	TP_PROTO(unsigned int cpu, int state, int idx, int ret),
	TP_ARGS(cpu, state, idx, ret),

	TP_STRUCT__entry(
		__field(unsigned int, cpu)
		__field(int, state)		/* enum cpuhp_state of the CPU; 0: offline */
		__field(int, idx)		/* number of the step; differs between kernels */
		__field(int, ret)
	),

	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->state = state;
		__entry->idx = idx;
		__entry->ret = ret;
	),

	TP_printk(" cpu: %04u  state: %3d step: %3d ret: %d", __entry->cpu, __entry->state,
		  __entry->idx, __entry->ret)
);
TRACE_HOOK(cpuhp_exit, cpuhp_exit, TP_PROTO(unsigned int cpu, int state, int idx, int ret),
	TP_ARGS(cpu, state, idx, ret));

#endif
#include <trace/define_trace.h>
