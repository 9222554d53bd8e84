/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What events (vocabulary.h) and the tally read of a task. */
#ifndef TAP_BPF_TASK_H
#define TAP_BPF_TASK_H

static __always_inline int tp_task_cpu(struct task_struct *p)
{
	if (bpf_core_field_exists(p->thread_info.cpu))
		return p->thread_info.cpu;
	return ((struct task_struct___cpu *)p)->cpu;
}

static __always_inline bool tp_se_delayed(struct sched_entity *se)
{
	return bpf_core_field_exists(se->sched_delayed) && se->sched_delayed;
}

/* Before v6.18 the queue is throttled, not the task. */
static __always_inline bool tp_task_throttled(struct task_struct *p)
{
	if (bpf_core_field_exists(p->throttled))
		return p->throttled;
	return bpf_core_field_exists(p->se.cfs_rq->throttle_count) && p->se.cfs_rq->throttle_count;
}

#endif
