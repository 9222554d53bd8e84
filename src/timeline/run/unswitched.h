/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPUs without a switch of which the recorder did not say what they ran: it was another program, or
 * events were lost afterwards. Each event names the task that its CPU runs (common_pid). As no
 * switch was recorded, one event says what such a CPU ran all the time.
 */
#ifndef TAP_RUN_UNSWITCHED_H
#define TAP_RUN_UNSWITCHED_H

#include "timeline/run/recording.h"

struct tap_looks {
	struct tap_look *v; /* owned */
	unsigned int nr;
};

/*
 * Make @out the recording's own looks, and one at each CPU for which the survey needs another, by
 * that CPU's events from @from_ns on. If these name several tasks, switches are missing, and the
 * CPU gets none. @out: all zero, or an earlier result.
 *
 * Call after the survey got its last event, before its end. The reader's tallies and span are no
 * longer the survey's. Return: 0; -ENOMEM; a reader's error.
 */
int tap_unswitched_read(struct tap_recording *rec, const struct tap_survey *survey,
			uint64_t from_ns, struct tap_looks *out, struct tap_err *err);
void tap_looks_release(struct tap_looks *looks);

#endif
