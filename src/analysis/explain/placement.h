/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a wakeup put a task on a CPU, as far as events show it: what the task's previous CPU, its
 * waker's CPU and the chosen CPU did at that time, whether another CPU that the task may use was
 * idle (see avoidable.h for how that is known), and the energies that the kernel computed.
 */
#ifndef TAP_EXPLAIN_PLACEMENT_H
#define TAP_EXPLAIN_PLACEMENT_H

#include "analysis/explain/avoidable.h"

/* The first reason that applies. */
enum tap_placed_why {
	TAP_PLACED_UNKNOWN, /* it is unknown what the previous or the chosen CPU did */
	TAP_PLACED_ENERGY, /* energies were computed, and the chosen CPU's is the lowest */
	TAP_PLACED_PREVIOUS_IDLE, /* the previous CPU was idle */
	TAP_PLACED_IDLE, /* the chosen CPU was idle, and the previous CPU was not */
	TAP_PLACED_WAKER, /* the waker's CPU was chosen; neither it nor the previous CPU was idle */
	TAP_PLACED_PREVIOUS, /* the previous CPU, as no CPU that the task may use was idle */
	TAP_PLACED_NO_REASON,
	TAP_NR_PLACED_WHY,
};

/* Return the reason's name in JSON: "previous_idle", ... */
const char *tap_placed_name(enum tap_placed_why why);

#define TAP_PLACED_ENERGIES 16u

struct tap_placed {
	/* .waker: NULL: an interrupt on an idle CPU, or unknown */
	const struct tap_task *task, *waker;
	uint64_t ts_ns;
	int waker_cpu, previous, chosen; /* .previous: -1: none */
	enum tap_placed_why why;
	enum tap_cpu_what previous_what, chosen_what;
	int previous_idle_state, chosen_idle_state; /* state of cpu_idle; -1: none, or unknown */
	unsigned int nr_idle; /* other CPUs that were idle and that the task may use */
	/*
	 * the change of the domain's energy if the task runs on .cpu; at most TAP_PLACED_ENERGIES
	 */
	struct {
		int cpu;
		int64_t energy;
	} energies[TAP_PLACED_ENERGIES];
	unsigned int nr_energies;
	uint64_t base_energy; /* private: the domain's energy without the task */
	uint64_t wait_ns; /* from the wakeup until the task ran */
};

struct tap_placements_opts {
	/* Called when a selected task runs after its wakeup. A value other than 0 stops the run. */
	int (*tell)(void *ctx, const struct tap_placed *p);
	void *ctx;
};

struct tap_placements {
	/* private */
	struct tap_placements_opts opts;
	const struct tap_timeline *timeline; /* as of the last call */
	struct tap_avoidable allowed;
	/* owned; by the task's .index: its latest wakeup; .task is NULL: none in progress */
	struct tap_placed *now;
	unsigned int nr_now;
	/* owned; by CPU: state of cpu_idle, plus 1; 0: none, or unknown */
	unsigned int *idle_states;
	unsigned int nr_idle_states;
};

void tap_placements_init(struct tap_placements *p, const struct tap_placements_opts *opts);
void tap_placements_release(struct tap_placements *p);

/* ctx: struct tap_placements. Returns what .tell returned. */
extern const struct tap_watcher_ops tap_placements_ops;
/* cpu_idle; @state: -1: the CPU leaves its idle state. Return: 0 or -ENOMEM. */
int tap_placements_idle(struct tap_placements *p, int cpu, int state);
/*
 * sched_compute_energy; @cpu: -1: a domain without the task, which comes before the domain's CPUs.
 */
void tap_placements_energy(struct tap_placements *p, const struct tap_task *task, int cpu,
			   uint64_t energy);

#endif
