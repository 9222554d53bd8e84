/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For how long CPUs were asked to run at which frequency, by cpu_frequency. A CPU's is known from
 * its first such event in the window on, and not known from one to the next if events may be
 * missing between them. Time in which it idles counts.
 */
#ifndef TAP_ANALYSIS_FREQUENCY_H
#define TAP_ANALYSIS_FREQUENCY_H

#include <schedtap/watcher.h>

#include "analysis/losses.h"

struct tap_frequency { /* all zero but .losses.survey, which is after its end */
	uint64_t known_ns; /* after the end: of all CPUs together */
	uint64_t highest_ns; /* of that: at the highest frequency that was seen of the CPU */
	unsigned __int128 sum; /* kHz times ns */

	/* inside */
	struct tap_losses losses;
	struct tap_frequency_cpu *cpus; /* owned */
	unsigned int nr_cpus;
	const struct tap_format *fmt; /* that the next are of */
	struct tap_num khz, cpu;
};

bool tap_is_cpu_frequency(const struct tap_format *fmt);
void tap_frequency_release(struct tap_frequency *f);
/* ctx: struct tap_frequency. */
extern const struct tap_watcher_ops tap_frequency_ops;

#endif
