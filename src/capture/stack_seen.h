/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the return addresses of walked stacks lie in memory, so that the programs know them by sight (bpf/stack_look.h). */
#ifndef TAP_CAPTURE_STACK_SEEN_H
#define TAP_CAPTURE_STACK_SEEN_H

#include <stdbool.h>

#include "stack_maps.h"

/*
 * Finds the places of a stack with @nr addresses. What follows from one address is the next, so who finds the same ones in the same
 * places has the same stack: but only if each could lie in no other place. Copies that earlier calls left there may be one.
 * Return: false: it is to be walked.
 */
bool tap_stack_seen_find(const struct tap_stack_shown *shown, unsigned int nr, struct tap_stack_seen *seen);

/* Puts it into @table, in place of an older one, while programs read there. @turn: counts. */
void tap_stack_seen_put(struct tap_stack_seen *table, unsigned int *turn, const struct tap_stack_seen *seen);

#endif
