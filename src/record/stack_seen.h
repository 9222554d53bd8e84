/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the return addresses of walked stacks lie in memory, so that the programs know them by
 * sight (bpf/stack_look.h). An address may be found in several places, for earlier calls left
 * copies. But it lies in one that is the same each time, so the places that it was found in every
 * time become fewer, until it is one.
 */
#ifndef TAP_RECORD_STACK_SEEN_H
#define TAP_RECORD_STACK_SEEN_H

#include <stdbool.h>

#include "base/map.h"
#include "stack_maps.h"

/* Of those that are not certain yet; of more than that, all begin again. */
#define TAP_STACK_SIGHTS_MAX 2048u

struct tap_stack_sights { /* all zero: none */
	struct tap_map v; /* number of a stack -> its places, owned */
	unsigned int turn;
};

/*
 * Looks at a stack of @nr addresses. @own: so many of the first are of the program and of what
 * calls it: of these some lie before the context, where nobody looks. Return: true: it is certain
 * where they lie: @seen says it. false: not yet, or never, or out of memory: it is to be walked.
 */
bool tap_stack_sights_add(struct tap_stack_sights *s, const struct tap_stack_shown *shown,
			  unsigned int own, unsigned int nr, struct tap_stack_seen *seen);
void tap_stack_sights_release(struct tap_stack_sights *s);

/* Puts it into @table, in place of an older one, while programs read there. */
void tap_stack_sights_put(struct tap_stack_sights *s, struct tap_stack_seen *table,
			  const struct tap_stack_seen *seen);

#endif
