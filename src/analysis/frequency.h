/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long CPUs were requested to run at which frequency, from cpu_frequency. A CPU's frequency is
 * known from its first such event in the window on, but not between two events if events may be
 * missing between them. Idle time counts.
 */
#ifndef TAP_ANALYSIS_FREQUENCY_H
#define TAP_ANALYSIS_FREQUENCY_H

#include <schedtap/watcher.h>

#include "analysis/losses.h"

/* initialize with zeros and .losses.survey, the survey after tap_survey_end() */
struct tap_frequency {
	uint64_t known_ns; /* after the end: known time, summed over all CPUs */
	uint64_t highest_ns; /* part of .known_ns at the highest frequency seen on the same CPU */
	unsigned __int128 sum; /* kHz times ns */

	/* private */
	struct tap_losses losses;
	struct tap_frequency_cpu *cpus; /* owned */
	unsigned int nr_cpus;
	const struct tap_format *fmt; /* the format that the fields below belong to */
	struct tap_num khz, cpu;
};

bool tap_is_cpu_frequency(const struct tap_format *fmt);
void tap_frequency_release(struct tap_frequency *f);
/* ctx: struct tap_frequency. */
extern const struct tap_watcher_ops tap_frequency_ops;

#endif
