/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fair class's rules on one CPU, as in kernel/sched/fair.c: a queue of entities, where they are
 * placed, which one is picked, and when the running one is asked to give way. Written from the
 * kernel's source for tests, and shares no code with src/analysis/eevdf.c.
 *
 * Virtual times are in ns. Weights are those of sched_prio_to_weight[]: 1024 for nice 0.
 */
#ifndef TAP_TRUTH_OVERRUN_RULES_H
#define TAP_TRUTH_OVERRUN_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kernel versions between which the rules changed. */
enum version { V6_6, V6_12, V6_17, V6_19, NR_VERSIONS };

struct entity {
	int64_t v, deadline, vprot, vlag;
	int64_t slice_ns;
	int64_t weight;
	bool on_rq, delayed, rel_deadline;
	bool is_protected; /* before v6.17: curr->vlag == curr->deadline */
};

#define MAX_ENTITIES 64

struct queue {
	enum version version;
	int64_t tick_ns;
	struct entity *all[MAX_ENTITIES]; /* all entities that are on_rq, including .curr */
	unsigned int nr;
	struct entity *curr;
	bool resched; /* __resched_curr() was called for .curr */
};

static inline int64_t virtual_of(int64_t ns, const struct entity *se)
{
	return (int64_t)((__int128)ns * 1024 / se->weight);
}

static inline int64_t load_of(const struct queue *q)
{
	int64_t load = 0;

	for (unsigned int i = 0; i < q->nr; i++)
		load += q->all[i]->weight;
	return load;
}

/* Return the sum of (v - @zero) * weight over all entities. */
static inline __int128 keys_of(const struct queue *q, int64_t zero)
{
	__int128 sum = 0;

	for (unsigned int i = 0; i < q->nr; i++)
		sum += (__int128)(q->all[i]->v - zero) * q->all[i]->weight;
	return sum;
}

/* avg_vruntime(): rounds down. */
static inline int64_t avg_vruntime(const struct queue *q)
{
	int64_t zero = q->nr ? q->all[0]->v : 0, load = load_of(q);
	__int128 keys = keys_of(q, zero);

	if (!load)
		return 0;
	if (keys < 0)
		keys -= load - 1;
	return zero + (int64_t)(keys / load);
}

static inline bool entity_eligible(const struct queue *q, const struct entity *se)
{
	return keys_of(q, se->v) >= 0;
}

static inline int64_t clamp_lag(int64_t lag, int64_t limit)
{
	return lag > limit ? limit : lag < -limit ? -limit : lag;
}

static inline int64_t max_slice(const struct queue *q)
{
	int64_t slice_ns = 0;

	for (unsigned int i = 0; i < q->nr; i++)
		slice_ns = q->all[i]->slice_ns > slice_ns ? q->all[i]->slice_ns : slice_ns;
	return slice_ns;
}

static inline int64_t min_slice(const struct queue *q)
{
	int64_t slice_ns = INT64_MAX;

	for (unsigned int i = 0; i < q->nr; i++)
		slice_ns = q->all[i]->slice_ns < slice_ns ? q->all[i]->slice_ns : slice_ns;
	return slice_ns;
}

static inline void update_entity_lag(const struct queue *q, struct entity *se)
{
	int64_t own_ns = 2 * se->slice_ns > q->tick_ns ? 2 * se->slice_ns : q->tick_ns;
	int64_t limit_ns = q->version >= V6_19 ? max_slice(q) + q->tick_ns : own_ns;

	se->vlag = clamp_lag(avg_vruntime(q) - se->v, virtual_of(limit_ns, se));
}

static inline void queue_add(struct queue *q, struct entity *se)
{
	q->all[q->nr++] = se;
	se->on_rq = true;
}

static inline void queue_remove(struct queue *q, struct entity *se)
{
	for (unsigned int i = 0; i < q->nr; i++) {
		if (q->all[i] == se)
			q->all[i--] = q->all[--q->nr];
	}
	se->on_rq = false;
}

static inline void place_entity(const struct queue *q, struct entity *se, bool is_initial)
{
	int64_t load = load_of(q), vslice = virtual_of(se->slice_ns, se);
	int64_t lag = load ? (int64_t)((__int128)se->vlag * (load + se->weight) / load) : 0;

	se->v = avg_vruntime(q) - lag;
	if (se->rel_deadline) {
		se->deadline += se->v;
		se->rel_deadline = false;
		return;
	}
	se->deadline = se->v + (is_initial ? vslice / 2 : vslice);
}

/*
 * Dequeue an entity that leaves or goes to sleep. A sleeping one may be dequeued later
 * (DELAY_DEQUEUE, since v6.12).
 */
static inline void dequeue_entity(struct queue *q, struct entity *se, bool is_sleep)
{
	if (is_sleep && q->version >= V6_12 && !entity_eligible(q, se)) {
		se->delayed = true;
		return;
	}
	update_entity_lag(q, se);
	if (!is_sleep && q->version >= V6_12) { /* PLACE_REL_DEADLINE */
		se->deadline -= se->v;
		se->rel_deadline = true;
	}
	queue_remove(q, se);
}

/* finish_delayed_dequeue_entity(), DELAY_ZERO */
static inline void finish_delayed(struct queue *q, struct entity *se)
{
	update_entity_lag(q, se);
	if (se->vlag > 0)
		se->vlag = 0;
	se->delayed = false;
	queue_remove(q, se);
}

/* requeue_delayed_entity() */
static inline void requeue_delayed(struct queue *q, struct entity *se)
{
	update_entity_lag(q, se);
	if (se->vlag > 0) {
		queue_remove(q, se);
		se->vlag = 0;
		place_entity(q, se, false);
		queue_add(q, se);
	}
	se->delayed = false;
}

/* RUN_TO_PARITY */
static inline bool protect_slice(const struct queue *q, const struct entity *se)
{
	return q->version >= V6_17 ? se->vprot - se->v > 0 : se->is_protected;
}

static inline void set_protect_slice(const struct queue *q, struct entity *se)
{
	int64_t slice_ns = min_slice(q) < se->slice_ns ? min_slice(q) : se->slice_ns;
	int64_t end = se->v + virtual_of(slice_ns, se);

	se->vprot = end < se->deadline ? end : se->deadline;
	se->is_protected = true;
}

/* @protect: the argument of __pick_eevdf() since v6.17. */
static inline struct entity *pick_eevdf(const struct queue *q, bool protect)
{
	struct entity *curr = q->curr && q->curr->on_rq && entity_eligible(q, q->curr) ? q->curr
										       : NULL,
		      *best = NULL;

	if (q->nr == 1)
		return q->all[0];
	if (curr && protect && protect_slice(q, curr))
		return curr;
	for (unsigned int i = 0; i < q->nr; i++) {
		struct entity *se = q->all[i];

		if (se != q->curr && entity_eligible(q, se) &&
		    (!best || se->deadline < best->deadline))
			best = se;
	}
	return !best || (curr && curr->deadline < best->deadline) ? curr : best;
}

/* update_deadline(); Return: true if the slice was used up. */
static inline bool update_deadline(struct entity *se)
{
	if (se->v - se->deadline < 0)
		return false;
	se->deadline = se->v + virtual_of(se->slice_ns, se);
	se->is_protected = false;
	return true;
}

/* update_curr(), after @ns more on the task's clock */
static inline void update_curr(struct queue *q, int64_t ns)
{
	struct entity *curr = q->curr;
	bool resched;

	if (!curr)
		return;
	curr->v += virtual_of(ns, curr);
	resched = update_deadline(curr);
	if (q->nr == 1)
		return;
	if (q->version >= V6_17)
		resched |= !protect_slice(q, curr);
	else if (q->version >= V6_12) /* did_preempt_short() */
		resched |= !protect_slice(q, curr) && !entity_eligible(q, curr);
	q->resched |= resched;
}

static inline bool do_preempt_short(const struct queue *q, const struct entity *pse,
				    const struct entity *se)
{
	if (q->version < V6_12 || pse->slice_ns >= se->slice_ns)
		return false;
	if (q->version >= V6_17)
		return true;
	return entity_eligible(q, pse) && (pse->deadline < se->deadline || !entity_eligible(q, se));
}

/* check_preempt_wakeup_fair(): @pse was woken, or migrated to this CPU */
static inline void check_preempt(struct queue *q, const struct entity *pse)
{
	struct entity *curr = q->curr;
	bool is_short;

	if (!curr || curr == pse)
		return;
	is_short = do_preempt_short(q, pse, curr);
	if (is_short && q->version < V6_17)
		curr->is_protected = false;
	if (pick_eevdf(q, !is_short) == pse) {
		q->resched = true;
		if (is_short)
			curr->vprot = curr->v;
	} else if (is_short && q->version >= V6_17) { /* update_protect_slice() */
		int64_t end = curr->v + virtual_of(min_slice(q), curr);

		curr->vprot = end < curr->vprot ? end : curr->vprot;
	}
}

static inline void enqueue_entity(struct queue *q, struct entity *se, bool is_initial)
{
	place_entity(q, se, is_initial);
	queue_add(q, se);
}

#endif
