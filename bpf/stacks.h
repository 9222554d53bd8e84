/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks of events (`record --stack`). Each distinct stack has a number. An event's stack record
 * holds just that number; the return addresses are passed to the recorder once (stack_maps.h).
 */
#ifndef TAP_BPF_STACKS_H
#define TAP_BPF_STACKS_H

#include "stack_maps.h"
#include "transport.h"

/* Indexed by event. Constants to the verifier, so that events without stacks have no stack code. */
const volatile u32 tap_stacks_of[TAP_STACK_EVENTS];
const volatile u32 tap_stacks_max = 1;
const volatile u64 tap_stack_log_bytes = 4096; /* a power of two */
/* random, so that no program can construct stacks with equal hashes */
const volatile u64 tap_stack_seed = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, TAP_RING_DATA + 4096 + TAP_RING_SLACK);
} tap_stack_log SEC(".maps");

/*
 * Maps a stack's hash to its number. Preallocated, because programs may run where memory cannot be
 * allocated.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} tap_stack_numbers SEC(".maps");

/* Space of one stack record of an event. */
#define TAP_STACK_SPACE ((u32)(sizeof(struct tap_rec) + sizeof(struct raw_stack) + 7) & ~7u)

static __always_inline struct tap_stack_counts *tap_stack_counts(void *log)
{
	return log + TAP_STACK_COUNTS_AT;
}

static __always_inline void tap_stack_unread(void)
{
	u32 zero = 0;
	void *log = bpf_map_lookup_elem(&tap_stack_log, &zero);

	if (log)
		__sync_fetch_and_add(&tap_stack_counts(log)->unread, 1);
}

static __always_inline struct tap_rec *tap_stack_log_take(struct tap_ring *log, u32 space)
{
#pragma clang loop unroll(disable)
	for (int i = 0; i < 4; i++) {
		u64 head = *(volatile u64 *)&log->head;

		if (head + space - *(volatile u64 *)&log->tail > tap_stack_log_bytes)
			return NULL;
		if (__sync_val_compare_and_swap(&log->head, head, head + space) == head)
			return (void *)log + TAP_RING_DATA + (head & (tap_stack_log_bytes - 8));
	}
	return NULL;
}

#include "stack_look.h"

/*
 * More than one buffer per CPU: an interrupt or a preempting task may record an event while another
 * event's stack is being read.
 */
#define TAP_STACK_BUFFERS 4
struct tap_stack_buffer {
	u64 addrs[TAP_STACK_MAX_DEPTH + 1];
	struct tap_stack_memory memory;
	u32 busy, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TAP_STACK_BUFFERS);
	__type(key, u32);
	__type(value, struct tap_stack_buffer);
} tap_stack_buffers SEC(".maps");

/*
 * Assign a number to a new stack and log it. If another CPU adds the same stack at the same time,
 * its number is used. Return: the number; 0: the stack was not stored.
 */
static __always_inline u32 tap_stack_add(struct tap_stack_buffer *b, u32 bytes, u32 depth, u32 tgid,
					 u64 hash)
{
	u32 zero = 0, space = sizeof(struct tap_rec) + sizeof(struct tap_stack_new) + bytes, number;
	struct tap_ring *log = bpf_map_lookup_elem(&tap_stack_log, &zero);
	struct tap_stack_counts *counts;
	struct tap_stack_new *stack;
	struct tap_rec *rec;

	if (!log)
		return 0;
	counts = tap_stack_counts(log);
	if (*(volatile u32 *)&counts->last >= tap_stacks_max) {
		__sync_fetch_and_add(&counts->full, 1);
		return 0;
	}
	rec = tap_stack_log_take(log, space);
	if (!rec) {
		__sync_fetch_and_add(&counts->unread, 1);
		return 0;
	}
	stack = (struct tap_stack_new *)(rec + 1);
	number = __sync_fetch_and_add(&counts->last, 1) + 1;
	if (bpf_map_update_elem(&tap_stack_numbers, &hash, &number, BPF_NOEXIST)) {
		u32 *others = bpf_map_lookup_elem(&tap_stack_numbers, &hash);

		number = 0;
		stack->number = 0; /* an empty entry */
		tap_make_real(rec, space, sizeof(*stack));
		if (others)
			return *others;
		__sync_fetch_and_add(&counts->unread, 1);
		return 0;
	}
	stack->number = number;
	stack->tgid = tgid;
	stack->depth = depth;
	bpf_probe_read_kernel(stack->addrs, bytes & 1023, b->addrs);
	tap_make_real(rec, space, sizeof(*stack) + bytes);
	return number;
}

static __always_inline u32 tap_stack_number(struct tap_stack_buffer *b, u32 bytes, u32 depth,
					    u32 tgid)
{
	u64 hash = tap_stack_seed ^ ((u64)depth << 32 | tgid);
	/*
	 * Not @bytes: the verifier would track a different range of it for each iteration at which
	 * the loop may end, and would verify the code that follows once for each.
	 */
	u32 nr = bytes / sizeof(u64), *number;
	u64 factor = 0x9e3779b97f4a7c15ull;

	/*
	 * Loaded before the loop: if this two-word instruction is the first one of the loop, v6.1's
	 * verifier takes its second half for the target of the back edge.
	 */
	asm volatile("" : "+r"(factor));
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < TAP_STACK_MAX_DEPTH && i < nr; i++) {
		hash = (hash ^ b->addrs[i]) * factor;
		hash ^= hash >> 32;
	}
	number = bpf_map_lookup_elem(&tap_stack_numbers, &hash);
	return number ? *number : tap_stack_add(b, bytes, depth, tgid, hash);
}

static __always_inline struct tap_stack_buffer *tap_stack_buffer(void)
{
#pragma clang loop unroll(disable)
	for (u32 i = 0; i < TAP_STACK_BUFFERS; i++) {
		u32 at = i;
		struct tap_stack_buffer *b = bpf_map_lookup_elem(&tap_stack_buffers, &at);

		if (b && !__sync_lock_test_and_set(&b->busy, 1))
			return b;
	}
	return NULL;
}

/* @flags: those of bpf_get_stack(). Return: the number of the current stack; 0: unknown. */
static __always_inline u32 tap_stack_read(void *ctx, u32 depth, u64 flags)
{
	struct tap_stack_buffer *b = tap_stack_buffer();
	u32 number = 0, size = (depth + (flags ? 0 : TAP_STACK_OWN_FRAMES)) * sizeof(u64), tgid = 0;
	long bytes;

	if (!b) {
		tap_stack_unread();
		return 0;
	}
	if (size > sizeof(b->addrs) - sizeof(u64))
		size = sizeof(b->addrs) - sizeof(u64);
	if (flags & BPF_F_USER_STACK) {
		tgid = bpf_get_current_pid_tgid() >> 32;
	} else if (tap_stack_look_sets) {
		tap_stack_find(&b->memory, ctx, depth);
		number = tap_stack_look(&b->memory);
		if (number)
			goto out;
	}
	bytes = bpf_get_stack(ctx, b->addrs, size, flags);
	if (bytes > 0)
		number = tap_stack_number(b, bytes & 1023, depth, tgid);
	else if (bytes < 0)
		tap_stack_unread();
	if (number && !tgid && tap_stack_look_sets)
		tap_stack_show(&b->memory, b->addrs, bytes & 1023, number);
out:
	*(volatile u32 *)&b->busy = 0;
	return number;
}

/* Space of an event's stack records in the ring, which follow its own record. */
static __always_inline u32 tap_stacks_space(u32 wanted)
{
	return ((wanted & TAP_STACK_KERNEL ? 1 : 0) + (wanted & TAP_STACK_USER ? 1 : 0)) *
	       TAP_STACK_SPACE;
}

static __always_inline void tap_stack_put(struct tap_rec *of, struct tap_rec *rec, u32 type,
					  u32 number)
{
	struct raw_stack *entry = (struct raw_stack *)(rec + 1);

	rec->cpu = of->cpu;
	rec->ts_ns = of->ts_ns;
	*(u32 *)&entry->ent = TAP_ID_BASE + type;
	entry->ent.pid = ((struct trace_entry *)(of + 1))->pid;
	entry->stack = number;
	*(volatile u32 *)rec = (u32)sizeof(*entry) << 16 | TAP_STACK_SPACE;
}

/*
 * Write the stack records that follow @of, an event's record that is not committed yet, into the
 * space that was taken along with it.
 */
static __always_inline void tap_stacks_put(void *ctx, const struct tap_taken *taken,
					   struct tap_rec *of, u32 space, u32 wanted)
{
#pragma clang loop unroll(disable)
	for (u32 kind = TAP_STACK_KERNEL; kind <= TAP_STACK_USER; kind++) {
		bool user = kind == TAP_STACK_USER;

		if (!(wanted & kind))
			continue;
		tap_stack_put(of, tap_taken_at(taken, of, space),
			      user ? index_user_stack : index_kernel_stack,
			      tap_stack_read(ctx, wanted >> TAP_STACK_DEPTH_SHIFT,
					     user ? BPF_F_USER_STACK : 0));
		space += TAP_STACK_SPACE;
	}
}

#endif
