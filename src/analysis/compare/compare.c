// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/compare/compare.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/stats/adjust.h"
#include "base/stats/median.h"
#include "base/stats/normal.h"
#include "base/stats/rank_sum.h"
#include "base/stats/shift.h"

#define MOST_MORE 1000u /* a greater estimate is of no use */

const char *tap_compare_verdict_name(enum tap_compare_verdict verdict)
{
	static const char *const names[] = {
		[TAP_COMPARE_UNCLEAR] = "unclear", [TAP_COMPARE_SAME] = "same",
		[TAP_COMPARE_CHANGED] = "changed", [TAP_COMPARE_BETTER] = "better",
		[TAP_COMPARE_WORSE] = "worse",
	};

	return names[verdict];
}

void tap_comparison_release(struct tap_comparison *c)
{
	for (unsigned int i = 0; i < c->nr; i++) {
		free(c->v[i].a.v);
		free(c->v[i].b.v);
	}
	free(c->v);
	*c = (struct tap_comparison){ 0 };
}

/* ---- values ---- */

/* An index of metrics by name. */
struct index {
	const struct tap_metrics *metrics;
	struct tap_map by_name; /* hash of the name -> index + 1; on a collision the last one */
};

static int index_init(struct index *x, const struct tap_metrics *metrics)
{
	*x = (struct index){ .metrics = metrics };
	for (unsigned int i = 0; i < metrics->nr; i++)
		if (tap_map_set(&x->by_name,
				tap_map_key(metrics->v[i].name, strlen(metrics->v[i].name)), i + 1))
			return -ENOMEM;
	return 0;
}

static const struct tap_metric *find_metric(const struct index *x, const char *name)
{
	const uint64_t *at = tap_map_get(&x->by_name, tap_map_key(name, strlen(name)));

	return at && !strcmp(x->metrics->v[*at - 1].name, name) ? &x->metrics->v[*at - 1] : NULL;
}

/* Return: 1; 0: not all recordings have the metric; -ENOMEM. */
static int take_values(struct tap_compared_side *side, const struct index *x, unsigned int nr,
		       const char *name)
{
	side->v = calloc(nr, sizeof(*side->v));
	if (!side->v)
		return -ENOMEM;
	for (; side->nr < nr; side->nr++) {
		const struct tap_metric *m = find_metric(&x[side->nr], name);

		if (!m)
			return 0;
		side->v[side->nr] = m->value;
	}
	tap_stats_sort(side->v, nr);
	side->median = tap_median(side->v, nr);
	side->interval = tap_median_interval(side->v, nr);
	return 1;
}

static bool is_zero(const struct tap_compared_side *side)
{
	return !side->v[0] && !side->v[side->nr - 1];
}

/* ---- a single metric ---- */

static int test_shift(struct tap_compared *c)
{
	int ret = tap_shift(c->a.v, c->a.nr, c->b.v, c->b.nr, &c->shift, &c->interval);

	c->shift_pct = c->a.median ? 100 * c->shift / fabs(c->a.median) : NAN;
	if (ret || c->a.nr < TAP_COMPARE_MIN || c->b.nr < TAP_COMPARE_MIN) {
		c->interval = TAP_CONFIDENCE_NONE;
		c->p = c->p_adjusted = NAN;
		return ret;
	}
	ret = tap_rank_sum_p(c->a.v, c->a.nr, c->b.v, c->b.nr, &c->p);
	c->p_adjusted = c->p;
	return ret;
}

/*
 * Estimate how many more recordings per side a verdict needs. Intervals narrow with the square root
 * of the number of recordings. For a difference, widen the interval to the confidence that is
 * needed among this many metrics if no other one differs.
 */
static unsigned int guess_more(const struct tap_compared *c, double least,
			       const struct tap_comparison *all)
{
	unsigned int nr = c->a.nr < c->b.nr ? c->a.nr : c->b.nr;
	double width = fmax(c->interval.high - c->shift, c->shift - c->interval.low), needs = 0,
	       missing, more;

	if (nr < TAP_COMPARE_MIN)
		return TAP_COMPARE_MIN - nr;
	if (fabs(c->shift) > least) {
		width *= tap_normal_z(TAP_STATS_ALPHA / all->nr) / tap_normal_z(TAP_STATS_ALPHA);
		needs = all->needs;
	}
	missing = width / fabs(fabs(c->shift) - least);
	more = fmax(ceil(nr * missing * missing), needs) - nr;
	return more > MOST_MORE ? 0 : more < 1 ? 1 : (unsigned int)more;
}

static void judge_metric(struct tap_compared *c, double min_effect,
			 const struct tap_comparison *all)
{
	double least = min_effect * fabs(c->a.median);
	bool differs = c->p_adjusted <= TAP_STATS_ALPHA;
	bool is_more = differs && c->interval.low > least,
	     is_less = differs && c->interval.high < -least;

	if (is_more || is_less)
		c->verdict = c->better == TAP_BETTER_NEITHER		 ? TAP_COMPARE_CHANGED
			     : is_more == (c->better == TAP_BETTER_MORE) ? TAP_COMPARE_BETTER
									 : TAP_COMPARE_WORSE;
	else if (c->interval.low >= -least && c->interval.high <= least)
		c->verdict = TAP_COMPARE_SAME;
	else
		c->more = guess_more(c, least, all);
}

/* ---- all metrics ---- */

struct sides {
	struct index *a, *b; /* owned; parts of one array */
	unsigned int nr_a, nr_b;
};

/* Add a row for a metric that has none yet. */
static int add_row(struct tap_comparison *out, const struct sides *s, const struct tap_metric *m,
		   const struct tap_compare_opts *opts)
{
	struct tap_compared c = { .name = m->name, .unit = m->unit, .better = m->better };
	int ret = take_values(&c.a, s->a, s->nr_a, m->name);

	if (ret > 0)
		ret = take_values(&c.b, s->b, s->nr_b, m->name);
	if (!ret) {
		out->nr_partial++;
		out->partial = m->name;
	}
	if (ret <= 0 || (is_zero(&c.a) && is_zero(&c.b)))
		goto out;
	if (opts->window_is_cost && !strcmp(m->name, "recording.window"))
		c.better = TAP_BETTER_LESS;
	ret = test_shift(&c);
	if (!ret)
		ret = tap_array_grow(&out->v, out->nr, &out->cap, sizeof(*out->v));
	if (!ret) {
		out->v[out->nr++] = c;
		return 0;
	}
out:
	free(c.a.v);
	free(c.b.v);
	return ret < 0 ? ret : 0;
}

/* Add rows for all metrics of all recordings, in the order of their first occurrence. */
static int add_all(struct tap_comparison *out, const struct sides *s,
		   const struct tap_compare_opts *opts)
{
	unsigned int nr = s->nr_a + s->nr_b;
	int ret = 0;

	for (unsigned int r = 0; r < nr; r++) {
		const struct tap_metrics *metrics = s->a[r].metrics;

		for (unsigned int i = 0; !ret && i < metrics->nr; i++) {
			const char *name = metrics->v[i].name;
			bool is_new = !opts->want || opts->want(opts->ctx, name);

			for (unsigned int before = 0; is_new && before < r; before++)
				is_new = !find_metric(&s->a[before], name);
			if (is_new)
				ret = add_row(out, s, &metrics->v[i], opts);
		}
	}
	return ret;
}

static int adjust_p(struct tap_comparison *out)
{
	double *p = calloc(out->nr + 1, sizeof(*p));
	int ret = p ? 0 : -ENOMEM;

	for (unsigned int i = 0; !ret && i < out->nr; i++)
		p[i] = out->v[i].p;
	if (!ret && out->nr && !isnan(p[0]))
		ret = tap_adjust_p(p, out->nr);
	for (unsigned int i = 0; !ret && i < out->nr; i++)
		out->v[i].p_adjusted = p[i];
	free(p);
	return ret;
}

int tap_compare(const struct tap_metrics *const *a, unsigned int nr_a,
		const struct tap_metrics *const *b, unsigned int nr_b,
		const struct tap_compare_opts *opts, struct tap_comparison *out)
{
	struct sides s = { calloc(nr_a + nr_b, sizeof(*s.a)), NULL, nr_a, nr_b };
	int ret = s.a ? 0 : -ENOMEM;

	*out = (struct tap_comparison){ 0 };
	s.b = s.a + nr_a;
	for (unsigned int i = 0; !ret && i < nr_a + nr_b; i++)
		ret = index_init(&s.a[i], i < nr_a ? a[i] : b[i - nr_a]);
	ret = ret ?: add_all(out, &s, opts) ?: adjust_p(out);
	out->needs = tap_rank_sum_needs(TAP_STATS_ALPHA / (out->nr ? out->nr : 1));
	for (unsigned int i = 0; !ret && i < out->nr; i++)
		judge_metric(&out->v[i], opts->min_effect, out);
	for (unsigned int i = 0; s.a && i < nr_a + nr_b; i++)
		tap_map_release(&s.a[i].by_name);
	free(s.a);
	return ret;
}
