/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The distinct stacks of a recording while it is made: from addresses to the text that an event's
 * print format has. */
#ifndef TAP_RECORD_STACKS_H
#define TAP_RECORD_STACKS_H

#include <schedtap/err.h>

#include "base/map.h"

#define TAP_STACKS_MAX 65536u
#define TAP_STACKS_MAX_BYTES                                                                       \
	((size_t)16 << 20) /* of the texts of a kind: below TAP_FORMAT_MAX_BYTES */

struct tap_stack_new; /* bpf/stack_maps.h */
struct tap_stacks;

/* The kernel's symbols are read here. Return: 0; -ENOMEM with a sentence. */
int tap_stacks_new(struct tap_stacks **out, struct tap_err *err);
void tap_stacks_free(struct tap_stacks *s);

/* Whether functions of the kernel have names here. */
bool tap_stacks_name_kernel(const struct tap_stacks *s);

/*
 * One that is new. A kernel's begins with what read it: that is left out. The addresses of a
 * program's are looked up at once, for it may end; names are read later, for that takes files.
 * Return: 0; -ENOMEM.
 */
int tap_stacks_add(struct tap_stacks *s, const struct tap_stack_new *stack, unsigned int nr);

/* How many of the first addresses are of who read the stack. 0: nothing is known of functions. */
unsigned int tap_stacks_count_own(const struct tap_stacks *s, const unsigned long long *addrs,
				  unsigned int nr);

/* To be called at each drain: looks again for addresses of a process that was becoming another
 * program. */
void tap_stacks_retry(struct tap_stacks *s);

/*
 * Names those that were handed over. Any thread may, while another one adds.
 * tap_stacks_hand_over(): takes what was named, and hands over what was added. Return: whether
 * there is something to be named;
 * @news: set where there is a text more. tap_stacks_finish(): does all of this.
 */
void tap_stacks_name(struct tap_stacks *s);
bool tap_stacks_hand_over(struct tap_stacks *s, bool *news);
void tap_stacks_finish(struct tap_stacks *s);

/* number -> text (const char *), borrowed until one of the calls above. */
const struct tap_map *tap_stacks_texts(const struct tap_stacks *s, bool user);

struct tap_stacks_count {
	uint64_t nr; /* distinct ones */
	uint64_t bytes; /* of their texts */
	uint64_t without; /* that have no text: there were too many, or no memory */
};
struct tap_stacks_count tap_stacks_count(const struct tap_stacks *s);

#endif
