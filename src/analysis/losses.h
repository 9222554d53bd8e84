/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out whether events may be missing between two events: walks the survey's losses along with
 * the events. If some CPUs are not recorded, events may be missing between any two.
 */
#ifndef TAP_ANALYSIS_LOSSES_H
#define TAP_ANALYSIS_LOSSES_H

#include <stdbool.h>

#include "timeline/survey.h"

struct tap_losses {
	const struct tap_survey *survey; /* after tap_survey_end() */
	/* private */
	unsigned int next;
	uint64_t to_ns; /* the latest end of the losses so far; 0: no loss yet */
};

/* Return true if events may be missing in the interval. @to_ns must not decrease between calls. */
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
