/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the tp_*() functions of events/ for BPF. Arguments of tracepoints are typed pointers,
 * whose members are read directly; objects found by pointer arithmetic (the task around a
 * sched_entity) are read with bpf_core_read(). A member that the kernel lacks reads as 0 here, and
 * TRACE_NEEDS() removes its field from the event's format.
 */
#ifndef TAP_BPF_VOCABULARY_H
#define TAP_BPF_VOCABULARY_H

#include "cast.h"
#include "comm.h"
#include "task.h"

/* kernel/sched/sched.h: flag in util_est, set while util_avg did not change */
#define TAP_UTIL_AVG_UNCHANGED 0x80000000u

/* include/linux/sched.h; unchanged since v4.14 except for the last two (v5.16, v6.2) */
#define TAP_TASK_REPORT 0x7f
#define TAP_TASK_REPORT_IDLE 0x80
#define TAP_TASK_REPORT_MAX 0x100
#define TAP_TASK_UNINTERRUPTIBLE 0x2
#define TAP_TASK_IDLE 0x402 /* uninterruptible, not counted as load */
#define TAP_TASK_RTLOCK_WAIT 0x1000
#define TAP_TASK_FROZEN 0x8000

#define TP_UCLAMP_MIN 0
#define TP_UCLAMP_MAX 1

/* events/pick.h: maximum number of groups in .levels, and numbers per group */
#define TAP_LEVELS_MAX 8
#define TAP_LEVEL_WORDS 7

/*
 * arch_scale_cpu_capacity() of each CPU, as read from /sys/devices/system/cpu/cpuN/cpu_capacity
 * when the recording starts; it is fixed at boot. Not read from per_cpu(cpu_scale), because BPF
 * finds that variable only if kallsyms contains data symbols (CONFIG_KALLSYMS_ALL).
 */
const volatile u16 tap_cpu_scale[8192];

const volatile u32 tap_nr_cpu_ids = 1;

#define tp_nr_cpu_ids() tap_nr_cpu_ids
#define tp_current() tap_current /* parameter of every fill_<class>(), read once per event */

/* Copy a text of the kernel's, and fill the rest with zeros. @size: a constant multiple of 8. */
static __always_inline void strscpy(char *to, const char *from, u32 size)
{
	for (u32 i = 0; i < size / 8; i++)
		((u64 *)to)[i] = 0;
	bpf_probe_read_kernel_str(to, size, from);
}

static __always_inline bool tp_task_group_dead(struct task_struct *p)
{
	return !p->signal->live.counter;
}

static __always_inline long tp_switch_state(bool preempt, u32 prev_state, struct task_struct *prev)
{
	u32 state;

	if (preempt)
		return TAP_TASK_REPORT_MAX;
	if ((prev_state & TAP_TASK_IDLE) == TAP_TASK_IDLE)
		return TAP_TASK_REPORT_IDLE;
	if (prev_state & (TAP_TASK_RTLOCK_WAIT | TAP_TASK_FROZEN))
		return TAP_TASK_UNINTERRUPTIBLE;
	state = (prev_state | prev->exit_state) & TAP_TASK_REPORT;
	/* the highest of several bits counts */
	for (u32 i = 0; i < 6 && (state & (state - 1)); i++)
		state &= state - 1;
	return state;
}

/*
 * Return the time for which @next has been in the run queue of the CPU where @prev runs, ns;
 * U32_MAX: not known.
 */
static __always_inline u32 tp_queued_ns(struct task_struct *prev, struct task_struct *next)
{
	u64 since, ns;

	if (!bpf_core_field_exists(next->sched_info.last_queued) ||
	    !bpf_core_field_exists(prev->se.cfs_rq))
		return ~0u;
	since = next->sched_info.last_queued;
	ns = prev->se.cfs_rq->rq->clock - since;
	return since && ns < ~0u ? ns : ~0u;
}

static __always_inline u32 tp_delay_ns(struct task_struct *next)
{
	return bpf_core_field_exists(next->sched_info.run_delay) ? next->sched_info.run_delay : 0;
}

static __always_inline struct rq *tp_cfs_rq_rq(struct cfs_rq *cfs_rq)
{
	return bpf_core_field_exists(cfs_rq->rq) ? cfs_rq->rq : NULL;
}

static __always_inline bool tp_cfs_rq_is_root(struct cfs_rq *cfs_rq)
{
	return !bpf_core_field_exists(cfs_rq->tg) || cfs_rq->tg->css.cgroup->level == 0;
}

static __always_inline int tp_cfs_rq_cpu(struct cfs_rq *cfs_rq)
{
	return bpf_core_field_exists(cfs_rq->rq) ? cfs_rq->rq->cpu : 0;
}

static __always_inline u64 tp_cfs_rq_cgroup(struct cfs_rq *cfs_rq)
{
	return bpf_core_field_exists(cfs_rq->tg) ? cfs_rq->tg->css.cgroup->kn->id : 0;
}

static __always_inline bool tp_se_is_task(struct sched_entity *se)
{
	return !bpf_core_field_exists(se->my_q) || !se->my_q;
}

static __always_inline int tp_se_pid(struct sched_entity *se)
{
	if (!tp_se_is_task(se))
		return -1;
	return tap_has_cast ? tap_cast_task(tap_se_task(se))->pid
			    : BPF_CORE_READ(tap_se_task(se), pid);
}

static __always_inline void tp_se_comm(char *to, struct sched_entity *se)
{
	if (!tp_se_is_task(se)) {
		((u64 *)to)[0] = 0;
		((u64 *)to)[1] = 0;
	} else if (tap_has_cast) {
		tp_comm(to, tap_cast_task(tap_se_task(se)));
	} else {
		bpf_core_read(to, 16, &tap_se_task(se)->comm);
	}
}

static __always_inline struct rq *tp_se_rq(struct sched_entity *se)
{
	return bpf_core_field_exists(se->cfs_rq) ? tp_cfs_rq_rq(se->cfs_rq) : NULL;
}

static __always_inline int tp_se_cpu(struct sched_entity *se)
{
	return bpf_core_field_exists(se->cfs_rq) ? se->cfs_rq->rq->cpu : 0;
}

static __always_inline u64 tp_se_cgroup(struct sched_entity *se)
{
	if (!bpf_core_field_exists(se->my_q))
		return 0;
	return se->my_q ? tp_cfs_rq_cgroup(se->my_q) : tp_cfs_rq_cgroup(se->cfs_rq);
}

static __always_inline u32 tp_util_est_enqueued(struct sched_avg *avg)
{
	struct sched_avg___before_6_8 *old = (void *)avg;

	if (bpf_core_field_exists(old->util_est.enqueued))
		return old->util_est.enqueued & ~TAP_UTIL_AVG_UNCHANGED;
	return avg->util_est & ~TAP_UTIL_AVG_UNCHANGED;
}

static __always_inline u32 tp_util_est_ewma(struct sched_avg *avg)
{
	struct sched_avg___before_6_8 *old = (void *)avg;

	return bpf_core_field_exists(old->util_est.ewma) ? old->util_est.ewma : 0;
}

static __always_inline struct sched_avg *tp_rq_avg_irq(struct rq *rq)
{
	return bpf_core_field_exists(rq->avg_irq) ? &rq->avg_irq : &rq->avg_rt;
}

static __always_inline struct sched_avg *tp_rq_avg_hw(struct rq *rq)
{
	struct rq___before_6_10 *old = (void *)rq;

	if (bpf_core_field_exists(rq->avg_hw))
		return &rq->avg_hw;
	return bpf_core_field_exists(old->avg_thermal) ? &old->avg_thermal : &rq->avg_rt;
}

static __always_inline u32 tp_rq_h_nr_queued(struct rq *rq)
{
	return bpf_core_field_exists(rq->cfs.h_nr_queued) ? rq->cfs.h_nr_queued : 0;
}

static __always_inline u32 tp_rq_h_nr_runnable(struct rq *rq)
{
	return bpf_core_field_exists(rq->cfs.h_nr_runnable) ? rq->cfs.h_nr_runnable : 0;
}

/* ---- EEVDF ---- */

/*
 * Return the task that the scheduler picked so that @next runs: @next itself, or with proxy
 * execution a task that waits for a mutex of @next. Without proxy execution rq->donor is an alias
 * of rq->curr.
 */
static __always_inline struct task_struct *tp_picked(struct task_struct *next)
{
	if (!bpf_core_field_exists(struct rq, donor) ||
	    bpf_core_field_offset(struct rq, donor) == bpf_core_field_offset(struct rq, curr))
		return next;
	return next->se.cfs_rq->rq->donor;
}

/*
 * Return the queue in which the entity competes: its cgroup's or, since v7.3, the CPU's single
 * queue.
 */
static __always_inline struct cfs_rq *tp_se_queue(struct sched_entity *se)
{
	return bpf_core_field_exists(se->h_load) ? &se->cfs_rq->rq->cfs : se->cfs_rq;
}

/*
 * Return the id of the queue's group: that of the cgroup in the cpu controller, or for an autogroup
 * (sched(7)), which is not a cgroup and has its own ids, the negative autogroup id.
 */
static __always_inline s32 tp_cfs_rq_group(struct cfs_rq *cfs_rq)
{
	struct task_group *tg = cfs_rq->tg;
	s32 id = tg->css.id;

	if (!id && bpf_core_field_exists(tg->autogroup))
		return -(s32)tg->autogroup->id;
	return id;
}

static __always_inline unsigned long tp_se_weight(struct sched_entity *se)
{
	return bpf_core_field_exists(se->h_load) ? se->h_load.weight : se->load.weight;
}

/* Scale a weight as the queue's sums do: scale_load_down(), since v7.1 avg_vruntime_weight(). */
static __always_inline u64 tap_sum_weight(struct cfs_rq *cfs_rq, u64 weight)
{
	u32 shift = bpf_core_field_exists(cfs_rq->sum_shift) ? cfs_rq->sum_shift : 10;

	if (!shift)
		return weight;
	weight >>= shift & 63;
	return weight < 2 ? 2 : weight;
}

static __always_inline u64 tap_vtime_zero(struct cfs_rq *cfs_rq)
{
	return bpf_core_field_exists(cfs_rq->zero_vruntime) ? cfs_rq->zero_vruntime
							    : cfs_rq->min_vruntime;
}

/*
 * The weighted sum of virtual times of a queue's entities, relative to .zero, and the sum of
 * weights.
 */
struct tap_vtime {
	u64 zero;
	s64 sum;
	u64 load;
};

static __always_inline void tap_vtime_add(struct tap_vtime *v, struct cfs_rq *cfs_rq,
					  struct sched_entity *se)
{
	u64 weight;

	if (!se->on_rq)
		return;
	weight = tap_sum_weight(cfs_rq, tp_se_weight(se));
	v->sum += (se->vruntime - v->zero) * weight;
	v->load += weight;
}

/*
 * Return the queue's V like avg_vruntime() in kernel/sched/fair.c: rounded down, so an entity whose
 * v is equal or less is eligible. @se: an entity of the queue, usually the running one. It is used
 * in place of cfs_rq->curr if they are equal, because reading through a tracepoint's argument is
 * cheaper than through a pointer loaded from a queue.
 */
static __always_inline u64 tp_cfs_rq_vtime(struct cfs_rq *cfs_rq, struct sched_entity *se)
{
	bool renamed = bpf_core_field_exists(cfs_rq->sum_weight);
	struct tap_vtime v = {
		.zero = tap_vtime_zero(cfs_rq),
		.sum = renamed ? cfs_rq->sum_w_vruntime : cfs_rq->avg_vruntime,
		.load = renamed ? cfs_rq->sum_weight : cfs_rq->avg_load,
	};
	struct sched_entity *curr = cfs_rq->curr;

	if (curr == se)
		tap_vtime_add(&v, cfs_rq, se);
	else if (curr)
		tap_vtime_add(&v, cfs_rq, curr);
	/*
	 * BPF divides unsigned numbers only. Without entities V is .zero, because in BPF n / 0 is
	 * 0.
	 */
	return v.sum < 0 ? v.zero - (v.load - 1 - v.sum) / v.load : v.zero + v.sum / v.load;
}

static __always_inline u64 tp_se_vprot(struct sched_entity *se)
{
	return bpf_core_field_exists(se->vprot) ? se->vprot : 0;
}

/*
 * Return the number of words of sched_pick's .levels: those of the groups above the task that the
 * fair class picked. None since v7.3, where groups' entities are in no queue.
 */
static __always_inline u32 tp_pick_words(struct task_struct *next)
{
	struct sched_entity *se = &tp_picked(next)->se;
	u32 depth;

	if (bpf_core_field_exists(se->h_load))
		return 0;
	depth = se->depth;
	if (!depth || se->cfs_rq->curr != se)
		return 0;
	return (depth < TAP_LEVELS_MAX ? depth : TAP_LEVELS_MAX) * TAP_LEVEL_WORDS;
}

static __always_inline void tap_put_level(s64 *to, struct sched_entity *se)
{
	struct cfs_rq *queue = se->cfs_rq;
	u64 vtime = tp_cfs_rq_vtime(queue, se), v = se->vruntime;

	to[0] = tp_cfs_rq_group(se->my_q);
	to[1] = tp_se_weight(se);
	to[2] = vtime;
	to[3] = vtime - v;
	to[4] = se->deadline - v;
	to[5] = bpf_core_field_exists(se->vprot) ? se->vprot - v : 0;
	to[6] = se->slice;
}

/*
 * Fill .levels of sched_pick with the groups above @se, innermost first. @bytes: size of the array.
 */
static __always_inline void tp_put_levels(s64 *to, u32 bytes, struct sched_entity *se)
{
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < TAP_LEVELS_MAX; i++, to += TAP_LEVEL_WORDS) {
		if (i * TAP_LEVEL_WORDS * sizeof(*to) >= bytes)
			break;
		se = se->parent;
		if (!se)
			break;
		tap_put_level(to, se);
	}
}

static __always_inline bool tp_se_custom_slice(struct sched_entity *se)
{
	return bpf_core_field_exists(se->custom_slice) && se->custom_slice;
}

static __always_inline bool tp_task_blocked(struct task_struct *p)
{
	return bpf_core_field_exists(p->is_blocked) && p->is_blocked;
}

static __always_inline int tp_task_llc(struct task_struct *p)
{
	return bpf_core_field_exists(p->preferred_llc) ? p->preferred_llc : 0;
}

static __always_inline u32 tp_cfs_rq_h_nr_queued(struct cfs_rq *cfs_rq)
{
	return bpf_core_field_exists(cfs_rq->h_nr_queued) ? cfs_rq->h_nr_queued : 0;
}

static __always_inline u32 tp_cfs_rq_h_nr_runnable(struct cfs_rq *cfs_rq)
{
	return bpf_core_field_exists(cfs_rq->h_nr_runnable) ? cfs_rq->h_nr_runnable : 0;
}

/* ---- sched_ext ---- */

#define TAP_SCX_DSQ_NONE 0x8000000000000000ull /* SCX_DSQ_INVALID */

/*
 * Return true if the task is scheduled by sched_ext. Others have a struct sched_ext_entity as well.
 */
static __always_inline bool tp_scx_has(struct task_struct *p)
{
	u32 state =
		p->scx.flags & (u32)bpf_core_enum_value(enum scx_ent_flags, SCX_TASK_STATE_MASK);

	if (bpf_core_enum_value_exists(enum scx_ent_flags___since_7_1,
				       SCX_TASK_ENABLED___since_7_1))
		return state == (u32)bpf_core_enum_value(enum scx_ent_flags___since_7_1,
							 SCX_TASK_ENABLED___since_7_1);
	return state == (u32)bpf_core_enum_value(enum scx_task_state, SCX_TASK_ENABLED)
				<< bpf_core_enum_value(enum scx_ent_flags, SCX_TASK_STATE_SHIFT);
}

static __always_inline bool tp_scx_queued(struct task_struct *p)
{
	return p->scx.flags & (u32)bpf_core_enum_value(enum scx_ent_flags, SCX_TASK_QUEUED);
}

/* Return true if the BPF scheduler was given the task and has not dispatched it into a queue. */
static __always_inline bool tp_scx_held(struct task_struct *p)
{
	u64 state = (u64)p->scx.ops_state.counter &
		    ((1ull << bpf_core_enum_value(enum scx_ops_state, SCX_OPSS_QSEQ_SHIFT)) - 1);

	return state == bpf_core_enum_value(enum scx_ops_state, SCX_OPSS_QUEUED);
}

/*
 * Return the id of the DSQ that the task is in, or that it is put into as soon as that CPU's
 * run-queue lock can be taken; TAP_SCX_DSQ_NONE if the BPF scheduler holds the task.
 */
static __always_inline u64 tp_scx_dsq(struct task_struct *p)
{
	struct scx_dispatch_q *dsq = p->scx.dsq;

	return dsq ? dsq->id : tp_scx_held(p) ? TAP_SCX_DSQ_NONE : p->scx.ddsp_dsq_id;
}

static __always_inline u32 tp_scx_nr(struct task_struct *p)
{
	struct scx_dispatch_q *dsq = p->scx.dsq;

	return dsq ? dsq->nr : 0;
}

/* ---- capacity of CPUs ---- */

static __always_inline u32 tp_rq_capacity_orig(struct rq *rq)
{
	struct rq___before_6_7 *old = (void *)rq;

	if (bpf_core_field_exists(old->cpu_capacity_orig))
		return old->cpu_capacity_orig;
	return tap_cpu_scale[rq->cpu & 8191];
}

/*
 * Unused in BPF: the field capacity_curr is never in the format over BPF, because TRACE_NEEDS()
 * requires a per-CPU variable for it.
 */
static __always_inline u32 tp_rq_capacity_curr(struct rq *rq)
{
	return 0;
}

static __always_inline const unsigned long *tp_rd_span(struct root_domain *rd)
{
	struct root_domain___on_stack *on_stack = (void *)rd;

	if (bpf_core_field_exists(on_stack->span))
		return (const unsigned long *)&on_stack->span;
	return (const unsigned long *)rd->span;
}

/*
 * The kernel's array elements are larger than those declared here, so each element needs a
 * relocation of its own.
 */
static __always_inline u32 tp_rq_uclamp(struct rq *rq, int which)
{
	if (!rq || !bpf_core_field_exists(rq->uclamp))
		return 0;
	return which == TP_UCLAMP_MIN ? BPF_CORE_READ(rq, uclamp[TP_UCLAMP_MIN].value)
				      : BPF_CORE_READ(rq, uclamp[TP_UCLAMP_MAX].value);
}

static __always_inline u32 tp_se_uclamp(struct sched_entity *se, int which)
{
	struct task_struct *p = tap_se_task(se);

	return bpf_core_field_exists(p->uclamp)
		       ? BPF_CORE_READ_BITFIELD_PROBED(&p->uclamp[which], value)
		       : 0;
}

static __always_inline u32 tp_clamp(u32 v, u32 min, u32 max)
{
	return v < min ? min : v > max ? max : v;
}

static __always_inline bool tp_dl_is_server(struct sched_dl_entity *dl_se)
{
	return bpf_core_field_exists(dl_se->dl_server) && BPF_CORE_READ_BITFIELD(dl_se, dl_server);
}

static __always_inline bool tp_dl_yielded(struct sched_dl_entity *dl_se)
{
	return BPF_CORE_READ_BITFIELD(dl_se, dl_yielded);
}

#define TAP_SCHED_DEADLINE 6

static __always_inline bool tp_is_dl(struct task_struct *p)
{
	return p->policy == TAP_SCHED_DEADLINE;
}

static __always_inline s64 tp_dl_left(struct task_struct *p)
{
	return p->dl.deadline - p->se.cfs_rq->rq->clock;
}

static __always_inline bool tp_by_server(struct task_struct *p)
{
	return bpf_core_field_exists(p->dl_server) && p->dl_server;
}

/*
 * Return the kernel's DL_SERVER_* type of the deadline server that picked @p, 0 if none or unknown.
 * Each run queue has one server per class.
 */
static __always_inline u8 tp_server_type(struct task_struct *p)
{
	struct rq *rq = p->se.cfs_rq->rq;

	if (!tp_by_server(p))
		return 0;
	if (bpf_core_field_exists(rq->fair_server) && p->dl_server == &rq->fair_server)
		return 2;
	return bpf_core_field_exists(rq->ext_server) && p->dl_server == &rq->ext_server ? 3 : 0;
}

static __always_inline bool tp_task_yielded(struct task_struct *p)
{
	return tp_dl_yielded(&p->dl);
}

static __always_inline struct task_struct *tap_dl_task(struct sched_dl_entity *dl_se)
{
	return (void *)dl_se - bpf_core_field_offset(struct task_struct, dl);
}

static __always_inline int tp_dl_pid(struct sched_dl_entity *dl_se)
{
	return tp_dl_is_server(dl_se) ? 0 : BPF_CORE_READ(tap_dl_task(dl_se), pid);
}

static __always_inline void tp_dl_comm(char *to, struct sched_dl_entity *dl_se)
{
	if (tp_dl_is_server(dl_se)) {
		((u64 *)to)[0] = 0;
		((u64 *)to)[1] = 0;
	} else {
		bpf_core_read(to, 16, &tap_dl_task(dl_se)->comm);
	}
}

#include "throttled.h"

#endif
