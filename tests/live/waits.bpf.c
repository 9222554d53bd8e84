// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's programs, which also report each wait (waits.h), and witnesses, which take the times
 * by which two tallies may differ.
 */
#include "kernel_types.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "tally_maps.h"
#include "waits.h"

#define ON_RQ_MIGRATING 2

struct task_struct___more {
	unsigned int on_rq, on_cpu; /* u8 since v7.2; libbpf only adjusts unsigned ones */
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 20);
} waits SEC(".maps");

u64 lost_waits SEC(".bss.waits");

/* by tid % TAP_TALLY_TAGS */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TAP_TALLY_TAGS);
	__type(key, u32);
	__type(value, struct wait_seen);
} seen SEC(".maps");

/* The time of a switch, from the first tally to the second; 0: the second has taken it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} switch_clock SEC(".maps");

/* What this object's tally took as the time of the current switch. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} own_clock SEC(".maps");

static __always_inline u64 own_time(void)
{
	u32 zero = 0;
	u64 *own = bpf_map_lookup_elem(&own_clock, &zero);

	return own ? *own : 0;
}

static __always_inline u64 shared_clock(bool is_first)
{
	u32 zero = 0;
	u64 *shared = bpf_map_lookup_elem(&switch_clock, &zero);
	u64 *own = bpf_map_lookup_elem(&own_clock, &zero), now = bpf_ktime_get_ns();

	if (!shared || !own)
		return now;
	if (!is_first && *shared)
		now = *shared;
	*shared = is_first ? now : 0;
	*own = now;
	return now;
}

static __always_inline void wait_ended(struct task_struct *next, u64 ns, u32 kind, u32 reason);

#define TAP_WAIT_ENDED wait_ended
#define TAP_SWITCH_CLOCK() shared_clock(!tap_from_waking)
#include "tally.bpf.c"

static __always_inline struct wait_seen *seen_of(struct task_struct *p)
{
	u32 i = (u32)p->pid % TAP_TALLY_TAGS;

	return bpf_map_lookup_elem(&seen, &i);
}

static __always_inline s64 own_offset(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct tap_tally_cpu *c = bpf_map_lookup_elem(&tap_cpus, &cpu);

	return c ? tap_tally_offset(c) : TAP_TALLY_NO_OFFSET;
}

static __always_inline void wait_ended(struct task_struct *next, u64 ns, u32 kind, u32 reason)
{
	/* not on the stack, which is nearly full */
	struct wait_record *r = bpf_ringbuf_reserve(&waits, sizeof(*r), 0);
	struct wait_seen *s = seen_of(next);

	if (!r) {
		__sync_fetch_and_add(&lost_waits, 1);
		return;
	}
	*r = (struct wait_record){ .tid = next->pid,
				   .kind = kind,
				   .reason = reason,
				   .run = next->sched_info.pcount,
				   .at_ns = own_time(),
				   .ns = ns,
				   .offset_ns = own_offset() };
	if (s && s->task == (u64)next) {
		r->seen = *s;
		if (s->nr_moves)
			r->seen.moves_ns += next->sched_info.last_queued - s->moved_clock;
	} else if (s) {
		r->is_other = !!s->task;
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(test_fork, struct task_struct *parent, struct task_struct *child)
{
	struct wait_seen *s = seen_of(child);

	if (s)
		*s = (struct wait_seen){ .task = (u64)child, .forked_ns = bpf_ktime_get_ns() };
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(test_waking, struct task_struct *p)
{
	struct wait_seen *s = seen_of(p);

	if (s && s->task == (u64)p) {
		s->waking_ns = bpf_ktime_get_ns();
		s->was_on_cpu = ((struct task_struct___more *)p)->on_cpu;
		__sync_fetch_and_add(&s->nr_unpaired, 1);
	}
	return 0;
}

/* The task is in a run queue by now. */
static __always_inline int woken(struct task_struct *p)
{
	struct wait_seen *s = seen_of(p);

	if (s && s->task == (u64)p)
		s->wakeup_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(test_wakeup, struct task_struct *p)
{
	struct wait_seen *s = seen_of(p);

	if (s && s->task == (u64)p)
		__sync_fetch_and_add(&s->nr_unpaired, -1);
	return woken(p);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(test_wakeup_new, struct task_struct *p)
{
	return woken(p);
}

/* A task that is moved was taken out of its old queue at that queue's clock. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(test_migrate, struct task_struct *p)
{
	struct wait_seen *s = seen_of(p);
	u64 clock = p->se.cfs_rq->rq->clock, delay = p->sched_info.run_delay;

	if (!s || s->task != (u64)p)
		return 0;
	if (bpf_core_field_exists(p->se.sched_delayed) && p->se.sched_delayed)
		s->is_delayed = 1;
	if (((struct task_struct___more *)p)->on_rq != ON_RQ_MIGRATING)
		return 0;
	if (s->nr_moves++) /* since the last move it waited for the difference of the sums */
		s->moves_ns += clock - (delay - s->moved_delay) - s->moved_clock;
	s->moved_clock = clock;
	s->moved_delay = delay;
	return 0;
}

/* Attached between the two tallies. */
SEC("tp_btf/sched_switch")
int BPF_PROG(test_switch, bool preempt, struct task_struct *prev)
{
	struct wait_seen *s = seen_of(prev);

	if (!s || !prev->pid)
		return 0;
	if (s->task != (u64)prev)
		*s = (struct wait_seen){ .task = (u64)prev };
	/* another CPU may wake it now: do not write what wakings write */
	s->out_ns = own_time();
	s->out_offset_ns = own_offset();
	s->out_state = prev->__state;
	s->is_preempted = preempt;
	s->wakeup_ns = s->nr_moves = s->moves_ns = s->is_delayed = 0;
	return 0;
}
