/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tasks of a recording that -p, -t, -c and -g select. A task is selected for the whole window
 * if it matched the options at any time in the window: a thread named "bash" that then executed
 * "ls" is selected by -c bash and by -c ls. The first interval can be reported only once that is
 * known, so it takes a pass of its own.
 */
#ifndef TAP_RUN_SELECTED_H
#define TAP_RUN_SELECTED_H

#include "timeline/run/run.h"

/*
 * Call after tap_run_survey(). Further calls do nothing. Return: 0; an error of the reader; -ENOMEM
 * with a sentence.
 */
int tap_run_find_selected(struct tap_run *run, struct tap_err *err);
/* Return true if the task is selected. @ns: when the run's timeline first saw the task. */
bool tap_run_is_selected(const struct tap_run *run, const struct tap_task *task, uint64_t ns);

#endif
