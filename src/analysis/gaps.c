// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* A CPU's positions in the survey's lists, which are sorted by time. */
struct tap_gaps_cpu {
	unsigned int loss, brk;
	uint64_t unknown_to_ns; /* end of its last unknown or offline interval */
	enum tap_gap last; /* cause of that interval */
};

const char *tap_gap_name(enum tap_gap gap)
{
	static const char *const names[] = {
		[TAP_GAP_START] = "start",   [TAP_GAP_OFF] = "off",
		[TAP_GAP_LOST] = "lost",     [TAP_GAP_HIDDEN] = "hidden",
		[TAP_GAP_BROKEN] = "broken", [TAP_GAP_SILENT] = "silent",
	};

	return names[gap];
}

/* Return the loss that overlaps the interval, or NULL. */
static const struct tap_loss *find_loss(const struct tap_gaps *g, struct tap_gaps_cpu *c,
					const struct tap_cpu_interval *s)
{
	const struct tap_survey *v = g->survey;

	for (; c->loss < v->nr_kept_losses && v->losses[c->loss].from_ns < s->to_ns; c->loss++) {
		const struct tap_loss *l = &v->losses[c->loss];

		if ((l->cpu == s->cpu || l->cpu < 0) && !l->spares_switches &&
		    l->to_ns >= s->from_ns && tap_survey_counts_loss(v, l))
			return l;
	}
	return NULL;
}

/* Return the break that overlaps the interval, or NULL. */
static const struct tap_break *find_break(const struct tap_gaps *g, struct tap_gaps_cpu *c,
					  const struct tap_cpu_interval *s)
{
	const struct tap_survey *v = g->survey;

	for (; c->brk < v->nr_breaks && v->breaks[c->brk].from_ns < s->to_ns; c->brk++) {
		const struct tap_break *b = &v->breaks[c->brk];

		if (b->cpu == s->cpu && b->to_ns > s->from_ns)
			return b;
	}
	return NULL;
}

static enum tap_gap find_cause(const struct tap_gaps *g, struct tap_gaps_cpu *c,
			       const struct tap_cpu_interval *s)
{
	const struct tap_loss *l = find_loss(g, c, s);
	const struct tap_break *b;

	if (l)
		return l->is_off ? TAP_GAP_OFF : TAP_GAP_LOST;
	b = find_break(g, c, s);
	if (b)
		return tap_survey_is_hidden(g->survey, b->tid) ? TAP_GAP_HIDDEN : TAP_GAP_BROKEN;
	if (s->from_ns == g->window.from_ns)
		return s->to_ns == g->window.to_ns ? TAP_GAP_SILENT : TAP_GAP_START;
	/*
	 * the interval before continues, or an event on another CPU showed that the task cannot
	 * have run here
	 */
	return c->unknown_to_ns == s->from_ns ? c->last : TAP_GAP_BROKEN;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_gaps *g = ctx;
	struct tap_gaps_cpu *c;

	(void)t;
	if ((s->what != TAP_CPU_UNKNOWN && s->what != TAP_CPU_OFFLINE) || s->outside)
		return 0;
	c = tap_array_at(&g->cpus, &g->nr_cpus, (unsigned int)s->cpu, sizeof(*c), NULL);
	if (!c)
		return -ENOMEM;
	/* a CPU that comes back online has a first switch again */
	c->last = s->what == TAP_CPU_OFFLINE ? TAP_GAP_START : find_cause(g, c, s);
	c->unknown_to_ns = s->to_ns;
	if (s->what == TAP_CPU_UNKNOWN)
		g->ns[c->last] += s->to_ns - s->from_ns;
	return 0;
}

const struct tap_watcher_ops tap_gaps_ops = { .cpu = on_cpu, .unknown_cpus_only = true };

bool tap_gaps_find(const struct tap_gaps *g, const struct tap_cpu_interval *s, enum tap_gap *gap)
{
	const struct tap_gaps_cpu *c = (unsigned int)s->cpu < g->nr_cpus ? &g->cpus[s->cpu] : NULL;

	if (!c || s->what != TAP_CPU_UNKNOWN || s->outside || c->unknown_to_ns != s->to_ns)
		return false;
	*gap = c->last;
	return true;
}

void tap_gaps_release(struct tap_gaps *g)
{
	free(g->cpus);
}
