/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tp_*() words of events/, as the module reads them: under a run-queue lock, so none takes a
 * lock, sleeps or builds a text, but for tp_cgroup_path(), which is asked when a record is printed.
 * TAP_HAS_<struct>_<member> comes from layout.h: 1 or 0.
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

/* tp_if(<struct>_<member>, ...): what follows, where the kernel has that member. */
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
#else /* without group scheduling there is no other: it is part of the run queue */
	return container_of(cfs_rq, struct rq, cfs);
#endif
}

static __always_inline struct cgroup *tap_cfs_rq_cgroup(struct cfs_rq *cfs_rq)
{
#if TAP_HAS_cfs_rq_tg
	return cfs_rq->tg->css.cgroup; /* NULL: an autogroup */
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

/* Of a cgroup: its own queue; of a task: NULL. */
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
	return &rq->avg_rt; /* never asked for: TRACE_NEEDS() takes the event away */
#endif
}

static __always_inline struct sched_avg *tp_rq_avg_hw(struct rq *rq)
{
#if TAP_HAS_rq_avg_hw
	return &rq->avg_hw;
#elif TAP_HAS_rq_avg_thermal
	return &rq->avg_thermal;
#else
	return &rq->avg_rt; /* as above */
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

/* Kbuild has looked whether modules may use it; some architectures have none. */
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
	return 0; /* never asked for: TRACE_NEEDS() takes the event away */
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
	return 0; /* as above */
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

/*
 * When a record is printed, long after it was made. The text is the reader's: it stands until the
 * same CPU prints the next one, and readers print with preemption off or in a buffer of their own.
 */
const char *tap_cgroup_path(struct trace_seq *p, u64 id);
#define tp_cgroup_path(id) tap_cgroup_path(p, id)

#endif
