/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The distinct stacks of a recording while it is made. Addresses become text, which is part of the
 * print formats of the stack events.
 */
#ifndef TAP_RECORD_STACKS_H
#define TAP_RECORD_STACKS_H

#include <schedtap/err.h>

#include "base/map.h"

#define TAP_STACKS_MAX 65536u
/* limit of all texts of a kind; below TAP_FORMAT_MAX_BYTES */
#define TAP_STACKS_MAX_BYTES ((size_t)16 << 20)

struct tap_stack_new; /* bpf/stack_maps.h */
struct tap_stacks;

/* Reads the kernel's symbols. Return: 0; -ENOMEM with a sentence. */
int tap_stacks_new(struct tap_stacks **out, struct tap_err *err);
void tap_stacks_free(struct tap_stacks *s);

/* Return: whether the kernel's functions have names: /proc/kallsyms was readable. */
bool tap_stacks_name_kernel(const struct tap_stacks *s);

/*
 * Add a stack that is seen for the first time. The functions that read a kernel stack, at its
 * beginning, are left out. Addresses of a program are looked up at once, because it may end; their
 * names are read later, because that needs files. Return: 0; -ENOMEM.
 */
int tap_stacks_add(struct tap_stacks *s, const struct tap_stack_new *stack, unsigned int nr);

/*
 * Return: the number of leading addresses that belong to the functions that read the stack; 0:
 * none, or function names are not known.
 */
unsigned int tap_stacks_count_own(const struct tap_stacks *s, const unsigned long long *addrs,
				  unsigned int nr);

/*
 * Call it at each drain: looks up addresses again that were not found because their process was
 * just executing another program.
 */
void tap_stacks_retry(struct tap_stacks *s);

/*
 * tap_stacks_name() reads the names of stacks that were handed over. Any thread may call it while
 * another thread adds stacks.
 * tap_stacks_hand_over() takes stacks that got names, and hands over stacks that were added. @news:
 * set to true if there are new texts. Return: whether there are stacks without names.
 * tap_stacks_finish() does both until all stacks have names.
 */
void tap_stacks_name(struct tap_stacks *s);
bool tap_stacks_hand_over(struct tap_stacks *s, bool *news);
void tap_stacks_finish(struct tap_stacks *s);

/* Return: number -> text (const char *), borrowed until one of the functions above is called. */
const struct tap_map *tap_stacks_texts(const struct tap_stacks *s, bool user);

struct tap_stacks_count {
	uint64_t nr; /* distinct stacks */
	uint64_t bytes; /* of their texts */
	uint64_t without; /* stacks without a text: there were too many, or memory ran out */
};
struct tap_stacks_count tap_stacks_count(const struct tap_stacks *s);

#endif
