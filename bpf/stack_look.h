/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recognizes a kernel stack without unwinding it. Unwinding is most of a stack's cost: with ORC the
 * kernel searches tables for every frame. But tasks sleep in few places. So for each stack that was
 * unwound, the recorder stores where on the stack its return addresses are, as distances from the
 * tracepoint's arguments (struct tap_stack_seen). A return address determines the function and the
 * size of its frame, and thereby where the next address is: if the same addresses are found in the
 * same slots, it is the same stack. The exception is the frame of a system call's function, which
 * has a random size (CONFIG_RANDOMIZE_KSTACK_OFFSET); the address after it is always just below the
 * task's registers.
 */
#ifndef TAP_BPF_STACK_LOOK_H
#define TAP_BPF_STACK_LOOK_H

/*
 * Number of sets of tap_stacks_seen, a power of two, set by the loader; 0 on other architectures
 * than x86-64: stacks are always unwound.
 */
const volatile u32 tap_stack_look_sets = 0;

#define TAP_PF_KTHREAD 0x200000 /* include/linux/sched.h */
/* THREAD_SIZE of x86-64; if it is larger, stacks with a context deeper than this are unwound. */
#define TAP_STACK_BYTES 16384

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tap_stack_seen);
} tap_stacks_seen SEC(".maps");

/*
 * Indexed by hash: stacks that were recently passed to the recorder; the low 4 bits count how
 * often.
 */
#define TAP_STACKS_TOLD 1024
#define TAP_STACK_TOLD_OFTEN 15
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TAP_STACKS_TOLD);
	__type(key, u32);
	__type(value, u64);
} tap_stacks_told SEC(".maps");

/* State of a lookup; used again if the stack must be unwound. */
struct tap_stack_memory {
	u64 at; /* address of the program's context */
	u64 regs; /* address of the task's registers; 0: unknown */
	u64 top; /* the word just below the registers */
	u64 key; /* 0: the context is not on the task's stack but on an interrupt's */
	u64 room; /* bytes from the context to the end of the stack */
	u64 words[TAP_STACK_WORDS];
};

/*
 * Convert a pointer to a number through memory, so that the verifier no longer treats it as a
 * pointer.
 */
#define TAP_STACK_NUMBER(place, pointer)                                                           \
	(*(volatile u64 *)(place) = (u64)(pointer), *(volatile u64 *)(place))

/*
 * Set up a lookup. Its key selects the stacks that may match: those in the same system call or, for
 * a kernel thread, of the same thread, with the same depth limit.
 */
static __always_inline void tap_stack_find(struct tap_stack_memory *m, void *ctx, u32 depth)
{
	struct task_struct *p = bpf_get_current_task_btf();
	u64 offset = TAP_STACK_NUMBER(&m->at, ctx) - (u64)p->stack, call = 0;

	m->key = m->top = m->regs = 0;
	if (offset >= TAP_STACK_BYTES)
		return;
	m->room = TAP_STACK_BYTES - offset;
#ifdef __TARGET_ARCH_x86
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) {
		struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(p);

		call = regs->orig_ax;
		if (bpf_probe_read_kernel(&m->top, sizeof(m->top),
					  (void *)(TAP_STACK_NUMBER(&m->regs, regs) - 8)))
			m->top = 0;
	}
#endif
	if (p->flags & TAP_PF_KTHREAD)
		call = p->pid;
	m->key = (u64)depth << 40 | (call & 0xffffffff) | 1ull << 63;
}

static __always_inline struct tap_stack_seen *tap_stack_way(u64 key, u32 way)
{
	u32 at = tap_stack_set(key, tap_stack_look_sets) * TAP_STACK_WAYS + way;

	return bpf_map_lookup_elem(&tap_stacks_seen, &at);
}

/*
 * Return true if the cached return addresses are still in the same stack slots. @have: in and out,
 * words read into m->words so far.
 */
static __always_inline bool tap_stack_is(struct tap_stack_memory *m, struct tap_stack_seen *seen,
					 u32 *have)
{
	u32 nr = seen->nr, words = seen->words & (TAP_STACK_WORDS - 1), i;

	if (seen->top && seen->top != m->top)
		return false;
	if (words > *have) {
		if (words * sizeof(u64) > m->room ||
		    bpf_probe_read_kernel(m->words, words * sizeof(u64), (void *)m->at))
			return false;
		*have = words;
	}
#pragma clang loop unroll(disable)
	for (i = 0; i < TAP_STACK_SEEN_FRAMES && i < nr; i++)
		if (m->words[seen->places[i] & (TAP_STACK_WORDS - 1)] != seen->addrs[i])
			return false;
	return nr;
}

/* Return: the stack's number; 0: not in the cache. */
static __always_inline u32 tap_stack_look(struct tap_stack_memory *m)
{
	u64 key = m->key;
	u32 have = 0;

	if (!key)
		return 0;
#pragma clang loop unroll(disable)
	for (u32 way = 0; way < TAP_STACK_WAYS; way++) {
		struct tap_stack_seen *seen = tap_stack_way(key, way);
		u32 version, number;

		if (!seen || seen->key != key)
			continue;
		version = *(volatile u32 *)&seen->version;
		number = seen->number;
		if (!(version & 1) && tap_stack_is(m, seen, &have) &&
		    *(volatile u32 *)&seen->version == version)
			return number;
	}
	return 0;
}

/*
 * Return true if the recorder should get this stack: the first few times, because it may need
 * several samples to be certain of the slots, and rarely (1 of 64 times) after that.
 */
static __always_inline bool tap_stack_is_news(u64 key, u32 number)
{
	u64 tag = (key ^ ((u64)number << 40)) * 0x9e3779b97f4a7c15ull & ~15ull;
	u32 at = tag >> 32 & (TAP_STACKS_TOLD - 1);
	u64 *slot = bpf_map_lookup_elem(&tap_stacks_told, &at);

	if (!slot)
		return false;
	if ((*slot & ~15ull) != tag)
		*slot = tag;
	else if ((*slot & 15) == TAP_STACK_TOLD_OFTEN)
		return !(bpf_get_prandom_u32() & 63);
	(*slot)++;
	return true;
}

/*
 * Pass the contents of an unwound stack to the recorder. Not done if the log is more than half
 * full, which new stacks need more.
 */
static __always_inline void tap_stack_show(struct tap_stack_memory *m, const u64 *addrs, u32 bytes,
					   u32 number)
{
	u32 zero = 0, words,
	    space = sizeof(struct tap_rec) + sizeof(struct tap_stack_shown) + bytes;
	struct tap_ring *log = bpf_map_lookup_elem(&tap_stack_log, &zero);
	struct tap_stack_shown *shown;
	struct tap_rec *rec;

	if (!log || !m->key || !tap_stack_is_news(m->key, number) ||
	    *(volatile u64 *)&log->head - *(volatile u64 *)&log->tail > tap_stack_log_bytes / 2)
		return;
	words = m->room / sizeof(u64);
	if (words >= TAP_STACK_WORDS)
		words = TAP_STACK_WORDS - 1;
	rec = tap_stack_log_take(log, space);
	if (!rec)
		return;
	shown = (struct tap_stack_shown *)(rec + 1);
	shown->number = 0;
	shown->seen_number = number;
	shown->key = m->key;
	shown->top = m->top;
	shown->nr_words =
		bpf_probe_read_kernel(shown->words, words * sizeof(u64), (void *)m->at) ? 0 : words;
	bpf_probe_read_kernel(shown->addrs, bytes & 1023, addrs);
	tap_make_real(rec, space, sizeof(*shown) + bytes);
}

#endif
