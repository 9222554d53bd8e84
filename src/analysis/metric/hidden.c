// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/metric/hidden.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

void tap_hidden_release(struct tap_hidden *h)
{
	free(h->last);
	*h = (struct tap_hidden){ 0 };
}

/* ---- collecting doubts ---- */

/*
 * Return the time up to which a task in this interval may have waited. If its state is unknown, it
 * may have waited to the end if it runs next, or if no later event names it. Otherwise it did not
 * wait at the end: it must have run before without an event, which only a hole can hide.
 */
static uint64_t waits_until(const struct tap_timeline *t, const struct tap_interval *s)
{
	const struct tap_hole *hole;

	if (s->state != TAP_STATE_UNKNOWN || (s->next == TAP_STATE_RUNNING && !s->unseen) ||
	    s->to_ns >= tap_timeline_to_ns(t))
		return s->to_ns;
	/* if the task is found running, a hole that begins just there hides the switch to it */
	hole = tap_survey_last_hole(tap_timeline_survey(t), s->to_ns + s->unseen);
	if (!hole || hole->to_ns < s->from_ns)
		return s->from_ns;
	return hole->to_ns < s->to_ns ? hole->to_ns : s->to_ns;
}

static uint64_t length_within(const struct tap_timeline *t, uint64_t from_ns, uint64_t to_ns)
{
	struct tap_window w = tap_timeline_window(t);

	return tap_window_clip(&w, to_ns) - tap_window_clip(&w, from_ns);
}

static void add_time(struct tap_unknown_time *u, uint64_t ns)
{
	if (!ns)
		return;
	u->nr++;
	u->ns += ns;
}

static void count_doubt(struct tap_hidden *h, const struct tap_doubt *d)
{
	if (d->is_unknown && d->ns)
		h->doubts[63 - __builtin_clzll(d->ns)]++;
}

static int add_doubt(struct tap_hidden *h, const struct tap_timeline *t,
		     const struct tap_interval *s)
{
	struct tap_doubt *d = tap_array_at(&h->last, &h->nr_last, s->task->index, sizeof(*d), NULL);
	uint64_t to_ns = waits_until(t, s);

	if (!d)
		return -ENOMEM;
	if (d->to_ns != s->from_ns || s->back_ns) {
		count_doubt(h, d);
		*d = (struct tap_doubt){ .from_ns = s->from_ns - s->back_ns };
	}
	d->is_unknown |= s->state == TAP_STATE_UNKNOWN;
	d->to_ns = to_ns == s->to_ns ? to_ns : 0;
	d->ns = length_within(t, d->from_ns, to_ns);
	if (s->state == TAP_STATE_UNKNOWN)
		add_time(&h->of_tasks, length_within(t, s->from_ns - s->back_ns, to_ns));
	if (d->is_unknown && d->ns > h->longest_ns)
		h->longest_ns = d->ns;
	return 0;
}

static void note_shortest(struct tap_hidden *h, const struct tap_interval *s)
{
	uint64_t ns = s->to_ns - s->from_ns;

	if (s->whole && ns && (!h->shortest_ns || ns < h->shortest_ns))
		h->shortest_ns = ns;
}

/*
 * The timeline contains a task only if an event names it. So a task whose state is unknown
 * throughout may have waited throughout; where in the recording that event was does not matter.
 */
int tap_hidden_interval(struct tap_hidden *h, const struct tap_timeline *t,
			const struct tap_interval *s)
{
	bool is_wait = tap_state_is_wait(s->state) || s->state == TAP_STATE_THROTTLED;

	if (is_wait || s->state == TAP_STATE_RUNNING)
		note_shortest(h, s);
	return is_wait || s->state == TAP_STATE_UNKNOWN ? add_doubt(h, t, s) : 0;
}

void tap_hidden_cpu(struct tap_hidden *h, const struct tap_cpu_interval *s)
{
	if (s->what == TAP_CPU_UNKNOWN && !s->outside)
		add_time(&h->of_cpus, s->to_ns - s->from_ns);
}

void tap_hidden_end(struct tap_hidden *h)
{
	for (unsigned int i = 0; i < h->nr_last; i++)
		count_doubt(h, &h->last[i]);
}

/* ---- bounds ---- */

/*
 * Return false if a CPU's known time proves nothing: the survey could not keep all gaps, or some
 * CPUs were not recorded.
 */
static bool knows_cpus(const struct tap_survey *s)
{
	return !s->wrong && !(s->promise && s->promise->cpus);
}

double tap_hidden_waits(const struct tap_hidden *h, const struct tap_survey *survey, double lost)
{
	double shortest = h->shortest_ns && h->shortest_ns < TAP_HIDDEN_SHORTEST_NS
				  ? (double)h->shortest_ns
				  : TAP_HIDDEN_SHORTEST_NS;
	double unseen = (double)h->of_tasks.ns / shortest,
	       on_cpus = (double)h->of_cpus.ns / shortest + (double)h->of_cpus.nr;

	return (double)h->of_tasks.nr +
	       fmin(2 * lost, knows_cpus(survey) ? fmin(unseen, on_cpus) : unseen);
}

/*
 * Return how many waits longer than @ns can end within one doubt, as far as gaps allow. The gaps of
 * tasks that are hidden from tracing are not among the holes.
 */
static double ends_in_gaps(const struct tap_survey *s, struct tap_window window, double ns)
{
	double gaps_ns = 0;

	if (!knows_cpus(s) || s->blurred)
		return INFINITY;
	for (unsigned int i = 0; i < s->nr_holes; i++)
		gaps_ns += (double)(tap_window_clip(&window, s->holes[i].to_ns) -
				    tap_window_clip(&window, s->holes[i].from_ns));
	return 1 + s->nr_holes + floor(gaps_ns / ns);
}

double tap_hidden_longer(const struct tap_hidden *h, const struct tap_survey *survey,
			 struct tap_window window, double ns)
{
	double nr = 0, ends = ends_in_gaps(survey, window, ns);

	if (ns >= (double)h->longest_ns)
		return 0;
	for (unsigned int i = 0; i < TAP_HIDDEN_LENGTHS; i++)
		nr += (double)h->doubts[i] *
		      (h->doubts[i] ? fmin(ends, floor(ldexp(1, (int)i + 1) / ns)) : 0);
	return nr;
}
