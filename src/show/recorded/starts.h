/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where to begin to read a part of a recording, so that all that matters to the part is known: the
 * waits that end in it, and what each CPU runs as it begins. Most waits and slices are short, so a
 * short time before the part shows them. The longer ones are noted once, while the whole recording
 * is read.
 */
#ifndef TAP_SHOW_RECORDED_STARTS_H
#define TAP_SHOW_RECORDED_STARTS_H

#include "timeline/timeline.h"

struct tap_long_wait {
	uint64_t from_ns, to_ns;
};

/*
 * A wait after a long sleep, in a recording without wakeups whose switches tell when the task was
 * queued: only with the sleep's begin does the timeline accept that.
 */
struct tap_slept_wait {
	uint64_t from_ns, to_ns;
	int tid;
	int run_cpu; /* where the task ran before */
};

/* A task began to run at this time after a wait whose length is not known. */
struct tap_unknown_wait {
	uint64_t to_ns;
	int tid;
};

/* A time in which a CPU ran one task, or was idle. */
struct tap_long_slice {
	uint64_t from_ns, to_ns;
	int tid; /* 0: idle */
};

struct tap_starts { /* zeroed: empty */
	struct tap_long_wait *waits; /* owned; by .to_ns */
	unsigned int nr_waits, cap_waits;
	struct tap_slept_wait *slept; /* owned; by .to_ns */
	unsigned int nr_slept, cap_slept;
	struct tap_unknown_wait *unknown; /* owned; by .to_ns */
	unsigned int nr_unknown, cap_unknown;
	struct tap_long_cpu {
		struct tap_long_slice *slices; /* owned; in time order */
		unsigned int nr, cap;
	} * cpus; /* owned; by CPU */
	unsigned int nr_cpus;
};

void tap_starts_release(struct tap_starts *s);
/*
 * Note a complete wait. Calls in the order of .to_ns. @needed_ns: since when the timeline must have
 * seen the task to know the wait; 0: since the wait's begin. Return: 0 or -ENOMEM.
 */
int tap_starts_wait(struct tap_starts *s, const struct tap_interval *i, uint64_t needed_ns);
/* Note a wait of unknown length. Calls in the order of .to_ns. Return: 0 or -ENOMEM. */
int tap_starts_unknown(struct tap_starts *s, const struct tap_interval *i);
/* Note what a CPU did. Calls in time order for each CPU. Return: 0 or -ENOMEM. */
int tap_starts_cpu(struct tap_starts *s, const struct tap_cpu_interval *i);

/* Return the time from which to read for the part after @from_ns, up to and including @to_ns. */
uint64_t tap_starts_find(const struct tap_starts *s, uint64_t from_ns, uint64_t to_ns);
/*
 * Find what CPUs ran at @ns, where the time until the part does not show that. @origins: has room
 * for one element for each CPU of @s. Return: the number of origins.
 */
unsigned int tap_starts_origins(const struct tap_starts *s, uint64_t ns,
				struct tap_origin *origins);

/*
 * Find the wait of a task that ended at @ns, after a sleep that reading does not go back to.
 * Return: NULL: there is none.
 */
const struct tap_slept_wait *tap_starts_slept(const struct tap_starts *s, int tid, uint64_t ns);

/*
 * Return true if the length of a wait that ended at @ns is not known. A reading that begins after
 * lost events cannot know this: it has not seen the loss.
 */
bool tap_starts_is_unknown(const struct tap_starts *s, int tid, uint64_t ns);

#endif
