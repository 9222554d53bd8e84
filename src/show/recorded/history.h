/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts about the whole recording that the readings of its parts need, from one reading. */
#ifndef TAP_SHOW_RECORDED_HISTORY_H
#define TAP_SHOW_RECORDED_HISTORY_H

#include "show/recorded/slots.h"
#include "show/recorded/starts.h"
#include "timeline/run/run.h"

struct tap_history { /* zeroed: empty */
	struct tap_recorded_slots slots;
	struct tap_starts starts;
	struct tap_recorded_life {
		uint64_t born_ns, died_ns;
	} * lives; /* owned; of each task of which there are events */
	unsigned int nr_lives;
	unsigned int nr_listed; /* number of other tasks that the recording lists */
	unsigned int nr_cpus;
	bool *cpu_is_known; /* owned; by CPU: there are events of it, or other knowledge */
	unsigned int *llcs; /* owned; by CPU: the lowest CPU of its package: stands for the LLC */
	bool has_queueings; /* tap_survey_has_queueings() */
	/* private */
	uint64_t *ran_ns; /* owned; by .index of the timeline: when the task last began to run */
	unsigned int nr_ran_ns;
};

/* Read the whole recording. Return: 0; -errno with a sentence. The caller releases @h. */
int tap_history_read(struct tap_history *h, struct tap_run *run, struct tap_err *err);
void tap_history_release(struct tap_history *h);

#endif
