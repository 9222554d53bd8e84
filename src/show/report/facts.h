/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What recordings should have in common before their numbers are compared: the machine, its kernel,
 * the events. */
#ifndef TAP_REPORT_FACTS_H
#define TAP_REPORT_FACTS_H

#include "timeline/run/run.h"

enum tap_fact {
	TAP_FACT_CPUS,
	TAP_FACT_CAPACITIES,
	TAP_FACT_GOVERNORS,
	TAP_FACT_KERNEL,
	TAP_FACT_PREEMPTION,
	TAP_FACT_SLICE,
	TAP_FACT_EVENTS,
	TAP_NR_FACTS
};

/* {0}: nothing is known. */
struct tap_facts {
	struct tap_buf text[TAP_NR_FACTS]; /* nothing in it: not known */
	uint64_t lost;
	bool lost_unknown; /* at least so many */
};

/* After the survey. Return: 0 or -ENOMEM. */
int tap_facts_read(struct tap_facts *f, const struct tap_run *run);
void tap_facts_release(struct tap_facts *f);
/* Whether the recording says that such events were on, also where none came. */
bool tap_facts_has_event(struct tap_facts *f, const char *name);
/*
 * Adds to @out how @b, of a file, differs in @what from @a, of another: a sentence. Return: whether
 * it does, as far as is known.
 */
bool tap_facts_differ(struct tap_facts *a, const char *file_a, struct tap_facts *b,
		      const char *file_b, enum tap_fact what, struct tap_buf *out);

#endif
