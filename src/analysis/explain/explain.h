/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sums of waits for a CPU by kind of component (piece.h), by the task that ran meanwhile, and by
 * pair of delayed and delaying cgroup; and the longest waits, with their components. The components
 * of a wait add up to its length.
 */
#ifndef TAP_EXPLAIN_EXPLAIN_H
#define TAP_EXPLAIN_EXPLAIN_H

#include "base/map.h"
#include "analysis/explain/waits.h"

/* The main cause of a wait, in one word. */
enum tap_verdict {
	TAP_VERDICT_UNKNOWN,
	TAP_VERDICT_CONTENTION, /* another task ran */
	TAP_VERDICT_IDLE_CPU, /* contention, and for at least half of it an allowed CPU was idle */
	/* contention, and for at least half of it a CPU was idle, but no allowed one */
	TAP_VERDICT_AFFINITY,
	TAP_VERDICT_THROTTLED,
	TAP_VERDICT_HELD,
	TAP_VERDICT_WAKEUP, /* from the waker to the CPU's run queue */
	TAP_VERDICT_IDLE_EXIT,
	TAP_VERDICT_INTERRUPTS,
	TAP_VERDICT_HOTPLUG,
	TAP_VERDICT_NOT_EXPLAINED,
	TAP_NR_VERDICTS,
};

const char *tap_verdict_name(enum tap_verdict verdict); /* as used in JSON */
const char *tap_verdict_text(enum tap_verdict verdict); /* as shown to users */

struct tap_explained_wait {
	const struct tap_task *task;
	enum tap_state state;
	uint64_t from_ns, to_ns;
	int cpu;
	bool whole;
	enum tap_verdict verdict;
	struct tap_avoidable_idle idle; /* owned; other CPUs' idle time, not part of .pieces */
	struct tap_piece *pieces; /* owned */
	unsigned int nr_pieces;
};

struct tap_explained_sum {
	uint64_t ns, waits, max_ns; /* .max_ns: the most within one wait */
	uint64_t wait_ns; /* private: gathered for the wait that is being added */
};

/* Add one wait. */
static inline void tap_explained_add(struct tap_explained_sum *sum, uint64_t ns)
{
	sum->ns += ns;
	sum->waits++;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
}

/*
 * How long tasks of the victim cgroup waited while tasks of the aggressor cgroup ran. Cgroups are
 * kernfs IDs; 0: unknown.
 */
struct tap_explained_pair {
	uint64_t victim, aggressor;
	struct tap_explained_sum sum;
};

#define TAP_RECENT_PAIRS 64u

struct tap_explain {
	bool pairs_only; /* set by the caller: compute neither .kinds nor .runners */
	/* set by the caller: maps a cgroup to the ID to use in .pairs; NULL: the cgroup's own ID */
	uint64_t (*group)(const void *ctx, uint64_t cgroup);
	const void *group_ctx;
	struct tap_explained_sum all, kinds[TAP_NR_PIECE_KINDS];
	struct tap_explained_sum *runners; /* owned; by the .index of the task that ran */
	unsigned int nr_runners;
	/* owned; after tap_explain_end() sorted by .sum.ns, greatest first */
	struct tap_explained_pair *pairs;
	unsigned int nr_pairs, cap_pairs;
	struct tap_explained_wait *worst; /* owned; the longest first */
	unsigned int nr_worst, max_worst;

	/* private */
	struct tap_map pair_of; /* hash of victim and aggressor -> index + 1 */
	unsigned int recent_pairs[TAP_RECENT_PAIRS]; /* a cache of indices */
};

/* @max_worst: number of longest waits to keep. Return: 0 or -ENOMEM. */
int tap_explain_init(struct tap_explain *e, unsigned int max_worst);
void tap_explain_release(struct tap_explain *e);
/* Add a wait. @waits: the object whose .tell function calls this. Return: 0 or -ENOMEM. */
int tap_explain_wait(struct tap_explain *e, struct tap_explain_waits *waits,
		     const struct tap_wait_told *w);
void tap_explain_end(struct tap_explain *e);

#endif
