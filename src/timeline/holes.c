// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/holes.h"

#include <errno.h>

#include "timeline/cpus.h"
#include "timeline/origins.h"

/*
 * Set the interval in which the fast path may be used: after all holes known so far, and before the
 * next one. Without a survey, future holes are not known. They are then found by events that the
 * fast path does not handle, a loss or a switch that breaks a chain, and tap_hole_see() calls this
 * function again.
 */
static void find_fast_path(struct tap_timeline *t)
{
	const struct tap_window *w = &t->opts.window;
	uint64_t end = w->to_ns < t->next_break_ns ? w->to_ns + 1 : t->next_break_ns;

	t->fast_since_ns = t->hole_end_ns > w->from_ns ? t->hole_end_ns : w->from_ns;
	t->fast_from_ns = t->fast_since_ns;
	if (t->lacks_cpus) /* the fast path does not check for unrecorded CPUs */
		end = 0;
	/* a task that goes to sleep shortly after a hole may have been woken in it */
	if (t->hole_end_ns && t->hole_end_ns + TAP_ON_ITS_WAY_OUT_NS + 1 > t->fast_from_ns)
		t->fast_from_ns = t->hole_end_ns + TAP_ON_ITS_WAY_OUT_NS + 1;
	if (t->fast_from_ns < t->hole_end_ns) /* overflow: the file is damaged */
		end = 0;
	t->fast_ns = end > t->fast_from_ns ? end - t->fast_from_ns : 0;
}

void tap_holes_await(struct tap_timeline *t)
{
	const struct tap_survey *s = t->opts.survey;

	t->next_hole_ns = UINT64_MAX;
	/* + 1: what happens at the instant when one begins is still certain */
	if (s && t->next_hole < s->nr_holes && s->holes[t->next_hole].from_ns < t->next_hole_ns)
		t->next_hole_ns = s->holes[t->next_hole].from_ns + 1;
	if (s && t->next_loss < s->nr_kept_losses &&
	    s->losses[t->next_loss].from_ns < t->next_hole_ns)
		t->next_hole_ns = s->losses[t->next_loss].from_ns + 1;
	if (s && t->next_origin < s->nr_origins &&
	    s->origins[t->next_origin].from_ns < t->next_hole_ns)
		t->next_hole_ns = s->origins[t->next_origin].from_ns + 1;
	find_fast_path(t);
}

static int begin_loss(struct tap_timeline *t, const struct tap_loss *l)
{
	int ret = 0;

	/* only lost switches affect CPUs; losses of other events are only holes */
	if (l->spares_switches)
		return 0;
	if (!l->is_off && t->buffer[TAP_SCHED_SWITCH] != TAP_NO_BUFFER &&
	    t->buffer[TAP_SCHED_SWITCH] != l->buffer)
		return 0;
	if (l->is_off && l->cpu < 0 && l->to_ns > t->off_end_ns)
		t->off_end_ns = l->to_ns;
	if (l->cpu >= 0) {
		if (tap_cpu_add(t, (unsigned int)l->cpu + 1))
			return -ENOMEM;
		t->cpus[l->cpu].seen = true;
		return tap_cpu_lose(t, (unsigned int)l->cpu, l->from_ns);
	}
	for (unsigned int i = 0; !ret && i < t->nr_cpus; i++)
		ret = tap_cpu_lose(t, i, l->from_ns);
	return ret;
}

/* Apply losses and holes that began before @now. */
static int begin_losses(struct tap_timeline *t, uint64_t now)
{
	const struct tap_survey *s = t->opts.survey;
	int ret = 0;

	while (!ret && t->next_loss < s->nr_kept_losses && s->losses[t->next_loss].from_ns < now)
		ret = begin_loss(t, &s->losses[t->next_loss++]);
	for (; t->next_hole < s->nr_holes && s->holes[t->next_hole].from_ns < now; t->next_hole++)
		t->hole_end_ns = s->holes[t->next_hole].to_ns; /* holes are disjoint and sorted */
	return ret;
}

/*
 * Apply origins that began before @now, and losses and holes that began before each of them. The
 * only loss that touches an origin on its CPU ends where the origin begins.
 */
static int begin_origins(struct tap_timeline *t, uint64_t now)
{
	const struct tap_survey *s = t->opts.survey;
	int ret = 0;

	while (!ret && t->next_origin < s->nr_origins && s->origins[t->next_origin].from_ns < now) {
		const struct tap_origin *o = &s->origins[t->next_origin++];

		ret = begin_losses(t, o->from_ns) ?: tap_origin_begin(t, o);
	}
	return ret;
}

int tap_holes_begin(struct tap_timeline *t, uint64_t now)
{
	int ret = 0;

	if (!t->opts.survey)
		return 0;
	/* a loss that began in the window may be reported after its end */
	if (now > t->opts.window.to_ns)
		now = t->opts.window.to_ns;
	ret = begin_origins(t, now) ?: begin_losses(t, now);
	tap_holes_await(t);
	return ret;
}

int tap_timeline_begin(struct tap_timeline *t)
{
	int ret = t->opts.survey ? begin_origins(t, t->opts.window.from_ns + 1) : 0;

	tap_holes_await(t);
	return ret;
}

void tap_hole_see(struct tap_timeline *t, uint64_t end_ns)
{
	if (end_ns > t->hole_end_ns)
		t->hole_end_ns = end_ns;
	find_fast_path(t);
}

const struct tap_break *tap_break_find(struct tap_timeline *t, int cpu, uint64_t now)
{
	const struct tap_survey *s = t->opts.survey;
	unsigned int i;

	while (t->next_break < s->nr_breaks && s->breaks[t->next_break].from_ns < now)
		t->next_break++;
	t->next_break_ns =
		t->next_break < s->nr_breaks ? s->breaks[t->next_break].from_ns : UINT64_MAX;
	find_fast_path(t);
	for (i = t->next_break; i < s->nr_breaks && s->breaks[i].from_ns == now; i++)
		if (s->breaks[i].cpu == cpu)
			return &s->breaks[i];
	return NULL;
}

/*
 * With a survey, the loss is already known. Without one, it is a hole that is noticed only at its
 * end.
 */
int tap_loss_take(struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_loss l = {
		.cpu = ev->cpu,
		.buffer = ev->buffer,
		.to_ns = ev->ts_ns,
		.count = ev->lost.count,
		.from_ns = ev->lost.first_ns < ev->ts_ns ? ev->lost.first_ns : ev->ts_ns,
		.is_off = ev->lost.is_off,
		.spares_switches = !tap_loss_has_switches(ev),
	};

	if (ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	if (ev->cpu >= 0 && tap_cpu_add(t, (unsigned int)ev->cpu + 1))
		return -ENOMEM;
	if (ev->cpu >= 0 && !l.is_off && tap_window_overlaps(&t->opts.window, l.from_ns, ev->ts_ns))
		t->cpus[ev->cpu].lost += l.count;
	if (t->opts.survey)
		return 0;
	tap_hole_see(t, ev->ts_ns);
	return begin_loss(t, &l);
}
