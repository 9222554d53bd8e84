// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's programs, which also report each wait (waits.h), and a program of the test's own that
 * measures how long a wakeup takes.
 */
#include "kernel_types.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "tally_maps.h"
#include "waits.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} waits SEC(".maps");

u64 lost_waits SEC(".bss.waits");

/* How long the last wakeup of a task took until the task was queued, by tid. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TAP_TALLY_TAGS);
	__type(key, u32);
	__type(value, u64);
} wakeups SEC(".maps");

static __always_inline void wait_ended(struct task_struct *next, u64 ns, u32 kind, u32 reason)
{
	struct wait_record r = { .tid = next->pid,
				 .kind = kind,
				 .reason = reason,
				 .run = next->sched_info.pcount,
				 .ns = ns };
	u32 i = r.tid % TAP_TALLY_TAGS;
	u64 *wakeup_ns = bpf_map_lookup_elem(&wakeups, &i);

	if (wakeup_ns) {
		r.wakeup_ns = *wakeup_ns;
		*wakeup_ns = 0;
	}
	if (bpf_ringbuf_output(&waits, &r, sizeof(r), BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&lost_waits, 1);
}

/* The time of a switch, from the first program to the second. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} switch_clock SEC(".maps");

static __always_inline u64 shared_clock(bool is_first)
{
	u32 zero = 0;
	u64 *shared = bpf_map_lookup_elem(&switch_clock, &zero), now = bpf_ktime_get_ns();

	if (!shared)
		return now;
	if (!is_first && *shared)
		now = *shared;
	*shared = is_first ? now : 0;
	return now;
}

#define TAP_WAIT_ENDED wait_ended
#define TAP_SWITCH_CLOCK() shared_clock(!tap_from_waking)
#include "tally.bpf.c"

/* The task is in a run queue by now. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(test_wakeup, struct task_struct *p)
{
	struct tap_tally_tag *tag = tap_tag(p);
	u32 i = p->pid % TAP_TALLY_TAGS;
	u64 *wakeup_ns = bpf_map_lookup_elem(&wakeups, &i);

	if (wakeup_ns && tag && tag->task == (u64)p && tag->ns)
		*wakeup_ns = bpf_ktime_get_ns() - tag->ns;
	return 0;
}
