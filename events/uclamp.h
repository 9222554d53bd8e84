/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Utilisation clamps: limits, set by users or cgroups, that bound a task's utilisation as task
 * placement and schedutil see it. All values are 0..1024.
 *
 *   util_avg		utilisation before clamping
 *   uclamp_min, _max	the run queue's clamps: the largest among its runnable tasks' clamps
 *   uclamp_avg		util_avg clamped to uclamp_min.._max
 *   task_uclamp_min, _max	the task's own effective clamps, after cgroup and system limits
 *
 * Source: struct uclamp_rq, struct uclamp_se (CONFIG_UCLAMP_TASK); kernel/sched/sched.h.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_uclamp
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE uclamp

#if !defined(_SCHEDTAP_EVENTS_UCLAMP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_UCLAMP_H

#include <linux/tracepoint.h>

/* uclamp_util_se: the clamps of a task, recorded whenever its PELT signals change (pelt_se_tp). */
TRACE_EVENT_CONDITION(uclamp_util_se,
	TP_PROTO(struct sched_entity *se),
	TP_ARGS(se),
	TP_CONDITION(tp_se_is_task(se)),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(s32, pid)		/* thread id */
		__array(char, comm, 16)
		__field(u32, util_avg)
		__field(u32, uclamp_avg)
		__field(u32, uclamp_min)
		__field(u32, uclamp_max)
		__field(u32, task_uclamp_min)
		__field(u32, task_uclamp_max)
	),

	TP_fast_assign(
		__entry->cpu = tp_se_cpu(se);
		__entry->pid = tp_se_pid(se);
		tp_se_comm(__entry->comm, se);
		__entry->util_avg = se->avg.util_avg;
		__entry->uclamp_min = tp_rq_uclamp(tp_se_rq(se), TP_UCLAMP_MIN);
		__entry->uclamp_max = tp_rq_uclamp(tp_se_rq(se), TP_UCLAMP_MAX);
		__entry->uclamp_avg = tp_clamp(__entry->util_avg, __entry->uclamp_min,
					       __entry->uclamp_max);
		__entry->task_uclamp_min = tp_se_uclamp(se, TP_UCLAMP_MIN);
		__entry->task_uclamp_max = tp_se_uclamp(se, TP_UCLAMP_MAX);
	),

	TP_printk("cpu=%d comm=%s pid=%d util_avg=%u uclamp_avg=%u uclamp_min=%u uclamp_max=%u task_uclamp_min=%u task_uclamp_max=%u",
		  __entry->cpu, __entry->comm, __entry->pid, __entry->util_avg,
		  __entry->uclamp_avg, __entry->uclamp_min, __entry->uclamp_max,
		  __entry->task_uclamp_min, __entry->task_uclamp_max)
);
TRACE_HOOK(uclamp_util_se, pelt_se_tp, TP_PROTO(struct sched_entity *se), TP_ARGS(se));
TRACE_NEEDS(uclamp_util_se, , "rq.uclamp");
TRACE_NEEDS(uclamp_util_se, , "task_struct.uclamp");

/*
 * uclamp_util_cfs: the clamps of a CPU, recorded whenever the PELT signals of its root CFS queue
 * change (pelt_cfs_tp).
 */
TRACE_EVENT_CONDITION(uclamp_util_cfs,
	TP_PROTO(struct cfs_rq *cfs_rq),
	TP_ARGS(cfs_rq),
	TP_CONDITION(tp_cfs_rq_is_root(cfs_rq)),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(u32, util_avg)
		__field(u32, uclamp_avg)
		__field(u32, uclamp_min)
		__field(u32, uclamp_max)
	),

	TP_fast_assign(
		__entry->cpu = tp_cfs_rq_cpu(cfs_rq);
		__entry->util_avg = cfs_rq->avg.util_avg;
		__entry->uclamp_min = tp_rq_uclamp(tp_cfs_rq_rq(cfs_rq), TP_UCLAMP_MIN);
		__entry->uclamp_max = tp_rq_uclamp(tp_cfs_rq_rq(cfs_rq), TP_UCLAMP_MAX);
		__entry->uclamp_avg = tp_clamp(__entry->util_avg, __entry->uclamp_min,
					       __entry->uclamp_max);
	),

	TP_printk("cpu=%d util_avg=%u uclamp_avg=%u uclamp_min=%u uclamp_max=%u", __entry->cpu,
		  __entry->util_avg, __entry->uclamp_avg, __entry->uclamp_min,
		  __entry->uclamp_max)
);
TRACE_HOOK(uclamp_util_cfs, pelt_cfs_tp, TP_PROTO(struct cfs_rq *cfs_rq), TP_ARGS(cfs_rq));
TRACE_NEEDS(uclamp_util_cfs, , "rq.uclamp");
TRACE_NEEDS(uclamp_util_cfs, , "cfs_rq.rq");

#endif
#include <trace/define_trace.h>
