/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Energy-aware placement.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_energy
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE energy

#if !defined(_SCHEDTAP_EVENTS_ENERGY_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_ENERGY_H

#include <linux/tracepoint.h>

/*
 * sched_compute_energy: the estimated energy of a performance domain if a task were placed on one
 * of its CPUs.
 *
 *   energy	of the domain over the considered period, in the energy model's own unit (power in
 * 		microwatts x busy_time / capacity): comparable only within one placement decision
 *   max_util	0..1024, util of the domain's busiest CPU with the task placed; decides the
 * 		frequency
 *   busy_time	sum of util over the domain's CPUs with the task placed
 *
 * Source: sched_compute_energy_tp (v6.11), compute_energy() in kernel/sched/fair.c.
 */
TRACE_EVENT(sched_compute_energy,
	TP_PROTO(struct task_struct *p, int dst_cpu, unsigned long energy, unsigned long max_util,
		 unsigned long busy_time),
	TP_ARGS(p, dst_cpu, energy, max_util, busy_time),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(s32, pid)
		__field(s32, dst_cpu)		/* -1: the domain as it is, without the task */
		__field(u64, energy)
		__field(u64, max_util)
		__field(u64, busy_time)
	),

	TP_fast_assign(
		tp_comm(__entry->comm, p);
		__entry->pid = p->pid;
		__entry->dst_cpu = dst_cpu;
		__entry->energy = energy;
		__entry->max_util = max_util;
		__entry->busy_time = busy_time;
	),

	TP_printk("comm=%s pid=%d dst_cpu=%d energy=%llu max_util=%llu busy_time=%llu",
		  __entry->comm, __entry->pid, __entry->dst_cpu, __entry->energy,
		  __entry->max_util, __entry->busy_time)
);
TRACE_HOOK(sched_compute_energy, sched_compute_energy_tp,
	TP_PROTO(struct task_struct *p, int dst_cpu, unsigned long energy, unsigned long max_util,
		 unsigned long busy_time),
	TP_ARGS(p, dst_cpu, energy, max_util, busy_time));

#endif
#include <trace/define_trace.h>
