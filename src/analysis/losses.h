/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether events may be missing between two that were read: the survey's losses, walked along with
 * the events. If some CPUs are not recorded, some may be missing between any two.
 */
#ifndef TAP_ANALYSIS_LOSSES_H
#define TAP_ANALYSIS_LOSSES_H

#include <stdbool.h>

#include "timeline/survey.h"

struct tap_losses {
	const struct tap_survey *survey; /* after its end */
	/* inside */
	unsigned int next;
	uint64_t to_ns; /* the end of the latest so far; 0: there was none */
};

/* @to_ns: not before that of the call before. */
static inline bool tap_losses_between(struct tap_losses *l, uint64_t from_ns, uint64_t to_ns)
{
	for (; l->next < l->survey->nr_kept_losses && l->survey->losses[l->next].from_ns <= to_ns;
	     l->next++)
		if (l->survey->losses[l->next].to_ns > l->to_ns)
			l->to_ns = l->survey->losses[l->next].to_ns;
	return (l->to_ns && l->to_ns >= from_ns) ||
	       (l->survey->promise && l->survey->promise->cpus);
}

#endif
