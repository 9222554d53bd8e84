/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts that recordings should share before their numbers are compared: machine, kernel and events.
 */
#ifndef TAP_REPORT_FACTS_H
#define TAP_REPORT_FACTS_H

#include "timeline/run/run.h"
#include "show/bench/file.h"

enum tap_fact {
	TAP_FACT_CPUS,
	TAP_FACT_CAPACITIES,
	TAP_FACT_GOVERNORS,
	TAP_FACT_KERNEL,
	TAP_FACT_PREEMPTION,
	TAP_FACT_SLICE,
	TAP_FACT_SCHEDULER, /* of bench only */
	TAP_FACT_EVENTS,
	TAP_NR_FACTS
};

/* {0}: no fact is known. */
struct tap_facts {
	struct tap_buf text[TAP_NR_FACTS]; /* empty: unknown */
	uint64_t lost;
	bool lost_unknown; /* .lost is only a lower bound */
};

/* Read a recording's facts. Call it after the survey. Return: 0 or -ENOMEM. */
int tap_facts_read(struct tap_facts *f, const struct tap_run *run);
/* Read those of bench's JSON. Return: 0 or -ENOMEM. */
int tap_facts_read_bench(struct tap_facts *f, const struct tap_bench_file *from);
void tap_facts_release(struct tap_facts *f);
/*
 * Return true if the recording says that events of this name were enabled, even if none occurred.
 */
bool tap_facts_has_event(struct tap_facts *f, const char *name);
/*
 * Compare the fact @what of two recordings, @a of @file_a and @b of @file_b. If both are known and
 * differ, append a sentence to @out. Return: whether they differ.
 */
bool tap_facts_differ(struct tap_facts *a, const char *file_a, struct tap_facts *b,
		      const char *file_b, enum tap_fact what, struct tap_buf *out);

#endif
