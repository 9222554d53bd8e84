/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Find out what CPUs without a sched_switch event ran if the recording does not say so: because
 * another program wrote it, or because events were lost later. Each event names the task that its
 * CPU was running (common_pid). Since no switch was recorded, a single event shows what the CPU ran
 * all the time.
 */
#ifndef TAP_RUN_UNSWITCHED_H
#define TAP_RUN_UNSWITCHED_H

#include "timeline/run/recording.h"

struct tap_looks {
	struct tap_look *v; /* owned */
	unsigned int nr;
};

/*
 * Set @out to the recording's own looks, plus one look for each CPU for which the survey needs
 * another, from that CPU's events from @from_ns on. If these events name several tasks, switches
 * are missing, and the CPU gets no look. @out: all zero, or an earlier result.
 *
 * Call after the survey's last event and before its end. Afterwards the reader's tallies and span
 * are no longer those of the survey. Return: 0; -ENOMEM; an error of the reader.
 */
int tap_unswitched_read(struct tap_recording *rec, const struct tap_survey *survey,
			uint64_t from_ns, struct tap_looks *out, struct tap_err *err);
void tap_looks_release(struct tap_looks *looks);

#endif
