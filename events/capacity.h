/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The capacity of CPUs on the scale of util: 1024 is the biggest CPU at its highest frequency. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_capacity
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE capacity

#if !defined(_SCHEDTAP_EVENTS_CAPACITY_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_CAPACITY_H

#include <linux/tracepoint.h>

/*
 * sched_cpu_capacity: the load balancer updated the capacity that a CPU has left for CFS tasks.
 *
 *   capacity		1..1024, after deducting real-time and deadline tasks, interrupts and
 * 			thermal pressure
 *   capacity_orig	1..1024, capacity of the CPU's type: rq->cpu_capacity_orig until v6.6, then
 * 			arch_scale_cpu_capacity(), which is also in
 * 			/sys/devices/system/cpu/cpuN/cpu_capacity on architectures that have that
 * 			file
 *   capacity_curr	capacity_orig at the current frequency: x arch_scale_freq_capacity() / 1024
 *
 * Source: sched_cpu_capacity_tp (v5.9), update_cpu_capacity() in kernel/sched/fair.c.
 */
TRACE_EVENT(sched_cpu_capacity,
	TP_PROTO(struct rq *rq),
	TP_ARGS(rq),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(u32, capacity)
		__field(u32, capacity_orig)
		tp_if(arch_freq_scale, __field(u32, capacity_curr))
	),

	TP_fast_assign(
		__entry->cpu = rq->cpu;
		__entry->capacity = rq->cpu_capacity;
		__entry->capacity_orig = tp_rq_capacity_orig(rq);
		tp_if(arch_freq_scale, __entry->capacity_curr = tp_rq_capacity_curr(rq);)
	),

	TP_printk("cpu=%d capacity=%u capacity_orig=%u" tp_if(arch_freq_scale, " capacity_curr=%u"),
		  __entry->cpu, __entry->capacity, __entry->capacity_orig
		  tp_if(arch_freq_scale, , __entry->capacity_curr))
);
TRACE_HOOK(sched_cpu_capacity, sched_cpu_capacity_tp, TP_PROTO(struct rq *rq), TP_ARGS(rq));
TRACE_NEEDS(sched_cpu_capacity, capacity_orig, "rq.cpu_capacity_orig|sys.cpu_capacity");
TRACE_NEEDS(sched_cpu_capacity, capacity_curr, "per_cpu.arch_freq_scale");

/*
 * sched_overutilized: a root domain became too busy for energy-aware placement because one of its
 * CPUs is overutilized (1), or is no longer too busy because none is (0).
 *
 * Source: sched_overutilized_tp (v5.3), set_rd_overutilized() in kernel/sched/fair.c.
 */
TRACE_EVENT(sched_overutilized,
	TP_PROTO(struct root_domain *rd, bool overutilized),
	TP_ARGS(rd, overutilized),

	TP_STRUCT__entry(
		__field(s32, overutilized)	/* 0 or 1 */
		__bitmask(span, tp_nr_cpu_ids())	/* the domain's CPUs */
	),

	TP_fast_assign(
		__entry->overutilized = overutilized;
		__assign_bitmask(span, tp_rd_span(rd), tp_nr_cpu_ids());
	),

	TP_printk("overutilized=%d span=0x%s", __entry->overutilized, __get_bitmask(span))
);
TRACE_HOOK(sched_overutilized, sched_overutilized_tp,
	TP_PROTO(struct root_domain *rd, bool overutilized), TP_ARGS(rd, overutilized));

#endif
#include <trace/define_trace.h>
