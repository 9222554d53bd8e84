/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a task is called in reports: kept for each task. */
#ifndef TAP_RUN_LABELS_H
#define TAP_RUN_LABELS_H

#include "timeline/run/run.h"

/*
 * "comm [tid/tgid]", "comm [tid]" where it is the leader or that is not known, with a "*" behind it
 * for the recorder's own, and with .mark_throttling a "~" for a task that may be throttled;
 * escaped. Borrowed until the task is known as another.
 */
const char *tap_run_label(struct tap_run *run, const struct tap_task *task, uint32_t *len);
/* Adds the label, without "~"; also of what is only listed (timeline/run/identity.h), and of idle:
 * "<idle>". */
void tap_run_make_label(const struct tap_run *run, struct tap_buf *b, const struct tap_task *task);

/* Whether what seems to be preempted may be throttled: its cgroup has a CPU quota, and no events
 * tell. Return: 1 or 0; -1: not known. */
int tap_run_throttles(const struct tap_run *run, const struct tap_task *task);

#endif
