/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A condition as one word of an option says it:
 *
 *   EVENT [if FILTER]                          sched_process_exit if comm ~ "nginx*"
 *   waking|preempted|blocked|... > TIME [if FILTER]   a task has been in that state for so long
 *   violation > TIME [if FILTER]               a CPU was idle while a task waited that might run
 * there (balance.h) rate(EVENT) > N/s [if FILTER]              within a second; once, until they
 * are fewer again lost > N                                   events, since it was last told
 *
 * EVENT is as of -e. Filters of tasks have the fields comm, tid (also called pid), tgid, prio, cpu
 * and cgroup (its number); what is not known of a task is -1, or 0 of its cgroup.
 */
#ifndef TAP_CONDITION_CONDITION_H
#define TAP_CONDITION_CONDITION_H

#include <schedtap/err.h>

struct tap_condition;

/* Return: 0; -EINVAL with a sentence, the text and a caret below it; -ENOMEM. */
int tap_condition_parse(const char *text, struct tap_condition **out, struct tap_err *err);
void tap_condition_free(struct tap_condition *c);

/* As it was given. */
const char *tap_condition_text(const struct tap_condition *c);

#endif
