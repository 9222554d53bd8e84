/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A restartable sequence, rseq(2): "if this thread is still on that CPU and the position still has
 * that value, copy these words there, set that other word, and advance the position". If the thread
 * is preempted, migrated or interrupted by a signal meanwhile, the kernel aborts the sequence
 * before its last store, the position; any of the other stores may have been done.
 *
 * glibc registers an area for each thread since 2.35. With an older glibc, or where something has
 * disabled that, tap_rseq_is_on() returns false.
 */
#ifndef TAP_TRACEPOINT_RSEQ_H
#define TAP_TRACEPOINT_RSEQ_H

#include <linux/rseq.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Signature that the kernel expects before an abort handler; else it kills the process. */
#if defined(__x86_64__)
#define TAP_RSEQ_SIG 0x53053053
#elif defined(__aarch64__)
#define TAP_RSEQ_SIG 0xd428bc00
#endif

struct tap_rseq_op {
	uint64_t *position;
	uint64_t expected, step; /* the position's old value, and what to add to it */
	uint64_t *other, other_value;
	void *to;
	uint64_t first; /* the first word to store at @to; the words after it come from @from + 8 */
	const void *from;
	uint64_t bytes; /* size to store, the first word included: a multiple of 8, at least 8 */
};

/* offset of a thread's area from its thread pointer; 0: no areas */
extern ptrdiff_t tap_rseq_offset __attribute__((visibility("hidden")));

static inline bool tap_rseq_is_on(void)
{
	return tap_rseq_offset;
}

/* Return the CPU that the thread runs on; a value >= 2^32 - 2 if the area is not registered. */
static inline uint32_t tap_rseq_cpu(const struct rseq *rs)
{
	return *(const volatile uint32_t *)&rs->cpu_id;
}

#if defined(TAP_RSEQ_SIG) && !defined(__SANITIZE_THREAD__)

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static inline void tap_rseq_init(void)
{
	if (&__rseq_size && __rseq_size)
		tap_rseq_offset = __rseq_offset;
}

/*
 * Return the thread's area; only if tap_rseq_is_on(). A new thread's area may not be registered
 * yet.
 */
static inline struct rseq *tap_rseq_area(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + tap_rseq_offset);
}

/* Run the sequence once. Return: true if it advanced the position. */
static inline __attribute__((always_inline)) bool tap_rseq_commit(struct rseq *rs, uint32_t cpu,
								  const struct tap_rseq_op *op)
{
#if defined(__x86_64__)
	uint64_t i;

	/* 3: the rseq_cs descriptor: version, flags, start, length, abort handler */
	/* clang-format off */
	__asm__ volatile goto(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"3:\t.long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		"leaq 3b(%%rip), %[i]\n\t"
		"movq %[i], %[cs]\n"
		"1:\tcmpl %[cpu], %[cpu_id]\n\t"
		"jne 4f\n\t"
		"cmpq %[expected], %[position]\n\t"
		"jne 4f\n\t"
		"movq %[first], (%[to])\n\t"
		"movq %[bytes], %[i]\n\t"
		"testb $8, %b[i]\n\t"
		"jne 6f\n\t"
		"subq $8, %[i]\n\t"
		"movq (%[from], %[i]), %%xmm0\n\t"
		"movq %%xmm0, (%[to], %[i])\n\t"
		"jmp 6f\n"
		"5:\tmovups (%[from], %[i]), %%xmm0\n\t"
		"movups %%xmm0, (%[to], %[i])\n"
		"6:\tsubq $16, %[i]\n\t"
		"jg 5b\n\t"
		"movq %[other_value], (%[other])\n\t"
		"addq %[step], %[position]\n"
		/* ud1 <signature>(%rip), %edi */
		"2:\n\t"
		".pushsection __rseq_fail, \"ax\"\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long %c[sig]\n"
		"4:\tjmp %l[aborted]\n\t"
		".popsection\n\t"
		: [i] "=&r"(i)
		: [cs] "m"(rs->rseq_cs), [cpu_id] "m"(rs->cpu_id), [cpu] "r"(cpu),
		  [position] "m"(*op->position), [expected] "r"(op->expected),
		  [bytes] "r"(op->bytes), [from] "r"(op->from), [to] "r"(op->to),
		  [first] "r"(op->first), [other] "r"(op->other),
		  [other_value] "r"(op->other_value), [step] "r"(op->step), [sig] "i"(TAP_RSEQ_SIG)
		: "memory", "cc", "xmm0"
		: aborted);
	/* clang-format on */
#else
	uint64_t i, word;

	/* clang-format off */
	__asm__ volatile goto(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"3:\t.long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n\t"
		"adrp %[i], 3b\n\t"
		"add %[i], %[i], :lo12:3b\n\t"
		"str %[i], %[cs]\n"
		"1:\tldr %w[i], %[cpu_id]\n\t"
		"cmp %w[i], %w[cpu]\n\t"
		"b.ne 4f\n\t"
		"ldr %[i], [%[position]]\n\t"
		"cmp %[i], %[expected]\n\t"
		"b.ne 4f\n\t"
		"str %[first], [%[to]]\n\t"
		"mov %[i], %[bytes]\n\t"
		"b 6f\n"
		"5:\tldr %[word], [%[from], %[i]]\n\t"
		"str %[word], [%[to], %[i]]\n"
		"6:\tsub %[i], %[i], #8\n\t"
		"cbnz %[i], 5b\n\t"
		"str %[other_value], [%[other]]\n\t"
		"add %[i], %[expected], %[step]\n\t"
		"stlr %[i], [%[position]]\n"
		"2:\n\t"
		".pushsection __rseq_fail, \"ax\"\n\t"
		".inst %c[sig]\n"
		"4:\tb %l[aborted]\n\t"
		".popsection\n\t"
		: [i] "=&r"(i), [word] "=&r"(word)
		: [cs] "m"(rs->rseq_cs), [cpu_id] "m"(rs->cpu_id), [cpu] "r"(cpu),
		  [position] "r"(op->position), [expected] "r"(op->expected),
		  [bytes] "r"(op->bytes), [from] "r"(op->from), [to] "r"(op->to),
		  [first] "r"(op->first), [other] "r"(op->other),
		  [other_value] "r"(op->other_value), [step] "r"(op->step), [sig] "i"(TAP_RSEQ_SIG)
		: "memory", "cc"
		: aborted);
	/* clang-format on */
#endif
	return true;
aborted:
	return false;
}

#else

static inline void tap_rseq_init(void)
{
}

static inline struct rseq *tap_rseq_area(void)
{
	return NULL;
}

static inline bool tap_rseq_commit(struct rseq *rs, uint32_t cpu, const struct tap_rseq_op *op)
{
	(void)rs, (void)cpu, (void)op;
	return false;
}
#endif

#endif
