/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Per-entity load tracking: recent use of the CPU, as geometric averages with a half-life of 32 ms.
 *
 *   util		0..1024; 1024 is the biggest CPU, busy all the time at its highest frequency
 *   runnable	like util, but includes time spent waiting: exceeds 1024 when tasks queue
 *   load	weighted by priority or shares, not bounded by 1024
 *   update_time	ns on the run queue's PELT clock, which stops while the CPU is idle and
 * 			slows down with the CPU's capacity and frequency; not comparable with the
 * 			trace clock
 *
 * Source: struct sched_avg; kernel/sched/pelt.c.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_pelt
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pelt

#if !defined(_SCHEDTAP_EVENTS_PELT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_PELT_H

#include <linux/tracepoint.h>

/*
 * sched_pelt_cfs: the signals of a CFS run queue changed, either a CPU's root queue or a cgroup's
 * queue on that CPU.
 *
 * Source: pelt_cfs_tp (v5.3), fired by update_cfs_rq_load_avg() and when a cgroup's load is
 * propagated to its parent.
 */
TRACE_EVENT(sched_pelt_cfs,
	TP_PROTO(struct cfs_rq *cfs_rq),
	TP_ARGS(cfs_rq),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(u32, runnable)
		__field(u64, cgroup)		/* kernfs id; printed as path */
		__field(u64, load)
		__field(u64, update_time)
		__field(u32, util)
	),

	TP_fast_assign(
		__entry->cpu = tp_cfs_rq_cpu(cfs_rq);
		__entry->cgroup = tp_cfs_rq_cgroup(cfs_rq);
		__entry->load = cfs_rq->avg.load_avg;
		__entry->runnable = cfs_rq->avg.runnable_avg;
		__entry->util = cfs_rq->avg.util_avg;
		__entry->update_time = cfs_rq->avg.last_update_time;
	),

	TP_printk("cpu=%d path=%s cgroup=%llu load=%llu runnable=%u util=%u update_time=%llu",
		  __entry->cpu, tp_cgroup_path(__entry->cgroup), __entry->cgroup, __entry->load,
		  __entry->runnable, __entry->util, __entry->update_time)
);
TRACE_HOOK(sched_pelt_cfs, pelt_cfs_tp, TP_PROTO(struct cfs_rq *cfs_rq), TP_ARGS(cfs_rq));
TRACE_NEEDS(sched_pelt_cfs, cpu, "cfs_rq.rq");
TRACE_NEEDS(sched_pelt_cfs, cgroup, "cfs_rq.tg");

/*
 * The classes other than CFS have one set of signals per CPU. Their load is not weighted: load,
 * runnable and util are 0..1024. These are four events rather than one class, because each must
 * take the run queue as its tracepoint passes it, so that its probe can be attached to the
 * tracepoint directly.
 */
#undef PELT_RQ_EVENT
#define PELT_RQ_EVENT(event, sched_avg)							\
TRACE_EVENT(event,									\
	TP_PROTO(struct rq *rq),							\
	TP_ARGS(rq),									\
											\
	TP_STRUCT__entry(								\
		__field(s32, cpu)							\
		__field(u32, load)							\
		__field(u32, runnable)							\
		__field(u32, util)							\
		__field(u64, update_time)						\
	),										\
											\
	TP_fast_assign(									\
		__entry->cpu = rq->cpu;							\
		__entry->load = (sched_avg)->load_avg;					\
		__entry->runnable = (sched_avg)->runnable_avg;				\
		__entry->util = (sched_avg)->util_avg;					\
		__entry->update_time = (sched_avg)->last_update_time;			\
	),										\
											\
	TP_printk("cpu=%d load=%u runnable=%u util=%u update_time=%llu", __entry->cpu,	\
		  __entry->load, __entry->runnable, __entry->util, __entry->update_time) \
)

/* sched_pelt_rt: real-time tasks. Source: pelt_rt_tp (v5.3), update_rt_rq_load_avg(). */
PELT_RQ_EVENT(sched_pelt_rt, &rq->avg_rt);
TRACE_HOOK(sched_pelt_rt, pelt_rt_tp, TP_PROTO(struct rq *rq), TP_ARGS(rq));

/* sched_pelt_dl: deadline tasks. Source: pelt_dl_tp (v5.3), update_dl_rq_load_avg(). */
PELT_RQ_EVENT(sched_pelt_dl, &rq->avg_dl);
TRACE_HOOK(sched_pelt_dl, pelt_dl_tp, TP_PROTO(struct rq *rq), TP_ARGS(rq));

/*
 * sched_pelt_irq: time of interrupts and stolen time. Source: pelt_irq_tp (v5.3),
 * update_irq_load_avg(); needs CONFIG_HAVE_SCHED_AVG_IRQ.
 */
PELT_RQ_EVENT(sched_pelt_irq, tp_rq_avg_irq(rq));
TRACE_HOOK(sched_pelt_irq, pelt_irq_tp, TP_PROTO(struct rq *rq), TP_ARGS(rq));
TRACE_NEEDS(sched_pelt_irq, , "rq.avg_irq");

/*
 * sched_pelt_hw: capacity that the hardware takes away (thermal pressure and others), as load.
 *
 * Source: pelt_hw_tp (v6.10), pelt_thermal_tp (v5.7) before that.
 */
PELT_RQ_EVENT(sched_pelt_hw, tp_rq_avg_hw(rq));
TRACE_HOOK(sched_pelt_hw, pelt_hw_tp, TP_PROTO(struct rq *rq), TP_ARGS(rq));
TRACE_HOOK(sched_pelt_hw, pelt_thermal_tp, TP_PROTO(struct rq *rq), TP_ARGS(rq));
TRACE_NEEDS(sched_pelt_hw, , "rq.avg_hw|rq.avg_thermal");

/*
 * sched_pelt_se: the signals of a sched_entity changed, either a task or a cgroup in its parent's
 * queue.
 *
 * Source: pelt_se_tp (v5.3), fired by update_load_avg() and when an entity is attached, detached or
 * goes to sleep.
 */
TRACE_EVENT(sched_pelt_se,
	TP_PROTO(struct sched_entity *se),
	TP_ARGS(se),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(s32, pid)		/* thread id; -1: the entity is a cgroup */
		__array(char, comm, 16)		/* "" for a cgroup */
		__field(u64, cgroup)		/* of the task, or the cgroup that is the entity */
		__field(u64, update_time)
		__field(u32, load)		/* 0..262144: MAX_SHARES bounds the weight */
		__field(u32, runnable)
		__field(u32, util)
	),

	TP_fast_assign(
		__entry->cpu = tp_se_cpu(se);
		__entry->pid = tp_se_pid(se);
		tp_se_comm(__entry->comm, se);
		__entry->cgroup = tp_se_cgroup(se);
		__entry->load = se->avg.load_avg;
		__entry->runnable = se->avg.runnable_avg;
		__entry->util = se->avg.util_avg;
		__entry->update_time = se->avg.last_update_time;
	),

	TP_printk("cpu=%d path=%s cgroup=%llu comm=%s pid=%d load=%u runnable=%u util=%u update_time=%llu",
		  __entry->cpu, tp_cgroup_path(__entry->cgroup), __entry->cgroup, __entry->comm,
		  __entry->pid, __entry->load, __entry->runnable, __entry->util,
		  __entry->update_time)
);
TRACE_HOOK(sched_pelt_se, pelt_se_tp, TP_PROTO(struct sched_entity *se), TP_ARGS(se));
TRACE_NEEDS(sched_pelt_se, cpu, "cfs_rq.rq");
TRACE_NEEDS(sched_pelt_se, cgroup, "cfs_rq.tg");

#endif
#include <trace/define_trace.h>
