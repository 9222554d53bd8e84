/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The dispatch queues in which sched_ext tasks wait, and the slices and weights that a BPF
 * scheduler gives them.
 *
 * A BPF scheduler puts a task into a dispatch queue (DSQ), from which CPUs take it, or holds it
 * back as long as it likes. Each CPU has a local DSQ, from which it runs tasks. A task that the
 * scheduler holds back is in no queue and waits until the scheduler dispatches it; the kernel
 * ejects a scheduler that waits too long.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_scx
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE scx

#if !defined(_SCHEDTAP_EVENTS_SCX_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_SCX_H

#include <linux/tracepoint.h>

#define TP_DSQ_NONE 0x8000000000000000

/*
 * SCX_DSQ_*: ids of the DSQs that the kernel creates; DSQs created by a scheduler have smaller ids.
 */
#define TP_DSQ_NAMES \
	{ TP_DSQ_NONE, "none" }, { 0x8000000000000001, "global" }, { 0x8000000000000002, "local" }, \
	{ 0x8000000000000003, "bypass" }, { 0x8000000000000004, "reject" }, { 0x8000000000000005, "rescue" }

/*
 * sched_scx_wakeup: the DSQ into which a woken task was put. Recorded at sched_wakeup, after the
 * BPF scheduler was asked, and only for tasks of sched_ext.
 *
 *   pid		the woken task
 *   target_cpu		the task's CPU, which "local" refers to
 *   dsq		id of the DSQ: one that the scheduler created, or one of the kernel's:
 * 			global, local (the CPU's own), bypass, or 0xc000000000000000 + CPU if the
 * 			task is about to be put into that CPU's local DSQ; none: the task is in no
 * 			DSQ, because the scheduler holds it or it still runs (it was woken before it
 * 			slept)
 *   held		1: the scheduler holds the task: it is in no DSQ until the scheduler
 * 			dispatches it
 *   nr			tasks in the DSQ, this one included; 0 if it is about to be put into one
 *   slice		ns that the task may run; 0xffffffffffffffff: unlimited
 *   vtime		sort key of DSQs that the scheduler orders by virtual time
 *   weight		100 for nice 0
 *
 * Source: sched_wakeup; enqueue_task_scx() in kernel/sched/ext, struct sched_ext_entity.
 */
TRACE_EVENT_CONDITION(sched_scx_wakeup,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p),
	TP_CONDITION(tp_scx_has(p)),

	TP_STRUCT__entry(
		__field(u64, dsq)
		__field(u64, slice)
		__field(u64, vtime)
		__field(s32, pid)
		__field(s32, target_cpu)
		__field(u32, nr)
		__field(u32, weight)
		__field(bool, held)
	),

	TP_fast_assign(
		__entry->dsq = tp_scx_dsq(p);
		__entry->slice = p->scx.slice;
		__entry->vtime = p->scx.dsq_vtime;
		__entry->pid = p->pid;
		__entry->target_cpu = tp_task_cpu(p);
		__entry->nr = tp_scx_nr(p);
		__entry->weight = p->scx.weight;
		__entry->held = tp_scx_held(p);
	),

	TP_printk("pid=%d target_cpu=%03d dsq=%s held=%d nr=%u slice=%llu vtime=%llu weight=%u", __entry->pid,
		  __entry->target_cpu, __print_symbolic(__entry->dsq, TP_DSQ_NAMES), __entry->held, __entry->nr,
		  __entry->slice, __entry->vtime, __entry->weight)
);
TRACE_HOOK(sched_scx_wakeup, sched_wakeup, TP_PROTO(struct task_struct *p), TP_ARGS(p));
TRACE_NEEDS(sched_scx_wakeup, , "task_struct.scx");

/*
 * sched_scx_wakeup_new: the DSQ into which a new task was put; see sched_scx_wakeup for the fields.
 * Source: sched_wakeup_new.
 */
DEFINE_EVENT(sched_scx_wakeup, sched_scx_wakeup_new, TP_PROTO(struct task_struct *p), TP_ARGS(p));
TRACE_HOOK(sched_scx_wakeup_new, sched_wakeup_new, TP_PROTO(struct task_struct *p), TP_ARGS(p));
TRACE_NEEDS(sched_scx_wakeup_new, , "task_struct.scx");

/*
 * sched_scx_switch: the DSQ in which prev waits from now on, and the slice and weight with which
 * next runs. Recorded at a sched_switch if prev or next is a sched_ext task, when prev is queued
 * again and next is in no queue any more. If prev or next is of another class, its fields (slice,
 * vtime, nr, weight) are 0.
 *
 *   prev_queued	1: prev could run on and is queued again; 0: it sleeps and is in no DSQ
 *   prev_dsq, _held, _nr, _slice, _vtime, _weight
 * 			as in sched_scx_wakeup, for prev
 *   next_slice		ns that next may run
 *
 * Source: sched_switch; put_prev_task_scx() and set_next_task_scx() in kernel/sched/ext.
 */
TRACE_EVENT_CONDITION(sched_scx_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state),
	TP_CONDITION(tp_scx_has(prev) || tp_scx_has(next)),

	TP_STRUCT__entry(
		__field(u64, prev_dsq)
		__field(u64, prev_slice)
		__field(u64, prev_vtime)
		__field(u64, next_slice)
		__field(u64, next_vtime)
		__field(s32, prev_pid)
		__field(s32, next_pid)
		__field(u32, prev_nr)
		__field(u32, prev_weight)
		__field(u32, next_weight)
		__field(bool, prev_queued)
		__field(bool, prev_held)
	),

	TP_fast_assign(
		bool of_prev = tp_scx_has(prev);
		bool of_next = tp_scx_has(next);
		bool queued = of_prev && tp_scx_queued(prev);

		__entry->prev_dsq = queued ? tp_scx_dsq(prev) : TP_DSQ_NONE;
		__entry->prev_slice = of_prev ? prev->scx.slice : 0;
		__entry->prev_vtime = of_prev ? prev->scx.dsq_vtime : 0;
		__entry->next_slice = of_next ? next->scx.slice : 0;
		__entry->next_vtime = of_next ? next->scx.dsq_vtime : 0;
		__entry->prev_pid = prev->pid;
		__entry->next_pid = next->pid;
		__entry->prev_nr = queued ? tp_scx_nr(prev) : 0;
		__entry->prev_weight = of_prev ? prev->scx.weight : 0;
		__entry->next_weight = of_next ? next->scx.weight : 0;
		__entry->prev_queued = queued;
		__entry->prev_held = queued && tp_scx_held(prev);
	),

	TP_printk("prev_pid=%d prev_queued=%d prev_dsq=%s prev_held=%d prev_nr=%u prev_slice=%llu prev_vtime=%llu prev_weight=%u ==> next_pid=%d next_slice=%llu next_vtime=%llu next_weight=%u",
		  __entry->prev_pid, __entry->prev_queued, __print_symbolic(__entry->prev_dsq, TP_DSQ_NAMES),
		  __entry->prev_held, __entry->prev_nr, __entry->prev_slice, __entry->prev_vtime, __entry->prev_weight,
		  __entry->next_pid, __entry->next_slice, __entry->next_vtime, __entry->next_weight)
);
TRACE_HOOK(sched_scx_switch, sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state));
TRACE_NEEDS(sched_scx_switch, , "task_struct.scx");

#endif
#include <trace/define_trace.h>
