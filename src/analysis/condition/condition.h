/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A condition on a running recording, as given in one word of an option:
 *
 *   EVENT [if FILTER]                  sched_process_exit if comm ~ "nginx*"
 *   STATE > TIME [if FILTER]           a task has been in that state (waking, preempted, blocked,
 *                                      ...) for this long
 *   violation > TIME [if FILTER]       a task waited while a CPU that it may use was idle
 *                                      (balance.h)
 *   rate(EVENT) > N/s [if FILTER]      more than N events within a second; matches again only after
 *                                      the rate was lower
 *   lost > N                           more than N lost events since the last match
 *
 * EVENT has the form of -e. Filters of tasks have the fields comm, tid (alias pid), tgid, prio, cpu
 * and cgroup (its ID). A field that is unknown for a task is -1, or 0 for cgroup.
 */
#ifndef TAP_CONDITION_CONDITION_H
#define TAP_CONDITION_CONDITION_H

#include <schedtap/err.h>

struct tap_condition;

/* Return: 0; -EINVAL with a sentence, the text and a caret below it; -ENOMEM. */
int tap_condition_parse(const char *text, struct tap_condition **out, struct tap_err *err);
void tap_condition_free(struct tap_condition *c);

/* Return the text as given. */
const char *tap_condition_text(const struct tap_condition *c);

#endif
