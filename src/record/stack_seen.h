/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the return addresses of a kernel stack are in memory, learned from stacks that were walked,
 * so that BPF programs recognize the stack without walking it (bpf/stack_look.h). A return address
 * may be found in several words, because earlier calls left copies. The real one is in the same
 * word each time, so the set of words where it was found every time shrinks to one.
 */
#ifndef TAP_RECORD_STACK_SEEN_H
#define TAP_RECORD_STACK_SEEN_H

#include <stdbool.h>

#include "base/map.h"
#include "stack_maps.h"

/* Maximum number of stacks that are being learned; if exceeded, learning starts over for all. */
#define TAP_STACK_SIGHTS_MAX 2048u

struct tap_stack_sights { /* all zero: empty */
	struct tap_map v; /* number of a stack -> struct sight *, owned */
	unsigned int turn;
};

/*
 * Learn from one walk of a stack with @nr addresses. @own: number of leading addresses that belong
 * to the program and its callers: some of these are below the context, where the program does not
 * look. Return: true: the words of all addresses are certain, and @seen is set; false: not yet or
 * never, or out of memory: the stack must be walked again.
 */
bool tap_stack_sights_add(struct tap_stack_sights *s, const struct tap_stack_shown *shown,
			  unsigned int own, unsigned int nr, struct tap_stack_seen *seen);
void tap_stack_sights_release(struct tap_stack_sights *s);

/* Put @seen into @table, in place of an older entry, while BPF programs read the table. */
void tap_stack_sights_put(struct tap_stack_sights *s, struct tap_stack_seen *table,
			  const struct tap_stack_seen *seen);

#endif
