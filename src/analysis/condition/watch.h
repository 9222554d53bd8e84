/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test conditions (condition.h) on a running recording: follow its sub-buffers (file/follow.h), and
 * report when a condition matches. A condition on a wait matches once the wait has lasted long
 * enough, even if it goes on.
 *
 * A match must be certain by what is known at that time: a wait that began before the end of a hole
 * is not reported. Some waits are known only when they end, and are reported late (of a task that
 * was woken on its way to sleep) or not at all (a sleep after a wakeup in vain). A wait's end may
 * also show that a match was wrong (a task's first wait, if an unrecorded run preceded it).
 */
#ifndef TAP_CONDITION_WATCH_H
#define TAP_CONDITION_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/condition/condition.h"

struct tap_met {
	uint64_t at_ns; /* CLOCK_MONOTONIC: when the condition matched, not when that was noticed */
	const struct tap_condition *condition;
	int tid; /* the task, as events name it; -1: none */
	char comm[16]; /* "": unknown; not NUL-terminated if full */
};

struct tap_watch;
struct tap_held;

/*
 * @conditions: borrowed. @spool_path: a folder whose head lists the recorded events. @held:
 * buffered sub-buffers, which are read in place (tap_follow_open()); NULL: they are in the folder.
 * Return: 0; -EINVAL with a sentence: an event is not recorded, or lacks a field; -ENOMEM; -errno.
 */
int tap_watch_new(struct tap_condition *const *conditions, unsigned int nr, const char *spool_path,
		  struct tap_held *held, struct tap_watch **out, struct tap_err *err);
void tap_watch_free(struct tap_watch *w);

/*
 * Process all events before @until_ns, which must never decrease. All of these must have been
 * written, and nothing may be written during the call. Return: 0; -errno: do not call it again.
 */
int tap_watch_read(struct tap_watch *w, uint64_t until_ns, struct tap_err *err);
/* Get the next match, in the order in which they were noticed. Return false if there is none. */
bool tap_watch_take(struct tap_watch *w, struct tap_met *met);

/*
 * Return the number of matches that were dropped because the queue was full. Each was of a
 * condition with another match in the queue.
 */
uint64_t tap_watch_dropped(const struct tap_watch *w);

#endif
