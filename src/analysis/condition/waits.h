/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A heap of waits, ordered by when each is to be looked at next. Most waits are short, and most
 * tasks soon wait again. So a task stays in the heap when its wait ends, and only when it is looked
 * at is it checked whether it is in another wait by then. That makes beginning a wait nearly free.
 */
#ifndef TAP_CONDITION_WAITS_H
#define TAP_CONDITION_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#define TAP_NOT_WAITING UINT64_MAX

/* A task in one kind of wait. */
struct tap_watched_wait {
	uint64_t since_ns; /* start of the wait that .nr_told belongs to */
	unsigned int place; /* index in the heap, plus one; 0: not in the heap */
	unsigned int nr_told; /* number of limits that the wait has reached */
};

struct tap_wait_due {
	uint64_t at_ns; /* it reaches a limit at that time */
	unsigned int wait;
};

struct tap_waits { /* all zero: empty */
	struct tap_watched_wait *waits; /* owned */
	unsigned int nr_waits;
	struct tap_wait_due *heap; /* owned; [0] is due first */
	unsigned int nr, cap;
};

void tap_waits_release(struct tap_waits *w);
/* Wait @i began, or goes on: look at it at @at_ns. Return: 0 or -ENOMEM. */
int tap_waits_set(struct tap_waits *w, unsigned int i, uint64_t since_ns, unsigned int nr_told,
		  uint64_t at_ns);
/* Do not look at the wait any more. */
void tap_waits_drop(struct tap_waits *w, unsigned int i);
/* Return: NULL when out of memory. */
struct tap_watched_wait *tap_waits_get(struct tap_waits *w, unsigned int i);

static inline uint64_t tap_waits_due_ns(const struct tap_waits *w)
{
	return w->nr ? w->heap[0].at_ns : UINT64_MAX;
}

#endif
