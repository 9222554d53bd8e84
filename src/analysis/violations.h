/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Violations of work conservation: a task waits in the queue of one CPU, and another is free for
 * it (balance.h says what that means). Here they are told for each wait, and count if the wait
 * turns out whole.
 */
#ifndef TAP_ANALYSIS_VIOLATIONS_H
#define TAP_ANALYSIS_VIOLATIONS_H

#include "base/hist.h"
#include "base/text.h"
#include "timeline/timeline.h"

struct tap_violation {
	const struct tap_task *task; /* borrowed from the timeline */
	enum tap_state state; /* TAP_STATE_WAKING or TAP_STATE_PREEMPTED */
	int cpu; /* in whose queue it was at the beginning */
	uint64_t from_ns, to_ns;
	struct tap_cpus idle; /* owned; those that were free for it at some time within */
};

enum tap_wait_mode {
	TAP_WAIT_PLAIN,
	TAP_WAIT_EXIT, /* for its own CPU, which is idle */
	TAP_WAIT_VIOLATION,
};

/* A task, and its present wait. {0}: none. */
struct tap_wait {
	const struct tap_task *task;
	struct tap_cpus used; /* owned; where it may run, if that is not listed */
	const struct tap_cpus *listed; /* borrowed; or NULL */
	bool anywhere; /* as is listed */
	enum tap_state state;
	int cpu; /* whose queue; -1: not known */

	/* inside */
	enum tap_wait_mode mode;
	uint64_t mode_since_ns;
	int mode_cpu;
	struct tap_cpus idle; /* of TAP_WAIT_VIOLATION */
	/* of this wait, if it turns out whole */
	uint64_t exit_ns;
	struct tap_violation *found; /* owned */
	unsigned int nr_found, cap_found;
};

struct tap_violations {
	struct tap_hist lengths; /* ns */
	uint64_t state_count[TAP_NR_STATES], state_ns[TAP_NR_STATES]; /* by .state */
	uint64_t waits, wait_ns; /* whole ones, with violations or not */
	uint64_t exits, exit_ns; /* those that waited for their own idle CPU, and how long */
	struct tap_violation *worst; /* owned; the longest first */
	unsigned int nr_worst;

	/*
	 * Told of each wait that comes into a violation, or leaves it (its .mode says which), at
	 * .mode_since_ns. Nothing is counted then: that would have to be kept until the wait is
	 * over. NULL: they are counted.
	 */
	void (*tell)(void *ctx, const struct tap_wait *w);
	void *ctx;

	/* inside */
	uint64_t min_ns;
	unsigned int max_worst;
	unsigned int nr_now; /* waits that are in one */
};

/* @min_ns: shorter ones do not count. @max_worst: to be kept. Return: 0 or -ENOMEM, here and below.
 */
int tap_violations_init(struct tap_violations *v, uint64_t min_ns, unsigned int max_worst);
void tap_violations_release(struct tap_violations *v);

/* From now on the wait is in @mode; these CPUs are free. */
int tap_violations_set(struct tap_violations *v, struct tap_wait *w, enum tap_wait_mode mode,
		       const struct tap_cpus *free_cpus, uint64_t now_ns);
/* The wait, in no mode any more, was whole and lasted so long. */
int tap_violations_count(struct tap_violations *v, struct tap_wait *w, uint64_t wait_ns);

/* Whether the task may use one of them. */
bool tap_wait_may_use(const struct tap_wait *w, const struct tap_cpus *cpus);
/* What was found in it does not count. */
void tap_wait_drop(struct tap_wait *w);
void tap_wait_release(struct tap_wait *w);

#endif
