/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tasks of a recording -p, -t, -c and -g select. A task is selected for the whole window if
 * it matched them at any time in the window: a thread that was called "bash", and then executed
 * "ls", is selected by -c bash and by -c ls. That must be known before the first interval is
 * reported, so a reading of its own looks for it.
 */
#ifndef TAP_RUN_SELECTED_H
#define TAP_RUN_SELECTED_H

#include "timeline/run/run.h"

/* After the survey; when called again, does nothing. Return: 0; a reader's error; -ENOMEM with a
 * sentence. */
int tap_run_find_selected(struct tap_run *run, struct tap_err *err);
/* Whether a task is, that a timeline of the run has just seen for the first time. @ns: when it saw
 * it. */
bool tap_run_is_selected(const struct tap_run *run, const struct tap_task *task, uint64_t ns);

#endif
