/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The task that the fair class picked, and the EEVDF numbers by which it did. The kernel has EEVDF
 * since v6.6.
 *
 * A queue has a virtual time V, the average of its entities' virtual times v, weighted by their
 * weight. An entity is eligible if V - v >= 0. Of the eligible entities the one with the earliest
 * deadline is picked. V - v is the entity's lag; lag * weight / 1048576 is the CPU time in ns that
 * it is owed (on a 32-bit machine: / 1024). The lag is calculated here, because the kernel's
 * se->vlag is the lag at the time when the entity left the queue, and shares its memory with vprot
 * from v6.17 to v6.19.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_pick
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE pick

#if !defined(_SCHEDTAP_EVENTS_PICK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_PICK_H

#include <linux/tracepoint.h>

/*
 * sched_pick: what EEVDF knew at a sched_switch; recorded just before it, while prev is current.
 *
 * next is the picked task: the one that runs from now on, or, with proxy execution, the donor on
 * whose behalf next_pid runs. If another class than the fair one picked it, vtime, group, next_lag,
 * next_deadline, next_vprot, next_slice and next_weight are 0. Virtual times are in ns; all but
 * vtime are relative to the v of their entity.
 *
 *   vtime		V of the queue that next was picked from. A waiting task keeps its v and its
 * 			deadline; with those from its own last pick (v = V - next_lag, ...) a reader
 * 			can compute its lag at later picks of other tasks
 *   group		that queue's group: id of a cgroup in the cpu controller, or -N for
 * 			autogroup N (sched(7)); tasks of different groups compete through their
 * 			groups' entities
 *   prev_lag		V - v of prev; 0 if prev_queued is 0, because it left the queue
 *   next_lag		V - v of next: >= 0, unless next is alone or was picked for another reason
 * 			(core scheduling)
 *   next_deadline	time by which next should have had its slice
 *   next_vprot		time until which no task with an earlier deadline preempts next
 *   next_slice		ns that next requests at a time
 *   next_weight	1048576 for nice 0 (1024 on a 32-bit machine); since v7.3 the task's share
 * 			of the CPU's queue
 *   next_llc		last-level cache that next's process prefers, -1: none
 *   h_nr_queued	fair tasks in next's queue and the groups' queues below it, next included
 *   h_nr_runnable	h_nr_queued without sleeping tasks whose dequeue is delayed
 *   donor		thread id of the picked task if next_pid runs on its behalf; else 0
 *   prev_queued	1: prev stays in the queue: it was preempted, yielded, or its dequeue is
 * 			delayed
 *   prev_delayed	1: prev sleeps, and stays in the queue until its lag is used up (delayed
 * 			dequeue)
 *   prev_throttled	1: prev's cgroup has used up its quota
 *   prev_blocked	1: prev waits for a mutex, and may be picked so that the owner can run in
 * 			its place
 *   prev_custom_slice	1: prev's slice was set by sched_setattr(2)
 *   levels		entities of the groups above next, beginning with the entity of `group`.
 * 			Each entity is in the queue of the group that follows it, the last one in
 * 			the CPU's root queue. Seven numbers per entity: group, weight, V of the
 * 			queue that it is in, V - v, deadline - v, vprot - v (0 before v6.17) and
 * 			slice, as defined above. At most 8 entities, the innermost ones; empty if
 * 			next is in the CPU's root queue, where all tasks are since v7.3
 *
 * A queue is that of a cgroup on this CPU; since v7.3 each CPU has a single queue.
 *
 * Source: sched_switch; __schedule() in kernel/sched/core.c, pick_eevdf() in kernel/sched/fair.c.
 */
TRACE_EVENT(sched_pick,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state),

	TP_STRUCT__entry(
		__field(s64, vtime)
		__field(s64, prev_lag)
		__field(s64, next_lag)
		tp_if(sched_entity_deadline, __field(s64, next_deadline))
		tp_if(sched_entity_vprot, __field(s64, next_vprot))
		tp_if(sched_entity_slice, __field(u32, next_slice))
		__field(u32, next_weight)
		__field(s32, group)
		tp_if(cfs_rq_h_nr_queued, __field(u32, h_nr_queued))
		tp_if(cfs_rq_h_nr_runnable, __field(u32, h_nr_runnable))
		__field(s32, next_pid)
		tp_if(rq_donor, __field(s32, donor))
		tp_if(task_struct_preferred_llc, __field(s16, next_llc))
		__field(bool, prev_queued)
		tp_if(sched_entity_sched_delayed, __field(bool, prev_delayed))
		tp_if(throttling, __field(bool, prev_throttled))
		tp_if(task_struct_is_blocked, __field(bool, prev_blocked))
		tp_if(sched_entity_custom_slice, __field(bool, prev_custom_slice))
		__dynamic_array(s64, levels, tp_pick_words(next))
	),

	TP_fast_assign(
		struct task_struct *picked = tp_picked(next);
		struct sched_entity *se = &picked->se;
		struct cfs_rq *queue = tp_se_queue(se);
		struct cfs_rq *prev_queue = tp_se_queue(&prev->se);
		u64 vtime = tp_cfs_rq_vtime(queue, se);
		u64 v = se->vruntime;
		bool fair = queue->curr == se;
		bool queued = prev->se.on_rq;

		__entry->vtime = fair ? vtime : 0;
		__entry->prev_lag = !queued ? 0 :
			(prev_queue == queue ? vtime : tp_cfs_rq_vtime(prev_queue, &prev->se)) - prev->se.vruntime;
		__entry->next_lag = fair ? vtime - v : 0;
		tp_if(sched_entity_deadline, __entry->next_deadline = fair ? se->deadline - v : 0;)
		tp_if(sched_entity_vprot, __entry->next_vprot = fair ? tp_se_vprot(se) - v : 0;)
		tp_if(sched_entity_slice, __entry->next_slice = fair ? se->slice : 0;)
		__entry->next_weight = fair ? tp_se_weight(se) : 0;
		__entry->group = fair ? tp_cfs_rq_group(queue) : 0;
		tp_if(cfs_rq_h_nr_queued, __entry->h_nr_queued = tp_cfs_rq_h_nr_queued(queue);)
		tp_if(cfs_rq_h_nr_runnable, __entry->h_nr_runnable = tp_cfs_rq_h_nr_runnable(queue);)
		__entry->next_pid = next->pid;
		tp_if(rq_donor, __entry->donor = picked == next ? 0 : picked->pid;)
		tp_if(task_struct_preferred_llc, __entry->next_llc = tp_task_llc(picked);)
		__entry->prev_queued = queued;
		tp_if(sched_entity_sched_delayed, __entry->prev_delayed = tp_se_delayed(&prev->se);)
		tp_if(throttling, __entry->prev_throttled = tp_task_throttled(prev);)
		tp_if(task_struct_is_blocked, __entry->prev_blocked = tp_task_blocked(prev);)
		tp_if(sched_entity_custom_slice, __entry->prev_custom_slice = tp_se_custom_slice(&prev->se);)
		tp_put_levels(__get_dynamic_array(levels), __get_dynamic_array_len(levels), se);
	),

	TP_printk("next_pid=%d" tp_if(rq_donor, " donor=%d") " next_lag=%lld"
		  tp_if(sched_entity_deadline, " next_deadline=%lld") tp_if(sched_entity_vprot, " next_vprot=%lld")
		  tp_if(sched_entity_slice, " next_slice=%u") " next_weight=%u vtime=%lld group=%d"
		  tp_if(task_struct_preferred_llc, " next_llc=%d") tp_if(cfs_rq_h_nr_queued, " h_nr_queued=%u")
		  tp_if(cfs_rq_h_nr_runnable, " h_nr_runnable=%u") " prev_queued=%d"
		  tp_if(sched_entity_sched_delayed, " prev_delayed=%d") tp_if(throttling, " prev_throttled=%d")
		  tp_if(task_struct_is_blocked, " prev_blocked=%d")
		  tp_if(sched_entity_custom_slice, " prev_custom_slice=%d") " prev_lag=%lld levels=%s",
		  __entry->next_pid tp_if(rq_donor, , __entry->donor), __entry->next_lag
		  tp_if(sched_entity_deadline, , __entry->next_deadline) tp_if(sched_entity_vprot, , __entry->next_vprot)
		  tp_if(sched_entity_slice, , __entry->next_slice), __entry->next_weight,
		  __entry->vtime, __entry->group
		  tp_if(task_struct_preferred_llc, , __entry->next_llc) tp_if(cfs_rq_h_nr_queued, , __entry->h_nr_queued)
		  tp_if(cfs_rq_h_nr_runnable, , __entry->h_nr_runnable), __entry->prev_queued
		  tp_if(sched_entity_sched_delayed, , __entry->prev_delayed) tp_if(throttling, , __entry->prev_throttled)
		  tp_if(task_struct_is_blocked, , __entry->prev_blocked)
		  tp_if(sched_entity_custom_slice, , __entry->prev_custom_slice), __entry->prev_lag,
		  __print_array(__get_dynamic_array(levels), __get_dynamic_array_len(levels) / 8, 8))
);
TRACE_HOOK(sched_pick, sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state));
TRACE_NEEDS(sched_pick, , "cfs_rq.sum_weight|cfs_rq.avg_load");
TRACE_NEEDS(sched_pick, , "sched_entity.cfs_rq");
TRACE_NEEDS(sched_pick, next_deadline, "sched_entity.deadline");
TRACE_NEEDS(sched_pick, next_vprot, "sched_entity.vprot");
TRACE_NEEDS(sched_pick, next_slice, "sched_entity.slice");
TRACE_NEEDS(sched_pick, h_nr_queued, "cfs_rq.h_nr_queued");
TRACE_NEEDS(sched_pick, h_nr_runnable, "cfs_rq.h_nr_runnable");
TRACE_NEEDS(sched_pick, donor, "rq.donor");
TRACE_NEEDS(sched_pick, next_llc, "task_struct.preferred_llc");
TRACE_NEEDS(sched_pick, prev_delayed, "sched_entity.sched_delayed");
TRACE_NEEDS(sched_pick, prev_throttled, "task_struct.throttled|cfs_rq.throttle_count");
TRACE_NEEDS(sched_pick, prev_blocked, "task_struct.is_blocked");
TRACE_NEEDS(sched_pick, prev_custom_slice, "sched_entity.custom_slice");

#endif
#include <trace/define_trace.h>
