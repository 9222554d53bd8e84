/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/* The members from which sched_pick is calculated, as they stand: what Picks.pm calculates with. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM raw
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE picks

#if !defined(_PICKS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _PICKS_H

#include <linux/tracepoint.h>

#ifdef FLAT /* since v7.3 a CPU has one queue; a kernel without h_load refuses this */
#define QUEUE(se) (&(se)->cfs_rq->rq->cfs)
#define WEIGHT(se) (se)->h_load.weight
#define ABOVE(se) 0 /* no group's entity stands in a queue */
#else
#define QUEUE(se) (se)->cfs_rq
#define WEIGHT(se) (se)->load.weight
#define ABOVE(se) (se)->load.weight
#endif

/* A group's entity, the nth above the task's. */
#define LEVEL_FIELDS(n)                                                                            \
	__field(u64, level##n##_w)                                                                 \
	__field(s32, level##n##_group)                                                             \
	__field(u64, level##n##_vtime)                                                             \
	__field(u64, level##n##_v)                                                                 \
	__field(u64, level##n##_deadline)                                                          \
	__field(u64, level##n##_vprot)                                                             \
	__field(u64, level##n##_slice)
#define LEVEL_ASSIGN(n, se)                                                                        \
	__entry->level##n##_w = ABOVE(se);                                                         \
	__entry->level##n##_group = tp_cfs_rq_group((se)->my_q);                                   \
	__entry->level##n##_vtime = tp_cfs_rq_vtime((se)->cfs_rq, se);                             \
	__entry->level##n##_v = (se)->vruntime;                                                    \
	__entry->level##n##_deadline = (se)->deadline;                                             \
	__entry->level##n##_vprot = tp_se_vprot(se);                                               \
	__entry->level##n##_slice = (se)->slice;

TRACE_EVENT(raw_pick,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state),

	TP_STRUCT__entry(
		__field(u64, v)
		__field(u64, deadline)
		__field(u64, vprot)
		__field(u64, slice)
		__field(u64, w)
		__field(s64, sum)
		__field(u64, load)
		__field(s64, sum_before)
		__field(u64, load_before)
		__field(u64, zero)
		__field(u64, zero_before)
		__field(u64, prev_v)
		__field(s64, prev_sum)
		__field(u64, prev_load)
		__field(s64, prev_sum_before)
		__field(u64, prev_load_before)
		__field(u64, prev_zero)
		__field(u64, prev_zero_before)
		__field(u64, prev_curr_v)
		__field(u64, prev_curr_w)
		__field(s32, css)
		__field(u64, autogroup)
		__field(u32, shift)
		__field(u32, prev_shift)
		__field(u32, nr_queued)
		__field(u32, nr_runnable)
		__field(s32, pid)
		__field(bool, is_curr)
		__field(bool, prev_on_rq)
		__field(bool, prev_delayed)
		__field(bool, prev_custom)
		__field(bool, prev_curr_on_rq)
		LEVEL_FIELDS(0)
		LEVEL_FIELDS(1)
		LEVEL_FIELDS(2)
	),

	TP_fast_assign(
		struct cfs_rq *q = QUEUE(&next->se);
		struct cfs_rq *prev_q = QUEUE(&prev->se);

		__entry->v = next->se.vruntime;
		__entry->deadline = next->se.deadline;
		__entry->vprot = next->se.vprot;
		__entry->slice = next->se.slice;
		__entry->w = WEIGHT(&next->se);
		__entry->sum = q->sum_w_vruntime;
		__entry->load = q->sum_weight;
		__entry->sum_before = q->avg_vruntime;
		__entry->load_before = q->avg_load;
		__entry->zero = q->zero_vruntime;
		__entry->zero_before = q->min_vruntime;
		__entry->prev_v = prev->se.vruntime;
		__entry->prev_sum = prev_q->sum_w_vruntime;
		__entry->prev_load = prev_q->sum_weight;
		__entry->prev_sum_before = prev_q->avg_vruntime;
		__entry->prev_load_before = prev_q->avg_load;
		__entry->prev_zero = prev_q->zero_vruntime;
		__entry->prev_zero_before = prev_q->min_vruntime;
		__entry->prev_curr_v = prev_q->curr->vruntime;
		__entry->prev_curr_w = WEIGHT(prev_q->curr);
		__entry->css = q->tg->css.id;
		__entry->autogroup = q->tg->autogroup->id;
		__entry->shift = q->sum_shift;
		__entry->prev_shift = prev_q->sum_shift;
		__entry->nr_queued = q->h_nr_queued;
		__entry->nr_runnable = q->h_nr_runnable;
		__entry->pid = next->pid;
		__entry->is_curr = q->curr == &next->se;
		__entry->prev_on_rq = prev->se.on_rq;
		__entry->prev_delayed = prev->se.sched_delayed;
		__entry->prev_custom = prev->se.custom_slice;
		__entry->prev_curr_on_rq = prev_q->curr->on_rq;
		LEVEL_ASSIGN(0, next->se.parent)
		LEVEL_ASSIGN(1, next->se.parent->parent)
		LEVEL_ASSIGN(2, next->se.parent->parent->parent)
	),

	TP_printk("pid=%d", __entry->pid)
);
TRACE_HOOK(raw_pick, sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state));
TRACE_NEEDS(raw_pick, vprot, "sched_entity.vprot");
TRACE_NEEDS(raw_pick, sum, "cfs_rq.sum_w_vruntime");
TRACE_NEEDS(raw_pick, load, "cfs_rq.sum_weight");
TRACE_NEEDS(raw_pick, sum_before, "cfs_rq.avg_vruntime");
TRACE_NEEDS(raw_pick, load_before, "cfs_rq.avg_load");
TRACE_NEEDS(raw_pick, zero, "cfs_rq.zero_vruntime");
TRACE_NEEDS(raw_pick, zero_before, "cfs_rq.min_vruntime");
TRACE_NEEDS(raw_pick, prev_sum, "cfs_rq.sum_w_vruntime");
TRACE_NEEDS(raw_pick, prev_load, "cfs_rq.sum_weight");
TRACE_NEEDS(raw_pick, prev_sum_before, "cfs_rq.avg_vruntime");
TRACE_NEEDS(raw_pick, prev_load_before, "cfs_rq.avg_load");
TRACE_NEEDS(raw_pick, prev_zero, "cfs_rq.zero_vruntime");
TRACE_NEEDS(raw_pick, prev_zero_before, "cfs_rq.min_vruntime");
TRACE_NEEDS(raw_pick, autogroup, "task_group.autogroup");
TRACE_NEEDS(raw_pick, shift, "cfs_rq.sum_shift");
TRACE_NEEDS(raw_pick, prev_shift, "cfs_rq.sum_shift");

#endif
