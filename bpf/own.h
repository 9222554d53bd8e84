/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions for programs that are generated at run time, for events whose definitions are not in
 * this object (src/record/program/recorder.h). The generator copies these functions after its
 * program or, for taking and committing a record, inline into it. It copies them from the program
 * at the end of this file, which is loaded but never attached.
 */
#ifndef TAP_BPF_OWN_H
#define TAP_BPF_OWN_H

#include "gate.h"
#include "own_functions.h"
#include "scope.h"
#include "stacks.h"
#include "transport.h"
#include "vocabulary.h"

static __noinline int tap_own_cpu_wanted(void)
{
	return tap_cpu_wanted();
}

static __noinline int tap_own_task_wanted(struct task_struct *p)
{
	return tap_task_wanted(p);
}

static __noinline int tap_own_se_wanted(struct sched_entity *se)
{
	return tap_se_wanted(se);
}

static __noinline u32 tap_own_capacity(u32 cpu)
{
	return tap_cpu_scale[cpu & 8191];
}

static __noinline struct tap_rec *tap_own_take(u32 space)
{
	struct tap_taken taken;

	return tap_take(space, TAP_STAMP_OWN, NULL, &taken);
}

static __noinline u32 tap_own_text(void *payload, u32 used, u32 max, const void *src)
{
	struct tap_fill fill = { .used = used };

	return tap_put_string(payload, &fill, src, max & 0x1ff);
}

static __noinline u32 tap_own_user_text(void *payload, u32 used, u32 max, const void *src)
{
	struct tap_fill fill = { .used = used };
	u32 at = used & 0x3ff;

	return tap_end_string(payload, &fill, at,
			      bpf_probe_read_user_str(payload + at, max & 0x1ff, src));
}

static __noinline u32 tap_own_bitmask(void *payload, u32 used, u32 bytes, const void *src)
{
	struct tap_fill fill = { .used = used };

	return tap_put_bitmask(payload, &fill, src, bytes * 8);
}

const volatile bool tap_own_has_stacks = false; /* true: some generated events have stacks */

/*
 * Record the stacks of event @rec, which is not committed yet, in the space that was taken along
 * with it.
 */
static __noinline void tap_own_stacks(void *ctx, struct tap_rec *rec, u32 space, u32 wanted)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct tap_ring *ring = bpf_map_lookup_elem(&tap_rings, &cpu);
	struct tap_taken taken = { ring, (u64)((void *)rec - (void *)ring) - TAP_RING_DATA };

	if (ring)
		tap_stacks_put(ctx, &taken, rec, space, wanted);
}

static __noinline void tap_own_commit(struct tap_rec *rec, u32 space, u32 used)
{
	tap_commit(rec, space, used);
}

static __noinline int tap_own_is_on(u32 which)
{
	return tap_is_on(which);
}

static __noinline void tap_own_pull_trigger(u32 trigger)
{
	tap_pull_trigger(trigger);
}

static __noinline int tap_own_pass_gate(u32 event, u32 tracing)
{
	return tap_pass_gate(event, tracing);
}

/*
 * Calls each function once, so that libbpf appends all of them to this program. The arguments are
 * volatile: if the compiler knew their values, it would specialize the functions.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(tap_own_functions, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	volatile u32 space = 64, used = 8, max = 16;
	struct tap_rec *rec;

	if (!tap_own_cpu_wanted() || !tap_own_task_wanted(prev) || !tap_own_se_wanted(&prev->se))
		return 0;
	max += tap_own_capacity(used) & 7;
	rec = tap_own_take(space);
	if (!rec)
		return 0;
	used = tap_own_text(rec + 1, used, max, prev->comm);
	used = tap_own_user_text(rec + 1, used, max, prev->comm);
	used = tap_own_bitmask(rec + 1, used, max, next->comm);
	if (tap_own_has_stacks)
		tap_own_stacks(ctx, rec, space, max);
	tap_own_commit(rec, space, used);
	if (!tap_own_is_on(max))
		return 0;
	tap_own_pull_trigger(max);
	return tap_own_pass_gate(max, used);
}

#endif
