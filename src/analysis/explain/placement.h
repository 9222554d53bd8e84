/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a wakeup put a task where it did, as far as events tell: what the CPU that it ran on last,
 * its waker's and the chosen one did then, whether another CPU that it may use was idle
 * (avoidable.h says how that is known), and the energies that were calculated for it.
 */
#ifndef TAP_EXPLAIN_PLACEMENT_H
#define TAP_EXPLAIN_PLACEMENT_H

#include "analysis/explain/avoidable.h"

/* The first that fits. */
enum tap_placed_why {
	TAP_PLACED_UNKNOWN, /* what one of these CPUs did is not known */
	TAP_PLACED_ENERGY, /* energies were calculated, and that was the least one */
	TAP_PLACED_PREVIOUS_IDLE, /* where it ran last, which was idle */
	TAP_PLACED_IDLE, /* that CPU was idle, and the one where it ran last was not */
	TAP_PLACED_WAKER, /* where its waker ran; neither was idle */
	TAP_PLACED_PREVIOUS, /* where it ran last: none that it may use was idle */
	TAP_PLACED_NO_REASON,
	TAP_NR_PLACED_WHY,
};

/* "previous_idle", ..., as in JSON. */
const char *tap_placed_name(enum tap_placed_why why);

#define TAP_PLACED_ENERGIES 16u

struct tap_placed {
	/* .waker: NULL: an idle CPU's interrupt, or not known */
	const struct tap_task *task, *waker;
	uint64_t ts_ns;
	int waker_cpu, previous, chosen; /* .previous: -1: none */
	enum tap_placed_why why;
	enum tap_cpu_what previous_what, chosen_what;
	int previous_idle_state, chosen_idle_state; /* of cpu_idle; -1: in none, or not known */
	unsigned int nr_idle; /* others that were idle and that it may use */
	/* what running it there would add to its domain's energy; the first ones */
	struct {
		int cpu;
		int64_t energy;
	} energies[TAP_PLACED_ENERGIES];
	unsigned int nr_energies;
	uint64_t base_energy; /* inside: of the domain, without it */
	uint64_t wait_ns; /* until it ran */
};

struct tap_placements_opts {
	/* A placement of a selected task is over: the task runs. Return: 0; what stops. */
	int (*tell)(void *ctx, const struct tap_placed *p);
	void *ctx;
};

struct tap_placements {
	/* inside */
	struct tap_placements_opts opts;
	const struct tap_timeline *timeline; /* of the last call */
	struct tap_avoidable allowed;
	struct tap_placed *now; /* owned; by task's index; without .task: none */
	unsigned int nr_now;
	unsigned int *idle_states; /* owned; by CPU, plus 1; 0: in none, or not known */
	unsigned int nr_idle_states;
};

void tap_placements_init(struct tap_placements *p, const struct tap_placements_opts *opts);
void tap_placements_release(struct tap_placements *p);

/* ctx: struct tap_placements. Stops with what .tell returned. */
extern const struct tap_watcher_ops tap_placements_ops;
/* cpu_idle; @state: -1: the CPU leaves it. Return: 0 or -ENOMEM. */
int tap_placements_idle(struct tap_placements *p, int cpu, int state);
/* sched_compute_energy; @cpu: -1: of a domain without the task, before those of its CPUs. */
void tap_placements_energy(struct tap_placements *p, const struct tap_task *task, int cpu,
			   uint64_t energy);

#endif
