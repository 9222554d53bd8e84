/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Violations of work conservation: a task waits in one CPU's queue while another CPU is free for it
 * (balance.h has the conditions). The caller reports a wait's changes here; violations count if the
 * wait proves to be whole.
 */
#ifndef TAP_ANALYSIS_VIOLATIONS_H
#define TAP_ANALYSIS_VIOLATIONS_H

#include "base/hist.h"
#include "base/text.h"
#include "timeline/timeline.h"

struct tap_violation {
	const struct tap_task *task; /* borrowed from the timeline */
	enum tap_state state; /* TAP_STATE_WAKING or TAP_STATE_PREEMPTED */
	int cpu; /* CPU in whose queue it was at the beginning */
	uint64_t from_ns, to_ns;
	struct tap_cpus idle; /* owned; CPUs that were free for it at some time in the interval */
};

enum tap_wait_mode {
	TAP_WAIT_PLAIN,
	TAP_WAIT_EXIT, /* waits for its own CPU, which is idle */
	TAP_WAIT_VIOLATION,
};

/* A task and its current wait. {0}: no wait. */
struct tap_wait {
	const struct tap_task *task;
	struct tap_cpus used; /* owned; CPUs that it may use, if its affinity is not listed */
	const struct tap_cpus *listed; /* borrowed; its affinity from task lists, or NULL */
	bool anywhere; /* task lists say that it may use all CPUs */
	enum tap_state state;
	int cpu; /* CPU of its queue; -1: not known */

	/* private */
	enum tap_wait_mode mode;
	uint64_t mode_since_ns;
	int mode_cpu;
	struct tap_cpus idle; /* CPUs free during a TAP_WAIT_VIOLATION */
	/* counted if this wait proves to be whole */
	uint64_t exit_ns;
	struct tap_violation *found; /* owned */
	unsigned int nr_found, cap_found;
};

struct tap_violations {
	struct tap_hist lengths; /* ns */
	/* indexed by tap_violation.state */
	uint64_t state_count[TAP_NR_STATES], state_ns[TAP_NR_STATES];
	uint64_t waits, wait_ns; /* whole waits, with or without violations */
	uint64_t exits, exit_ns; /* waits for their own idle CPU, and that time */
	struct tap_violation *worst; /* owned; the longest first */
	unsigned int nr_worst;

	/*
	 * Called for each wait that enters a violation or leaves it (see its .mode), at
	 * .mode_since_ns. Then nothing is counted, since that would need memory until the wait is
	 * over. NULL: violations are counted.
	 */
	void (*tell)(void *ctx, const struct tap_wait *w);
	void *ctx;

	/* private */
	uint64_t min_ns;
	unsigned int max_worst;
	unsigned int nr_now; /* waits that are in a violation now */
};

/*
 * @min_ns: shorter violations do not count. @max_worst: number of worst violations to keep. Return:
 * 0 or -ENOMEM, like the functions below that return int.
 */
int tap_violations_init(struct tap_violations *v, uint64_t min_ns, unsigned int max_worst);
void tap_violations_release(struct tap_violations *v);

/* The wait is in @mode from @now_ns on. @free_cpus: the CPUs free now. */
int tap_violations_set(struct tap_violations *v, struct tap_wait *w, enum tap_wait_mode mode,
		       const struct tap_cpus *free_cpus, uint64_t now_ns);
/* Count a wait that was whole and lasted @wait_ns. It must be in mode TAP_WAIT_PLAIN. */
int tap_violations_count(struct tap_violations *v, struct tap_wait *w, uint64_t wait_ns);

/* Return true if the task may use at least one of @cpus. */
bool tap_wait_may_use(const struct tap_wait *w, const struct tap_cpus *cpus);
/* Drop the violations found in the wait: they do not count. */
void tap_wait_drop(struct tap_wait *w);
void tap_wait_release(struct tap_wait *w);

#endif
