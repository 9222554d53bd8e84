// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An independent check: counts what the scheduler's tracepoints report about one thread. It shares
 * no code with bpf/ except the kernel's types.
 */
#include "kernel_types.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "counter.h"

const volatile int target;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct counters);
} counts SEC(".maps");

static struct counters *all(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

static bool is_current(void)
{
	return (int)bpf_get_current_pid_tgid() == target;
}

static void add(struct counter_sum *s, u64 value)
{
	__sync_fetch_and_add(&s->nr, 1);
	__sync_fetch_and_add(&s->sum, value);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(count_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	struct counters *c = all();
	u64 now = bpf_ktime_get_ns();

	if (!c || (prev->pid != target && next->pid != target))
		return 0;
	__sync_fetch_and_add(&c->kinds[COUNT_SWITCH].any, 1);
	if (!c->first_ns)
		c->first_ns = now;
	c->last_ns = now;
	if (next->pid == target) {
		add(&c->kinds[COUNT_SWITCH].of[1], next->prio);
		return 0;
	}
	add(&c->kinds[COUNT_SWITCH].of[0], prev->prio);
	if (preempt)
		c->states[STATE_PREEMPTED]++;
	else if (!prev_state)
		c->states[STATE_RUNNING]++;
	else if (prev_state & 0x80) /* TASK_DEAD */
		c->states[STATE_DEAD]++;
	else if (prev_state & 2)
		c->states[STATE_BLOCKED]++;
	else
		c->states[STATE_SLEEPS]++;
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(count_waking, struct task_struct *p)
{
	struct counters *c = all();

	if (!c)
		return 0;
	if (p->pid == target || is_current())
		__sync_fetch_and_add(&c->kinds[COUNT_WAKING].any, 1);
	if (p->pid == target)
		add(&c->kinds[COUNT_WAKING].of[0], p->prio);
	return 0;
}

/*
 * Return true for the entity of the thread itself, not of a cgroup, which has a queue of its own.
 */
static bool is_target_se(struct sched_entity *se)
{
	struct task_struct *p = (void *)se - bpf_core_field_offset(struct task_struct, se);

	if (bpf_core_field_exists(se->my_q) && BPF_CORE_READ(se, my_q))
		return false;
	return BPF_CORE_READ(p, pid) == target;
}

SEC("tp_btf/pelt_se_tp")
int BPF_PROG(count_pelt_se, struct sched_entity *se)
{
	struct counters *c = all();
	struct counter *k;
	bool own = is_target_se(se);

	if (!c || (!own && !is_current()))
		return 0;
	k = &c->kinds[COUNT_PELT_SE];
	__sync_fetch_and_add(&k->any, 1);
	if (!own)
		return 0;
	add(&k->of[0], BPF_CORE_READ(se, avg.load_avg));
	add(&k->of[1], BPF_CORE_READ(se, avg.util_avg));
	add(&k->of[2], BPF_CORE_READ(se, avg.last_update_time));
	return 0;
}

SEC("tp_btf/sched_util_est_se_tp")
int BPF_PROG(count_util_est_se, struct sched_entity *se)
{
	struct counters *c = all();
	struct sched_avg___before_6_8 *old = (void *)&se->avg;
	struct counter *k;
	bool own = is_target_se(se);
	u32 est;

	if (!c || (!own && !is_current()))
		return 0;
	k = &c->kinds[COUNT_UTIL_EST_SE];
	__sync_fetch_and_add(&k->any, 1);
	if (!own)
		return 0;
	if (bpf_core_field_exists(old->util_est.enqueued))
		est = BPF_CORE_READ(old, util_est.enqueued);
	else
		est = BPF_CORE_READ(se, avg.util_est);
	add(&k->of[0], est % 0x80000000u);
	add(&k->of[1], BPF_CORE_READ(se, avg.util_avg));
	return 0;
}

SEC("tp_btf/sched_update_nr_running_tp")
int BPF_PROG(count_nr_running, struct rq *rq, int change)
{
	struct counters *c = all();

	if (!c || !is_current())
		return 0;
	__sync_fetch_and_add(&c->kinds[COUNT_NR_RUNNING].any, 1);
	add(&c->kinds[COUNT_NR_RUNNING].of[0], BPF_CORE_READ(rq, nr_running));
	add(&c->kinds[COUNT_NR_RUNNING].of[1], change);
	return 0;
}

SEC("tp_btf/sched_entry_tp")
int BPF_PROG(count_entry, bool preempt)
{
	struct counters *c = all();

	if (!c || !is_current())
		return 0;
	__sync_fetch_and_add(&c->kinds[COUNT_ENTRY].any, 1);
	add(&c->kinds[COUNT_ENTRY].of[0], preempt);
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int BPF_PROG(count_exit, bool is_switch)
{
	struct counters *c = all();

	if (!c || !is_current())
		return 0;
	__sync_fetch_and_add(&c->kinds[COUNT_EXIT].any, 1);
	add(&c->kinds[COUNT_EXIT].of[0], is_switch);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(count_process_exit, struct task_struct *p)
{
	struct counters *c = all();

	if (!c || p->pid != target)
		return 0;
	__sync_fetch_and_add(&c->kinds[COUNT_PROCESS_EXIT].any, 1);
	add(&c->kinds[COUNT_PROCESS_EXIT].of[0], p->prio);
	return 0;
}

char _license[] SEC("license") = "GPL";
