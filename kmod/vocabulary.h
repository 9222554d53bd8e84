/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the tp_*() functions of events/ for the module. They are called under a run-queue
 * lock, so they must not take locks, sleep or build text, except for tp_cgroup_path(), which is
 * called when a record is printed. layout.h defines TAP_HAS_<struct>_<member> as 1 or 0.
 */
#ifndef TAP_KMOD_VOCABULARY_H
#define TAP_KMOD_VOCABULARY_H

#include <linux/cgroup.h>
#include <linux/sched.h>
#include <linux/sched/topology.h>

#include "layout.h"

/* kernel/sched/sched.h: flag in util_est, set while util_avg did not change */
#define TAP_UTIL_AVG_UNCHANGED 0x80000000u

#define TP_UCLAMP_MIN 0
#define TP_UCLAMP_MAX 1

/* events/pick.h: maximum number of groups in .levels, and numbers per group */
#define TAP_LEVELS_MAX 8
#define TAP_LEVEL_WORDS 7

/*
 * tp_if(<struct>_<member>, ...) expands to the remaining arguments if the kernel has that member.
 */
#define tp_if(member, ...) TAP_IF(TAP_HAS_##member)(__VA_ARGS__)
#define TAP_IF(has) TAP_PASTE(TAP_IF_, has)
#define TAP_PASTE(a, b) TAP_PASTE_(a, b)
#define TAP_PASTE_(a, b) a##b
#define TAP_IF_1(...) __VA_ARGS__
#define TAP_IF_0(...)

#define tp_nr_cpu_ids() nr_cpu_ids
#define tp_current() current

static __always_inline void tp_comm(char *to, const struct task_struct *p)
{
	memcpy(to, p->comm, TASK_COMM_LEN);
}

static __always_inline struct rq *tp_cfs_rq_rq(struct cfs_rq *cfs_rq)
{
#if TAP_HAS_cfs_rq_rq
	return cfs_rq->rq;
#else /* without group scheduling the only queue is part of the run queue */
	return container_of(cfs_rq, struct rq, cfs);
#endif
}

static __always_inline struct cgroup *tap_cfs_rq_cgroup(struct cfs_rq *cfs_rq)
{
#if TAP_HAS_cfs_rq_tg
	return cfs_rq->tg->css.cgroup; /* NULL for an autogroup */
#else
	return NULL;
#endif
}

static __always_inline bool tp_cfs_rq_is_root(struct cfs_rq *cfs_rq)
{
	struct cgroup *cgroup = tap_cfs_rq_cgroup(cfs_rq);

	return !TAP_HAS_cfs_rq_tg || (cgroup && !cgroup->level);
}

static __always_inline int tp_cfs_rq_cpu(struct cfs_rq *cfs_rq)
{
	return tp_cfs_rq_rq(cfs_rq)->cpu;
}

static __always_inline u64 tp_cfs_rq_cgroup(struct cfs_rq *cfs_rq)
{
	struct cgroup *cgroup = tap_cfs_rq_cgroup(cfs_rq);

	return cgroup ? cgroup_id(cgroup) : 0;
}

static __always_inline struct cfs_rq *tap_se_cfs_rq(struct sched_entity *se)
{
#if TAP_HAS_sched_entity_cfs_rq
	return se->cfs_rq;
#else
	return NULL;
#endif
}

/* Return a cgroup entity's own queue; NULL for a task. */
static __always_inline struct cfs_rq *tap_se_my_q(struct sched_entity *se)
{
#if TAP_HAS_sched_entity_my_q
	return se->my_q;
#else
	return NULL;
#endif
}

static __always_inline struct task_struct *tap_se_task(struct sched_entity *se)
{
	return container_of(se, struct task_struct, se);
}

static __always_inline bool tp_se_is_task(struct sched_entity *se)
{
	return !tap_se_my_q(se);
}

static __always_inline int tp_se_pid(struct sched_entity *se)
{
	return tp_se_is_task(se) ? tap_se_task(se)->pid : -1;
}

static __always_inline void tp_se_comm(char *to, struct sched_entity *se)
{
	if (tp_se_is_task(se))
		tp_comm(to, tap_se_task(se));
	else
		memset(to, 0, TASK_COMM_LEN);
}

static __always_inline int tp_se_cpu(struct sched_entity *se)
{
	struct cfs_rq *cfs_rq = tap_se_cfs_rq(se);

	return cfs_rq ? tp_cfs_rq_cpu(cfs_rq) : (int)task_cpu(tap_se_task(se));
}

static __always_inline u64 tp_se_cgroup(struct sched_entity *se)
{
	struct cfs_rq *cfs_rq = tap_se_my_q(se) ?: tap_se_cfs_rq(se);

	return cfs_rq ? tp_cfs_rq_cgroup(cfs_rq) : 0;
}

static __always_inline u32 tp_util_est_enqueued(const struct sched_avg *avg)
{
#if TAP_HAS_util_est_enqueued
	return avg->util_est.enqueued & ~TAP_UTIL_AVG_UNCHANGED;
#else
	return avg->util_est & ~TAP_UTIL_AVG_UNCHANGED;
#endif
}

#if TAP_HAS_util_est_ewma
static __always_inline u32 tp_util_est_ewma(const struct sched_avg *avg)
{
	return avg->util_est.ewma;
}
#endif

static __always_inline struct sched_avg *tp_rq_avg_irq(struct rq *rq)
{
#if TAP_HAS_rq_avg_irq
	return &rq->avg_irq;
#else
	return &rq->avg_rt; /* unused: TRACE_NEEDS() removes the event */
#endif
}

static __always_inline struct sched_avg *tp_rq_avg_hw(struct rq *rq)
{
#if TAP_HAS_rq_avg_hw
	return &rq->avg_hw;
#elif TAP_HAS_rq_avg_thermal
	return &rq->avg_thermal;
#else
	return &rq->avg_rt; /* unused: TRACE_NEEDS() removes the event */
#endif
}

#if TAP_HAS_cfs_rq_h_nr_queued
static __always_inline u32 tp_rq_h_nr_queued(const struct rq *rq)
{
	return rq->cfs.h_nr_queued;
}
#endif

#if TAP_HAS_cfs_rq_h_nr_runnable
static __always_inline u32 tp_rq_h_nr_runnable(const struct rq *rq)
{
	return rq->cfs.h_nr_runnable;
}
#endif

static __always_inline u32 tp_rq_capacity_orig(struct rq *rq)
{
#if TAP_HAS_rq_cpu_capacity_orig
	return rq->cpu_capacity_orig;
#else
	return arch_scale_cpu_capacity(rq->cpu);
#endif
}

/* Kbuild checked that modules may use arch_freq_scale; some architectures do not have it. */
#if TAP_EXPORTS_arch_freq_scale && defined(arch_scale_freq_capacity)
#define TAP_HAS_arch_freq_scale 1
static __always_inline u32 tp_rq_capacity_curr(struct rq *rq)
{
	return tp_rq_capacity_orig(rq) * arch_scale_freq_capacity(rq->cpu) >> SCHED_CAPACITY_SHIFT;
}
#else
#define TAP_HAS_arch_freq_scale 0
#endif

static __always_inline const unsigned long *tp_rd_span(struct root_domain *rd)
{
	return cpumask_bits(rd->span);
}

static __always_inline u32 tp_rq_uclamp(struct rq *rq, int which)
{
#if TAP_HAS_rq_uclamp
	return rq->uclamp[which].value;
#else
	return 0; /* unused: TRACE_NEEDS() removes the event */
#endif
}

static __always_inline struct rq *tp_se_rq(struct sched_entity *se)
{
	return tp_cfs_rq_rq(tap_se_cfs_rq(se));
}

static __always_inline u32 tp_se_uclamp(struct sched_entity *se, int which)
{
#if TAP_HAS_task_struct_uclamp
	return tap_se_task(se)->uclamp[which].value;
#else
	return 0; /* unused: TRACE_NEEDS() removes the event */
#endif
}

static __always_inline u32 tp_clamp(u32 v, u32 min, u32 max)
{
	return v < min ? min : v > max ? max : v;
}

static __always_inline bool tp_dl_is_server(const struct sched_dl_entity *dl_se)
{
#if TAP_HAS_sched_dl_entity_dl_server
	return dl_se->dl_server;
#else
	return false;
#endif
}

static __always_inline bool tp_dl_yielded(const struct sched_dl_entity *dl_se)
{
	return dl_se->dl_yielded;
}

static __always_inline bool tp_is_dl(const struct task_struct *p)
{
	return p->policy == SCHED_DEADLINE;
}

#if TAP_HAS_sched_entity_cfs_rq && TAP_HAS_rq_clock
static __always_inline s64 tp_dl_left(const struct task_struct *p)
{
	return p->dl.deadline - p->se.cfs_rq->rq->clock;
}
#else /* unused: TRACE_NEEDS() removes the event */
#define tp_dl_left(p) 0
#endif

#if TAP_HAS_task_struct_dl_server
#define tp_by_server(p) ((p)->dl_server != NULL)
#else /* this kernel has no deadline servers */
#define tp_by_server(p) false
#endif

#if TAP_HAS_task_struct_dl_server && TAP_HAS_rq_fair_server && TAP_HAS_sched_entity_cfs_rq
/*
 * Return the kernel's DL_SERVER_* type of the deadline server that picked @p, 0 if none or unknown.
 * Each run queue has one server per class.
 */
static __always_inline u8 tp_server_type(const struct task_struct *p)
{
	const struct rq *rq = p->se.cfs_rq->rq;

	if (p->dl_server == &rq->fair_server)
		return 2;
#if TAP_HAS_rq_ext_server
	if (p->dl_server == &rq->ext_server)
		return 3;
#endif
	return 0;
}
#else /* this kernel has no deadline servers */
#define tp_server_type(p) 0
#endif

static __always_inline bool tp_task_yielded(const struct task_struct *p)
{
	return tp_dl_yielded(&p->dl);
}

static __always_inline int tp_dl_pid(struct sched_dl_entity *dl_se)
{
	return tp_dl_is_server(dl_se) ? 0 : container_of(dl_se, struct task_struct, dl)->pid;
}

static __always_inline void tp_dl_comm(char *to, struct sched_dl_entity *dl_se)
{
	if (tp_dl_is_server(dl_se))
		memset(to, 0, TASK_COMM_LEN);
	else
		tp_comm(to, container_of(dl_se, struct task_struct, dl));
}

/* ---- EEVDF ---- */

/* TRACE_NEEDS() removes sched_pick if queues lack the sums, or entities their queue. */

#define TAP_HAS_throttling TAP_IF_ANY(TAP_HAS_task_struct_throttled, TAP_HAS_cfs_rq_throttle_count)
#define TAP_IF_ANY(a, b) TAP_PASTE(TAP_ANY_, TAP_PASTE(a, b))
#define TAP_ANY_00 0
#define TAP_ANY_01 1
#define TAP_ANY_10 1
#define TAP_ANY_11 1

#if (TAP_HAS_cfs_rq_sum_weight || TAP_HAS_cfs_rq_avg_load) && TAP_HAS_sched_entity_cfs_rq

static __always_inline struct task_struct *tp_picked(struct task_struct *next)
{
#if TAP_HAS_rq_donor
	return next->se.cfs_rq->rq->donor;
#else
	return next;
#endif
}

static __always_inline struct cfs_rq *tp_se_queue(struct sched_entity *se)
{
#if TAP_HAS_sched_entity_h_load
	return &se->cfs_rq->rq->cfs;
#else
	return se->cfs_rq;
#endif
}

/*
 * Return the id of the queue's group: that of the cgroup in the cpu controller, or for an autogroup
 * (sched(7)), which is not a cgroup and has its own ids, the negative autogroup id.
 */
static __always_inline s32 tp_cfs_rq_group(const struct cfs_rq *cfs_rq)
{
#if TAP_HAS_task_group_autogroup && TAP_HAS_autogroup_id
	if (!cfs_rq->tg->css.id && cfs_rq->tg->autogroup)
		return -(s32)cfs_rq->tg->autogroup->id;
#endif
	return cfs_rq->tg->css.id;
}

static __always_inline unsigned long tp_se_weight(const struct sched_entity *se)
{
#if TAP_HAS_sched_entity_h_load
	return se->h_load.weight;
#else
	return se->load.weight;
#endif
}

/* Scale a weight as the queue's sums do: scale_load_down(), since v7.1 avg_vruntime_weight(). */
static __always_inline u64 tap_sum_weight(const struct cfs_rq *cfs_rq, u64 weight)
{
#if TAP_HAS_cfs_rq_sum_shift
	u32 shift = cfs_rq->sum_shift;
#else
	u32 shift = IS_ENABLED(CONFIG_64BIT) ? SCHED_FIXEDPOINT_SHIFT : 0;
#endif

	return shift ? max_t(u64, weight >> shift, 2) : weight;
}

static __always_inline u64 tap_vtime_zero(const struct cfs_rq *cfs_rq)
{
#if TAP_HAS_cfs_rq_zero_vruntime
	return cfs_rq->zero_vruntime;
#else
	return cfs_rq->min_vruntime;
#endif
}

/*
 * Return the queue's V like avg_vruntime() in kernel/sched/fair.c: rounded down, so an entity whose
 * v is equal or less is eligible.
 */
static __always_inline u64 tap_cfs_rq_vtime(const struct cfs_rq *cfs_rq)
{
#if TAP_HAS_cfs_rq_sum_weight
	s64 sum = cfs_rq->sum_w_vruntime;
	u64 load = cfs_rq->sum_weight;
#else
	s64 sum = cfs_rq->avg_vruntime;
	u64 load = cfs_rq->avg_load;
#endif
	u64 zero = tap_vtime_zero(cfs_rq);
	const struct sched_entity *curr = cfs_rq->curr;

	if (curr && curr->on_rq) {
		u64 weight = tap_sum_weight(cfs_rq, tp_se_weight(curr));

		sum += (curr->vruntime - zero) * weight;
		load += weight;
	}
	if (!load)
		return zero;
	return sum < 0 ? zero - div64_u64(load - 1 - sum, load) : zero + div64_u64(sum, load);
}
#define tp_cfs_rq_vtime(cfs_rq, se) tap_cfs_rq_vtime(cfs_rq) /* @se is only needed in BPF */

static __always_inline u32 tp_pick_words(struct task_struct *next)
{
	const struct sched_entity *se = &tp_picked(next)->se;

	if (TAP_HAS_sched_entity_h_load || se->cfs_rq->curr != se)
		return 0;
	return min_t(u32, se->depth, TAP_LEVELS_MAX) * TAP_LEVEL_WORDS;
}

/* Write one entity of .levels. memcpy(), because the array in a record may be unaligned. */
static __always_inline void tap_put_level(void *to, const struct sched_entity *se)
{
	u64 vtime = tap_cfs_rq_vtime(se->cfs_rq), v = se->vruntime;
	s64 level[TAP_LEVEL_WORDS] = {
		tp_cfs_rq_group(se->my_q),
		tp_se_weight(se),
		vtime,
		vtime - v,
#if TAP_HAS_sched_entity_deadline
		[4] = se->deadline - v,
#endif
#if TAP_HAS_sched_entity_vprot
		[5] = se->vprot - v,
#endif
#if TAP_HAS_sched_entity_slice
		[6] = se->slice,
#endif
	};

	memcpy(to, level, sizeof(level));
}

static __always_inline void tp_put_levels(void *to, u32 bytes, const struct sched_entity *se)
{
	for (u32 at = 0; at < bytes && se->parent; at += TAP_LEVEL_WORDS * sizeof(s64)) {
		se = se->parent;
		tap_put_level(to + at, se);
	}
}

static __always_inline bool tp_task_throttled(const struct task_struct *p)
{
#if TAP_HAS_task_struct_throttled
	return p->throttled;
#elif TAP_HAS_cfs_rq_throttle_count
	return p->se.cfs_rq->throttle_count;
#else
	return false;
#endif
}

#else /* unused: TRACE_NEEDS() removes the event */
#define tp_picked(next) (next)
#define tp_se_queue(se) ((struct cfs_rq *)NULL)
#define tp_cfs_rq_group(cfs_rq) 0
#define tp_se_weight(se) 0
#define tp_cfs_rq_vtime(cfs_rq, se) 0
#define tp_pick_words(next) 0
#define tp_put_levels(to, bytes, se) (void)(to)
#define tp_task_throttled(p) false
#endif

#if TAP_HAS_sched_entity_vprot
#define tp_se_vprot(se) ((se)->vprot)
#endif
#if TAP_HAS_sched_entity_sched_delayed
#define tp_se_delayed(se) ((se)->sched_delayed)
#endif
#if TAP_HAS_sched_entity_custom_slice
#define tp_se_custom_slice(se) ((se)->custom_slice)
#endif
#if TAP_HAS_task_struct_is_blocked
#define tp_task_blocked(p) ((p)->is_blocked)
#endif
#if TAP_HAS_task_struct_preferred_llc
#define tp_task_llc(p) ((p)->preferred_llc)
#endif
#if TAP_HAS_cfs_rq_h_nr_queued
#define tp_cfs_rq_h_nr_queued(cfs_rq) ((cfs_rq)->h_nr_queued)
#endif
#if TAP_HAS_cfs_rq_h_nr_runnable
#define tp_cfs_rq_h_nr_runnable(cfs_rq) ((cfs_rq)->h_nr_runnable)
#endif

/* ---- text ---- */

/*
 * Called when a record is printed, long after it was written. The path is written to the trace_seq
 * @p and remains valid as long as the reader's text: until the same CPU prints the next record.
 * Readers print with preemption disabled or into a buffer of their own.
 */
const char *tap_cgroup_path(struct trace_seq *p, u64 id);
#define tp_cgroup_path(id) tap_cgroup_path(p, id)

#endif
