/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Estimated utilisation (util_est): a task's utilisation when it last ran, kept while it sleeps, so
 * that a big task counts as big again as soon as it wakes.
 *
 *   enqueued	a task's estimate, 0..1024; of a run queue: the sum over its runnable tasks
 *   ewma	0..1024, moving average; a field of its own until v6.7, v6.8 merged both into one
 * 		value
 *   util	util_avg at the same moment, 0..1024 for a task
 *
 * The kernel stores a flag in the top bit of enqueued (UTIL_AVG_UNCHANGED), which is masked out
 * here.
 *
 * Source: struct sched_avg, util_est; kernel/sched/fair.c.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_util_est
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE util_est

#if !defined(_SCHEDTAP_EVENTS_UTIL_EST_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_UTIL_EST_H

#include <linux/tracepoint.h>

/*
 * sched_util_est_cfs: a task was added to or removed from a CPU's estimate.
 *
 * Source: sched_util_est_cfs_tp (v5.9), util_est_enqueue() and util_est_dequeue(); only for root
 * run queues.
 */
TRACE_EVENT(sched_util_est_cfs,
	TP_PROTO(struct cfs_rq *cfs_rq),
	TP_ARGS(cfs_rq),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(u32, enqueued)
		__field(u64, cgroup)		/* kernfs id; printed as path */
		tp_if(util_est_ewma, __field(u32, ewma))
		__field(u32, util)
	),

	TP_fast_assign(
		__entry->cpu = tp_cfs_rq_cpu(cfs_rq);
		__entry->cgroup = tp_cfs_rq_cgroup(cfs_rq);
		__entry->enqueued = tp_util_est_enqueued(&cfs_rq->avg);
		tp_if(util_est_ewma, __entry->ewma = tp_util_est_ewma(&cfs_rq->avg);)
		__entry->util = cfs_rq->avg.util_avg;
	),

	TP_printk("cpu=%d path=%s cgroup=%llu enqueued=%u" tp_if(util_est_ewma, " ewma=%u") " util=%u", __entry->cpu,
		  tp_cgroup_path(__entry->cgroup), __entry->cgroup, __entry->enqueued,
		  tp_if(util_est_ewma, __entry->ewma,) __entry->util)
);
TRACE_HOOK(sched_util_est_cfs, sched_util_est_cfs_tp, TP_PROTO(struct cfs_rq *cfs_rq),
	TP_ARGS(cfs_rq));
TRACE_NEEDS(sched_util_est_cfs, cpu, "cfs_rq.rq");
TRACE_NEEDS(sched_util_est_cfs, cgroup, "cfs_rq.tg");
TRACE_NEEDS(sched_util_est_cfs, ewma, "util_est.ewma");

/*
 * sched_util_est_se: a task went to sleep and its estimate was updated.
 *
 * Source: sched_util_est_se_tp (v5.9), util_est_update().
 */
TRACE_EVENT(sched_util_est_se,
	TP_PROTO(struct sched_entity *se),
	TP_ARGS(se),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(s32, pid)		/* thread id */
		__array(char, comm, 16)
		__field(u64, cgroup)		/* the task's cgroup: kernfs id; printed as path */
		__field(u32, enqueued)
		tp_if(util_est_ewma, __field(u32, ewma))
		__field(u32, util)
	),

	TP_fast_assign(
		__entry->cpu = tp_se_cpu(se);
		__entry->pid = tp_se_pid(se);
		tp_se_comm(__entry->comm, se);
		__entry->cgroup = tp_se_cgroup(se);
		__entry->enqueued = tp_util_est_enqueued(&se->avg);
		tp_if(util_est_ewma, __entry->ewma = tp_util_est_ewma(&se->avg);)
		__entry->util = se->avg.util_avg;
	),

	TP_printk("cpu=%d path=%s cgroup=%llu comm=%s pid=%d enqueued=%u" tp_if(util_est_ewma, " ewma=%u") " util=%u",
		  __entry->cpu, tp_cgroup_path(__entry->cgroup), __entry->cgroup, __entry->comm,
		  __entry->pid, __entry->enqueued,
		  tp_if(util_est_ewma, __entry->ewma,) __entry->util)
);
TRACE_HOOK(sched_util_est_se, sched_util_est_se_tp, TP_PROTO(struct sched_entity *se),
	TP_ARGS(se));
TRACE_NEEDS(sched_util_est_se, cpu, "cfs_rq.rq");
TRACE_NEEDS(sched_util_est_se, cgroup, "cfs_rq.tg");
TRACE_NEEDS(sched_util_est_se, ewma, "util_est.ewma");

#endif
#include <trace/define_trace.h>
