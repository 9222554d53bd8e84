/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What waits for a CPU were for, added up: by kind of piece (piece.h), by who ran meanwhile, by
 * whose cgroup delayed whose; and the longest ones, with their pieces. The parts of each add up to
 * what was waited.
 */
#ifndef TAP_EXPLAIN_EXPLAIN_H
#define TAP_EXPLAIN_EXPLAIN_H

#include "base/map.h"
#include "analysis/explain/waits.h"

/* What most of a wait was for, in a word. */
enum tap_verdict {
	TAP_VERDICT_UNKNOWN,
	TAP_VERDICT_CONTENTION, /* another task ran */
	TAP_VERDICT_IDLE_CPU, /* so, and for half of that or more a CPU was idle that it may use */
	/* so, and meanwhile CPUs were idle, but for half of that or more none that it may use */
	TAP_VERDICT_AFFINITY,
	TAP_VERDICT_THROTTLED,
	TAP_VERDICT_HELD,
	TAP_VERDICT_WAKEUP, /* the way from the waker to the CPU */
	TAP_VERDICT_IDLE_EXIT,
	TAP_VERDICT_INTERRUPTS,
	TAP_VERDICT_HOTPLUG,
	TAP_VERDICT_NOT_EXPLAINED,
	TAP_NR_VERDICTS,
};

const char *tap_verdict_name(enum tap_verdict verdict); /* as in JSON */
const char *tap_verdict_text(enum tap_verdict verdict); /* in words */

struct tap_explained_wait {
	const struct tap_task *task;
	enum tap_state state;
	uint64_t from_ns, to_ns;
	int cpu;
	bool whole;
	enum tap_verdict verdict;
	struct tap_avoidable_idle idle; /* owned; other CPUs: no pieces of it */
	struct tap_piece *pieces; /* owned */
	unsigned int nr_pieces;
};

struct tap_explained_sum {
	uint64_t ns, waits, max_ns; /* .max_ns: in one wait */
	uint64_t wait_ns; /* inside: of the wait that is being added */
};

/* One wait more. */
static inline void tap_explained_add(struct tap_explained_sum *sum, uint64_t ns)
{
	sum->ns += ns;
	sum->waits++;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
}

/* Whose tasks waited while whose ran. Cgroups by kernfs id, 0: not known. */
struct tap_explained_pair {
	uint64_t victim, aggressor;
	struct tap_explained_sum sum;
};

#define TAP_RECENT_PAIRS 64u

struct tap_explain {
	bool pairs_only; /* set by the caller: no kinds and no runners */
	/* likewise: whose ids the pairs have; NULL: the cgroups' own */
	uint64_t (*group)(const void *ctx, uint64_t cgroup);
	const void *group_ctx;
	struct tap_explained_sum all, kinds[TAP_NR_PIECE_KINDS];
	struct tap_explained_sum *runners; /* owned; by the index of the task that ran */
	unsigned int nr_runners;
	struct tap_explained_pair *pairs; /* owned; after the end the one that cost most first */
	unsigned int nr_pairs, cap_pairs;
	struct tap_explained_wait *worst; /* owned; the longest first */
	unsigned int nr_worst, max_worst;

	/* inside */
	struct tap_map pair_of; /* a key of both -> index + 1 */
	unsigned int recent_pairs[TAP_RECENT_PAIRS]; /* indices */
};

/* @max_worst: how many of the longest waits to keep. Return: 0 or -ENOMEM. */
int tap_explain_init(struct tap_explain *e, unsigned int max_worst);
void tap_explain_release(struct tap_explain *e);
/* @waits: whose .tell this is. Return: 0 or -ENOMEM. */
int tap_explain_wait(struct tap_explain *e, struct tap_explain_waits *waits,
		     const struct tap_wait_told *w);
void tap_explain_end(struct tap_explain *e);

#endif
