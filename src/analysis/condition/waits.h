/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which waits have lasted how long: a heap of when each is to be looked at next. Most waits are
 * short, and most tasks wait again soon: so a task that is in the heap stays there when its wait
 * ends, and only when it is looked at is seen whether it is another wait by then. So beginning to
 * wait costs nearly nothing.
 */
#ifndef TAP_CONDITION_WAITS_H
#define TAP_CONDITION_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#define TAP_NOT_WAITING UINT64_MAX

/* One task in one of the kinds of waits that limits are for. */
struct tap_watched_wait {
	uint64_t since_ns; /* the wait that .nr_told is of */
	unsigned int place; /* in the heap, plus one; 0: it is not in it */
	unsigned int nr_told; /* limits that it has come to */
};

struct tap_wait_due {
	uint64_t at_ns; /* a limit is reached then */
	unsigned int wait;
};

struct tap_waits { /* all zero: empty */
	struct tap_watched_wait *waits; /* owned */
	unsigned int nr_waits;
	struct tap_wait_due *heap; /* owned; the first is due first */
	unsigned int nr, cap;
};

void tap_waits_release(struct tap_waits *w);
/* The wait @i begins, or goes on: it is looked at then. Return: 0 or -ENOMEM. */
int tap_waits_set(struct tap_waits *w, unsigned int i, uint64_t since_ns, unsigned int nr_told,
		  uint64_t at_ns);
/* It is looked at no more. */
void tap_waits_drop(struct tap_waits *w, unsigned int i);
/* Return: NULL when out of memory. */
struct tap_watched_wait *tap_waits_get(struct tap_waits *w, unsigned int i);

static inline uint64_t tap_waits_due_ns(const struct tap_waits *w)
{
	return w->nr ? w->heap[0].at_ns : UINT64_MAX;
}

#endif
