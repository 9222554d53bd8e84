/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conditions on a recording that is still being made (condition.h): its pages are
 * followed (file/follow.h), and it is told when one is met. A wait that goes on is met when it
 * has lasted that long.
 *
 * It must be certain by what is known then: one that began before a hole ended is not told. What
 * only its end tells is told late (a wait of a task that was woken on its way to sleep), or not at
 * all (a sleep behind a waking in vain); and of what is told the end may show that it was otherwise
 * (a task's first wait, if it ran unseen).
 */
#ifndef TAP_CONDITION_WATCH_H
#define TAP_CONDITION_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/condition/condition.h"

struct tap_met {
	uint64_t at_ns; /* CLOCK_MONOTONIC: when it was met, not when that was noticed */
	const struct tap_condition *condition;
	int tid; /* of whom; -1: of no task. As events have it */
	char comm[16]; /* "" : not known; not NUL-terminated when full */
};

struct tap_watch;
struct tap_held;

/*
 * @conditions: borrowed. @spool_path: of a folder whose head names the events that they ask for.
 * @held: as tap_follow_open() takes it, in place. Return: 0; -EINVAL with a sentence: an event is
 * not recorded, a field is none of its; -ENOMEM; -errno.
 */
int tap_watch_new(struct tap_condition *const *conditions, unsigned int nr, const char *spool_path,
		  struct tap_held *held, struct tap_watch **out, struct tap_err *err);
void tap_watch_free(struct tap_watch *w);

/*
 * Reads what is there of before @until_ns, which never goes back: all of it is. Nobody may write
 * meanwhile. Return: 0; -errno, and it must not be called again.
 */
int tap_watch_read(struct tap_watch *w, uint64_t until_ns, struct tap_err *err);
/* Return: whether there is another one that was met, in the order in which it was noticed. */
bool tap_watch_take(struct tap_watch *w, struct tap_met *met);

/* How many were left out, as the queue was full: repeats of conditions that were in it. */
uint64_t tap_watch_dropped(const struct tap_watch *w);

#endif
