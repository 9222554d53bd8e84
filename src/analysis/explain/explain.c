// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static const struct {
	const char *name, *text;
} verdicts[TAP_NR_VERDICTS] = {
	[TAP_VERDICT_UNKNOWN] = { "unknown", "unknown" },
	[TAP_VERDICT_CONTENTION] = { "contention", "contention" },
	[TAP_VERDICT_IDLE_CPU] = { "idle_cpu", "an allowed CPU was idle" },
	[TAP_VERDICT_AFFINITY] = { "affinity", "affinity" },
	[TAP_VERDICT_THROTTLED] = { "throttled", "throttled" },
	[TAP_VERDICT_HELD] = { "held", "held" },
	[TAP_VERDICT_WAKEUP] = { "wakeup", "wakeup" },
	[TAP_VERDICT_IDLE_EXIT] = { "idle_exit", "idle exit" },
	[TAP_VERDICT_INTERRUPTS] = { "interrupts", "interrupts" },
	[TAP_VERDICT_HOTPLUG] = { "hotplug", "hotplug" },
	[TAP_VERDICT_NOT_EXPLAINED] = { "not_explained", "not explained" },
};

const char *tap_verdict_name(enum tap_verdict verdict)
{
	return verdicts[verdict].name;
}

const char *tap_verdict_text(enum tap_verdict verdict)
{
	return verdicts[verdict].text;
}

/* Refine the verdict on contention, @ns long, by the time in which other CPUs were idle. */
static enum tap_verdict verdict_on_contention(uint64_t ns, const struct tap_avoidable_idle *idle)
{
	uint64_t half_ns = ns - ns / 2;

	if (idle->contended_ns >= half_ns)
		return TAP_VERDICT_IDLE_CPU;
	return idle->contended_barred_ns >= half_ns ? TAP_VERDICT_AFFINITY : TAP_VERDICT_CONTENTION;
}

static enum tap_verdict verdict_of(const struct tap_wait_told *w,
				   const struct tap_avoidable_idle *idle)
{
	static const enum tap_verdict of_kinds[TAP_NR_PIECE_KINDS] = {
		[TAP_PIECE_UNKNOWN] = TAP_VERDICT_UNKNOWN,
		[TAP_PIECE_THROTTLED] = TAP_VERDICT_THROTTLED,
		[TAP_PIECE_PLACING] = TAP_VERDICT_WAKEUP,
		[TAP_PIECE_HELD] = TAP_VERDICT_HELD,
		[TAP_PIECE_OFFLINE] = TAP_VERDICT_HOTPLUG,
		[TAP_PIECE_IRQ] = TAP_VERDICT_INTERRUPTS,
		[TAP_PIECE_SOFTIRQ] = TAP_VERDICT_INTERRUPTS,
		[TAP_PIECE_IDLE_STATE] = TAP_VERDICT_WAKEUP,
		[TAP_PIECE_IDLE_EXIT] = TAP_VERDICT_IDLE_EXIT,
		[TAP_PIECE_IDLE] = TAP_VERDICT_IDLE_EXIT,
		[TAP_PIECE_STOP] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_DEADLINE] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_REALTIME] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_HIGHER] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_SERVER] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_RESCHED] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_LAZY] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_DSQ] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_GROUP] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_INELIGIBLE] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_PROTECTED] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_EARLIER] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_OVERRUN] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_QUEUED] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_LOWER] = TAP_VERDICT_CONTENTION,
		[TAP_PIECE_NOT_EXPLAINED] = TAP_VERDICT_NOT_EXPLAINED,
	};
	uint64_t ns[TAP_NR_VERDICTS] = { 0 };
	enum tap_verdict most = TAP_VERDICT_UNKNOWN;

	for (unsigned int i = 0; i < w->nr_pieces; i++)
		ns[of_kinds[w->pieces[i].kind]] += w->pieces[i].ns;
	for (enum tap_verdict v = 0; v < TAP_NR_VERDICTS; v++)
		if (ns[v] > ns[most])
			most = v;
	return most == TAP_VERDICT_CONTENTION ? verdict_on_contention(ns[most], idle) : most;
}

int tap_explain_init(struct tap_explain *e, unsigned int max_worst)
{
	*e = (struct tap_explain){ .max_worst = max_worst };
	/* room for one more, which is added before another one is dropped */
	e->worst = calloc((size_t)max_worst + 1, sizeof(*e->worst));
	return e->worst ? 0 : -ENOMEM;
}

static void release_wait(struct tap_explained_wait *w)
{
	free(w->pieces);
	tap_avoidable_idle_release(&w->idle);
}

void tap_explain_release(struct tap_explain *e)
{
	for (unsigned int i = 0; i < e->nr_worst; i++)
		release_wait(&e->worst[i]);
	free(e->worst);
	free(e->runners);
	free(e->pairs);
	tap_map_release(&e->pair_of);
}

/* ---- sums ---- */

/* Return: NULL when out of memory. */
static struct tap_explained_pair *pair_find(struct tap_explain *e, uint64_t victim,
					    uint64_t aggressor)
{
	uint64_t ids[] = { victim, aggressor }, key = tap_map_key(ids, sizeof(ids)), *place;

	/* on a hash collision try the next key */
	while ((place = tap_map_put(&e->pair_of, key)) && *place) {
		struct tap_explained_pair *pair = &e->pairs[*place - 1];

		if (pair->victim == victim && pair->aggressor == aggressor)
			return pair;
		key++;
	}
	if (!place || tap_array_grow(&e->pairs, e->nr_pairs, &e->cap_pairs, sizeof(*e->pairs)))
		return NULL;
	e->pairs[e->nr_pairs] =
		(struct tap_explained_pair){ .victim = victim, .aggressor = aggressor };
	*place = ++e->nr_pairs;
	return &e->pairs[e->nr_pairs - 1];
}

/*
 * Find a pair through a cache, since few pairs account for most calls. Return: NULL when out of
 * memory.
 */
static struct tap_explained_sum *pair_get(struct tap_explain *e, uint64_t victim,
					  uint64_t aggressor)
{
	unsigned int *recent = &e->recent_pairs[(victim * 3 + aggressor) % TAP_RECENT_PAIRS];
	struct tap_explained_pair *pair = *recent < e->nr_pairs ? &e->pairs[*recent] : NULL;

	if (!pair || pair->victim != victim || pair->aggressor != aggressor) {
		pair = pair_find(e, victim, aggressor);
		if (!pair)
			return NULL;
		*recent = (unsigned int)(pair - e->pairs);
	}
	return &pair->sum;
}

static uint64_t group_of(const struct tap_explain *e, const struct tap_task *task)
{
	return e->group ? e->group(e->group_ctx, task->cgroup) : task->cgroup;
}

static struct tap_explained_sum *pair_of(struct tap_explain *e, const struct tap_wait_told *w,
					 const struct tap_piece *p)
{
	return pair_get(e, group_of(e, w->task), group_of(e, p->task));
}

static struct tap_explained_sum *runner_of(struct tap_explain *e, const struct tap_piece *p)
{
	return tap_array_at(&e->runners, &e->nr_runners, p->task->index,
			    sizeof(struct tap_explained_sum), NULL);
}

/*
 * Several components of a wait may belong to the same sum, which must count the wait once: so their
 * times are gathered in .wait_ns first.
 */
enum step { WHOLE, GATHER, COUNT };

static inline void add_to(struct tap_explained_sum *sum, uint64_t ns, enum step step)
{
	if (step == GATHER) {
		sum->wait_ns += ns;
	} else if (step == WHOLE) {
		tap_explained_add(sum, ns);
	} else if (sum->wait_ns) {
		tap_explained_add(sum, sum->wait_ns);
		sum->wait_ns = 0;
	}
}

/* Add a wait's components to the sums of its pairs and of the tasks that ran. */
static inline __attribute__((always_inline)) int
add_pieces(struct tap_explain *e, const struct tap_wait_told *w, enum step step)
{
	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		const struct tap_piece *p = &w->pieces[i];
		struct tap_explained_sum *pair, *runner;

		if (!p->task)
			continue;
		pair = pair_of(e, w, p);
		if (!pair)
			return -ENOMEM;
		add_to(pair, p->ns, step);
		runner = e->pairs_only ? NULL : runner_of(e, p);
		if (!runner && !e->pairs_only)
			return -ENOMEM;
		if (runner)
			add_to(runner, p->ns, step);
	}
	return 0;
}

static bool has_one_with_task(const struct tap_wait_told *w)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < w->nr_pieces && nr < 2; i++)
		nr += w->pieces[i].task != NULL;
	return nr < 2;
}

/*
 * Add a wait to the sum of each kind that occurs in it, once even if it has several components of
 * the kind.
 */
static void add_kinds(struct tap_explain *e, const struct tap_wait_told *w)
{
	if (w->nr_pieces == 1) {
		tap_explained_add(&e->kinds[w->pieces->kind], w->pieces->ns);
		return;
	}
	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		const struct tap_piece *p = &w->pieces[i];
		uint64_t ns = 0;
		unsigned int k = 0;

		while (w->pieces[k].kind != p->kind)
			k++;
		if (k < i)
			continue;
		for (; k < w->nr_pieces; k++)
			ns += w->pieces[k].kind == p->kind ? w->pieces[k].ns : 0;
		tap_explained_add(&e->kinds[p->kind], ns);
	}
}

/* ---- the longest waits ---- */

static uint64_t length_ns(const struct tap_explained_wait *w)
{
	return w->to_ns - w->from_ns;
}

/* Copy what @w borrows. */
static int copy_wait(struct tap_explained_wait *to, struct tap_explain_waits *waits,
		     const struct tap_wait_told *w)
{
	int ret = tap_explain_waits_take_avoidable(waits, w, &to->idle);

	to->pieces = malloc((w->nr_pieces + 1) * sizeof(*to->pieces));
	if (ret || !to->pieces)
		return -ENOMEM;
	if (w->nr_pieces)
		memcpy(to->pieces, w->pieces, w->nr_pieces * sizeof(*to->pieces));
	return 0;
}

static bool is_worse(const struct tap_explain *e, const struct tap_wait_told *w)
{
	return e->nr_worst < e->max_worst ||
	       (e->max_worst && w->to_ns - w->from_ns > length_ns(&e->worst[e->nr_worst - 1]));
}

static int keep_wait(struct tap_explain *e, struct tap_explain_waits *waits,
		     const struct tap_wait_told *w)
{
	struct tap_explained_wait kept = {
		.task = w->task,
		.state = w->state,
		.from_ns = w->from_ns,
		.to_ns = w->to_ns,
		.cpu = w->cpu,
		.whole = w->whole,
		.nr_pieces = w->nr_pieces,
	};
	unsigned int i = e->nr_worst;

	if (copy_wait(&kept, waits, w)) {
		release_wait(&kept);
		return -ENOMEM;
	}
	kept.verdict = verdict_of(w, &kept.idle);
	for (; i && length_ns(&kept) > length_ns(&e->worst[i - 1]); i--)
		e->worst[i] = e->worst[i - 1];
	e->worst[i] = kept;
	if (++e->nr_worst > e->max_worst)
		release_wait(&e->worst[--e->nr_worst]);
	return 0;
}

/* ---- adding waits ---- */

int tap_explain_wait(struct tap_explain *e, struct tap_explain_waits *waits,
		     const struct tap_wait_told *w)
{
	int ret = w->nr_pieces == 1 || has_one_with_task(w)
			  ? add_pieces(e, w, WHOLE)
			  : add_pieces(e, w, GATHER) ?: add_pieces(e, w, COUNT);

	tap_explained_add(&e->all, w->to_ns - w->from_ns);
	if (!e->pairs_only)
		add_kinds(e, w);
	return ret || !is_worse(e, w) ? ret : keep_wait(e, waits, w);
}

static int by_ns(const void *a, const void *b)
{
	const struct tap_explained_pair *x = a, *y = b;

	if (x->sum.ns != y->sum.ns)
		return x->sum.ns > y->sum.ns ? -1 : 1;
	if (x->victim != y->victim)
		return x->victim < y->victim ? -1 : 1;
	return (x->aggressor > y->aggressor) - (x->aggressor < y->aggressor);
}

void tap_explain_end(struct tap_explain *e)
{
	if (e->nr_pairs)
		qsort(e->pairs, e->nr_pairs, sizeof(*e->pairs), by_ns);
}
