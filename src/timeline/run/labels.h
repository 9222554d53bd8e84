/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels of tasks in reports, cached per task. */
#ifndef TAP_RUN_LABELS_H
#define TAP_RUN_LABELS_H

#include "timeline/run/run.h"

/*
 * Return the task's label, escaped: "comm [tid/tgid]", or "comm [tid]" if the task is its process's
 * leader or its process is unknown. A trailing "*" marks the recorder's own tasks and, with
 * .mark_throttling, a trailing "~" marks tasks that may be throttled. "" when out of memory.
 * Borrowed until the task's name, process or cgroup changes.
 */
const char *tap_run_label(struct tap_run *run, const struct tap_task *task, uint32_t *len);
/*
 * Append the label, without "~". @task may also be one that only the lists contain
 * (timeline/run/identity.h), or the idle task: "<idle>".
 */
void tap_run_make_label(const struct tap_run *run, struct tap_buf *b, const struct tap_task *task);

/*
 * Return 1 if the task may be throttled when it seems to be preempted: its cgroup has a CPU quota,
 * and the recording lacks some of the throttling events. Return 0 if not; -1: unknown.
 */
int tap_run_throttles(const struct tap_run *run, const struct tap_task *task);

#endif
