/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks which tasks are throttled, and until when. No event marks the end: the timers that refill
 * quotas and budgets fire no scheduler tracepoint. So throttled tasks are kept in a set, which is
 * checked after each expiry of such a timer.
 *
 * All members are read with bpf_core_read() or after a cast (cast.h), because a task in the set may
 * have been freed meanwhile, and a timer may have been on a stack that is gone.
 */
#ifndef TAP_BPF_THROTTLED_H
#define TAP_BPF_THROTTLED_H

#define TAP_THROTTLED_MAX 8192 /* tasks at once; for others sched_unthrottle is not recorded */
#define TAP_THROTTLED_MAX_DEPTH 16 /* nesting depth of cgroups */
#define TAP_THROTTLED_MAX_QUEUE 8192 /* fair tasks per CPU that are examined */

enum tap_throttled_by { TAP_BY_NONE, TAP_BY_QUOTA, TAP_BY_BUDGET, TAP_BY_REAL_TIME };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TAP_THROTTLED_MAX);
	__type(key, u64); /* address of the task_struct */
	__type(value, u32); /* enum tap_throttled_by */
} tap_throttled SEC(".maps");

u32 tap_nr_throttled; /* in the set */
/* those throttled by the real-time share; their timer is not a member of a task or cgroup */
u32 tap_nr_rt_throttled;

/*
 * Functions of the three kinds of timers, learned from the first throttled task: every task has a
 * budget timer, and every cgroup a period and a slack timer.
 */
void *tap_period_function, *tap_slack_function, *tap_budget_function;

#define tap_any_rq(p) BPF_CORE_READ(p, se.cfs_rq, rq)

static __always_inline int tp_any_pid(struct task_struct *p)
{
	return BPF_CORE_READ(p, pid);
}

static __always_inline int tp_any_cpu(struct task_struct *p)
{
	return BPF_CORE_READ(p, se.cfs_rq, rq, cpu);
}

static __always_inline void tp_any_comm(char *to, struct task_struct *p)
{
	bpf_core_read(to, 16, &p->comm);
}

static __always_inline bool tap_rt_throttled(struct task_struct *p)
{
	struct rq *rq = tap_any_rq(p);

	return bpf_core_field_exists(rq->rt.rt_throttled) && BPF_CORE_READ(rq, rt.rt_throttled);
}

/* Since v6.18 tasks are throttled; before that, the queue that a task is in. */
static __always_inline bool tap_quota_used(struct task_struct *p)
{
	if (tap_has_cast)
		return tp_task_throttled(tap_cast_task(p));
	if (bpf_core_field_exists(p->throttled))
		return BPF_CORE_READ(p, throttled);
	return BPF_CORE_READ(p, se.cfs_rq, throttle_count);
}

static __always_inline u32 tp_throttled_by(struct task_struct *p)
{
	int prio = tap_has_cast ? tap_cast_task(p)->prio : BPF_CORE_READ(p, prio);

	if (prio < 0)
		return BPF_CORE_READ_BITFIELD_PROBED(p, dl.dl_throttled) ? TAP_BY_BUDGET
									 : TAP_BY_NONE;
	if (prio < 100)
		return tap_rt_throttled(p) ? TAP_BY_REAL_TIME : TAP_BY_NONE;
	return tap_quota_used(p) ? TAP_BY_QUOTA : TAP_BY_NONE;
}

/*
 * Return true if one of the task's queues is throttled and has no runtime left. A queue that
 * already got runtime, but is unthrottled later by an interrupt on its CPU, does not count.
 */
static __always_inline bool tap_waits_for_quota(struct task_struct *p)
{
	struct sched_entity *se = &p->se;

#pragma clang loop unroll(disable)
	for (u32 i = 0; se && i < TAP_THROTTLED_MAX_DEPTH; i++) {
		struct cfs_rq *cfs_rq = BPF_CORE_READ(se, cfs_rq);

		if (BPF_CORE_READ_BITFIELD_PROBED(cfs_rq, throttled) &&
		    BPF_CORE_READ(cfs_rq, runtime_remaining) <= 0)
			return true;
		se = BPF_CORE_READ(se, parent);
	}
	return false;
}

static __always_inline bool tap_is_still_throttled(struct task_struct *p, u32 by)
{
	if (by == TAP_BY_BUDGET)
		return BPF_CORE_READ_BITFIELD_PROBED(p, dl.dl_throttled);
	return by == TAP_BY_REAL_TIME ? tap_rt_throttled(p) : tap_waits_for_quota(p);
}

static __always_inline void tap_learn_timers(struct task_struct *p)
{
	struct task_group *tg = BPF_CORE_READ(p, se.cfs_rq, tg);

	tap_period_function = BPF_CORE_READ(tg, cfs_bandwidth.period_timer.function);
	tap_slack_function = BPF_CORE_READ(tg, cfs_bandwidth.slack_timer.function);
	tap_budget_function = BPF_CORE_READ(p, dl.dl_timer.function);
}

/* Add a throttled task to the set. Return: true if the task is throttled and was not in the set. */
static __always_inline bool tp_throttles(struct task_struct *p)
{
	u32 by = tp_throttled_by(p);
	u64 key = (u64)p;

	if (!by)
		return false;
	if (!tap_period_function)
		tap_learn_timers(p);
	if (bpf_map_update_elem(&tap_throttled, &key, &by, BPF_NOEXIST))
		return !bpf_map_lookup_elem(&tap_throttled, &key); /* true: the set is full */
	__sync_fetch_and_add(&tap_nr_throttled, 1);
	if (by == TAP_BY_REAL_TIME)
		__sync_fetch_and_add(&tap_nr_rt_throttled, 1);
	return true;
}

/* ---- other tasks of a queue, which are throttled together before v6.18 ---- */

/*
 * bpf_loop() and bpf_for_each_map_elem() call back without a context, so these records have no
 * stack.
 */
static __always_inline void record_sched_throttle(void *ctx, struct task_struct *known,
						  bool preempt, struct task_struct *prev,
						  struct task_struct *next,
						  unsigned int prev_state);

struct tap_queue_walk {
	struct list_head *at, *end;
	struct task_struct *prev, *next;
};

static long tap_throttle_next(u32 i, struct tap_queue_walk *walk)
{
	struct list_head *at = walk->at;
	struct sched_entity *se;
	struct task_struct *p;

	if (!at || at == walk->end)
		return 1;
	walk->at = BPF_CORE_READ(at, next);
	se = (void *)at - bpf_core_field_offset(struct sched_entity, group_node);
	p = tap_se_task(se);
	/* skip tasks that sleep but are still queued (delayed dequeue) */
	if (p != walk->prev &&
	    !(bpf_core_field_exists(se->sched_delayed) && BPF_CORE_READ(se, sched_delayed)))
		record_sched_throttle(NULL, NULL, true, p, walk->next, 0);
	return 0;
}

/*
 * Record sched_throttle for the other tasks of the CPU's fair queue if prev's queue is throttled
 * and the kernel is older than v6.18. Return: @prev.
 */
static __always_inline struct task_struct *tp_throttle_queue(struct task_struct *prev,
							     struct task_struct *next)
{
	struct tap_queue_walk walk = { .prev = prev, .next = next };
	struct rq *rq;

	if (bpf_core_field_exists(prev->throttled) || !prev->se.cfs_rq->throttle_count)
		return prev;
	rq = prev->se.cfs_rq->rq;
	walk.end = (void *)rq + bpf_core_field_offset(rq->cfs_tasks);
	walk.at = BPF_CORE_READ(rq, cfs_tasks.next);
	bpf_loop(TAP_THROTTLED_MAX_QUEUE, tap_throttle_next, &walk, 0);
	return prev;
}

/* ---- end of throttling ---- */

static __always_inline void record_sched_unthrottle(void *ctx, struct task_struct *known,
						    struct task_struct *p);

struct bpf_map;

static long tap_look_at_throttled(struct bpf_map *map, const u64 *key, u32 *by, void *ctx)
{
	struct task_struct *p = (struct task_struct *)*key;
	u32 was = *by;

	if (tap_is_still_throttled(p, was) || bpf_map_delete_elem(&tap_throttled, key))
		return 0;
	__sync_fetch_and_add(&tap_nr_throttled, -1);
	if (was == TAP_BY_REAL_TIME)
		__sync_fetch_and_add(&tap_nr_rt_throttled, -1);
	record_sched_unthrottle(NULL, NULL, p);
	return 0;
}

/*
 * Record sched_unthrottle for all tasks that are no longer throttled, if @timer may have refilled
 * them.
 * Return: NULL, so that the caller, the program of sched_unthrottle, records nothing more.
 */
static __always_inline struct task_struct *tp_each_unthrottled(void *timer)
{
	void *function;

	if (!*(volatile u32 *)&tap_nr_throttled)
		return NULL;
	function = BPF_CORE_READ((struct hrtimer *)timer, function);
	if (function == tap_period_function || function == tap_slack_function ||
	    function == tap_budget_function || *(volatile u32 *)&tap_nr_rt_throttled)
		bpf_for_each_map_elem(&tap_throttled, tap_look_at_throttled, NULL, 0);
	return NULL;
}

#endif
