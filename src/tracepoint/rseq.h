/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One restartable sequence: "if this thread is still on that CPU and the position is still that one,
 * copy these words there, set that other word, and move the position". The kernel ends it without the
 * last store if the thread is preempted, migrated or interrupted by a signal on the way.
 *
 * glibc registers each thread's area from 2.35 on; where it is older, or something else has disabled
 * that, tap_rseq_area() returns NULL.
 */
#ifndef TAP_TRACEPOINT_RSEQ_H
#define TAP_TRACEPOINT_RSEQ_H

#include <linux/rseq.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a sequence that does not end in a trap: what the kernel finds before an abort handler. */
#if defined(__x86_64__)
#define TAP_RSEQ_SIG 0x53053053
#elif defined(__aarch64__)
#define TAP_RSEQ_SIG 0xd428bc00
#endif

struct tap_rseq_op {
	uint64_t *position;
	uint64_t expected, moved;
	uint64_t *other, other_value;
	void *to;
	const void *from;
	uint64_t words; /* of 8 bytes */
};

#if defined(TAP_RSEQ_SIG) && !defined(__SANITIZE_THREAD__)

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static inline struct rseq *tap_rseq_area(void)
{
	struct rseq *rs;

	if (!&__rseq_size || !__rseq_size)
		return NULL;
	rs = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	return (int32_t)*(volatile uint32_t *)&rs->cpu_id >= 0 ? rs : NULL;
}

/* Return: whether all of it was done; if not, nothing of it can be seen. */
static inline __attribute__((always_inline)) bool tap_rseq_commit(struct rseq *rs, uint32_t cpu,
								  const struct tap_rseq_op *op)
{
#if defined(__x86_64__)
	uint64_t i, word;

	/* 3: the descriptor: version and flags, start, length, where to go on abort */
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
		"movq %[words], %[i]\n\t"
		"testq %[i], %[i]\n\t"
		"je 6f\n"
		"5:\tmovq -8(%[from], %[i], 8), %[word]\n\t"
		"movq %[word], -8(%[to], %[i], 8)\n\t"
		"decq %[i]\n\t"
		"jne 5b\n"
		"6:\tmovq %[other_value], (%[other])\n\t"
		"movq %[moved], %[position]\n"
		"2:\n\t"
		".pushsection __rseq_fail, \"ax\"\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t" /* ud1 <signature>(%rip), %edi */
		".long %c[sig]\n"
		"4:\tjmp %l[aborted]\n\t"
		".popsection\n\t"
		: [i] "=&r"(i), [word] "=&r"(word)
		: [cs] "m"(rs->rseq_cs), [cpu_id] "m"(rs->cpu_id), [cpu] "r"(cpu),
		  [position] "m"(*op->position), [expected] "r"(op->expected),
		  [words] "rm"(op->words), [from] "r"(op->from), [to] "r"(op->to),
		  [other] "r"(op->other), [other_value] "r"(op->other_value),
		  [moved] "r"(op->moved), [sig] "i"(TAP_RSEQ_SIG)
		: "memory", "cc"
		: aborted);
	return true;
aborted:
	return false;
#else
	uint64_t i, word;

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
		"mov %[i], %[words]\n\t"
		"cbz %[i], 6f\n"
		"5:\tsub %[i], %[i], #1\n\t"
		"ldr %[word], [%[from], %[i], lsl #3]\n\t"
		"str %[word], [%[to], %[i], lsl #3]\n\t"
		"cbnz %[i], 5b\n"
		"6:\tstr %[other_value], [%[other]]\n\t"
		"stlr %[moved], [%[position]]\n"
		"2:\n\t"
		".pushsection __rseq_fail, \"ax\"\n\t"
		".inst %c[sig]\n"
		"4:\tb %l[aborted]\n\t"
		".popsection\n\t"
		: [i] "=&r"(i), [word] "=&r"(word)
		: [cs] "m"(rs->rseq_cs), [cpu_id] "m"(rs->cpu_id), [cpu] "r"(cpu),
		  [position] "r"(op->position), [expected] "r"(op->expected),
		  [words] "r"(op->words), [from] "r"(op->from), [to] "r"(op->to),
		  [other] "r"(op->other), [other_value] "r"(op->other_value),
		  [moved] "r"(op->moved), [sig] "i"(TAP_RSEQ_SIG)
		: "memory", "cc"
		: aborted);
	return true;
aborted:
	return false;
#endif
}

#else

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
