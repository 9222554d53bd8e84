/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Run-queue length.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_nr_running
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE nr_running

#if !defined(_SCHEDTAP_EVENTS_NR_RUNNING_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_NR_RUNNING_H

#include <linux/tracepoint.h>

/*
 * sched_update_nr_running: tasks were added to or removed from a CPU's run queue.
 *
 *   nr_running	tasks of all classes on the CPU's run queue after the change, the running one
 * 		included
 *   h_nr_queued	fair tasks among them; recorded since v6.14
 *   h_nr_runnable	h_nr_queued without tasks that went to sleep and are dequeued later (delayed
 * 			dequeue, v6.12); recorded since v6.14
 *   change	tasks added (> 0) or removed (< 0)
 *
 * Source: sched_update_nr_running_tp (v5.9), add_nr_running() and sub_nr_running() in
 * kernel/sched/sched.h.
 */
TRACE_EVENT(sched_update_nr_running,
	TP_PROTO(struct rq *rq, int change),
	TP_ARGS(rq, change),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(s32, change)
		__field(u32, nr_running)
		tp_if(cfs_rq_h_nr_queued, __field(u32, h_nr_queued))
		tp_if(cfs_rq_h_nr_runnable, __field(u32, h_nr_runnable))
	),

	TP_fast_assign(
		__entry->cpu = rq->cpu;
		__entry->change = change;
		__entry->nr_running = rq->nr_running;
		tp_if(cfs_rq_h_nr_queued, __entry->h_nr_queued = tp_rq_h_nr_queued(rq);)
		tp_if(cfs_rq_h_nr_runnable, __entry->h_nr_runnable = tp_rq_h_nr_runnable(rq);)
	),

	TP_printk("cpu=%d change=%d nr_running=%u" tp_if(cfs_rq_h_nr_queued, " h_nr_queued=%u")
		  tp_if(cfs_rq_h_nr_runnable, " h_nr_runnable=%u"), __entry->cpu, __entry->change,
		  __entry->nr_running tp_if(cfs_rq_h_nr_queued, , __entry->h_nr_queued)
		  tp_if(cfs_rq_h_nr_runnable, , __entry->h_nr_runnable))
);
TRACE_HOOK(sched_update_nr_running, sched_update_nr_running_tp,
	TP_PROTO(struct rq *rq, int change), TP_ARGS(rq, change));
TRACE_NEEDS(sched_update_nr_running, h_nr_queued, "cfs_rq.h_nr_queued");
TRACE_NEEDS(sched_update_nr_running, h_nr_runnable, "cfs_rq.h_nr_runnable");

#endif
#include <trace/define_trace.h>
