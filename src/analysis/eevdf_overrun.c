// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/eevdf_overrun.h"

#include <math.h>
#include <stddef.h>

#include "analysis/pelt_queues.h"

#define NICE_0_WEIGHT 1048576.0
/* V and each v are integers. */
#define ROUNDING_NS 2.0
/* The run queue's clock may be this much older than the pick's time stamp. */
#define CLOCK_LAG_NS 100e3

/*
 * Which bound of an inexact value to use: the one that gives the shortest, or the longest overrun.
 */
enum bound { LEAST, MOST };

/* ns of virtual time that pass for the running task in 1 ns. */
static double scale_of(const struct tap_eevdf_run *r)
{
	return NICE_0_WEIGHT / r->weight;
}

/*
 * Return the running task's lowest or highest possible v at a time: interrupts may have taken time
 * before or after it.
 */
static double v_at(const struct tap_eevdf_run *r, uint64_t ns, bool highest)
{
	double before = (double)(ns - r->from_ns) * scale_of(r),
	       after = (double)(r->to_ns - ns) * scale_of(r);

	return highest ? fmin(r->v, before) : fmax(0, r->v - after);
}

static bool is_present(const struct tap_eevdf_waiter *w, uint64_t ns)
{
	return w->from_ns <= ns && ns < w->to_ns;
}

/*
 * Return true if the waiter was certainly in the queue for the whole interval from @from_ns on,
 * which no waiter's start or end divides.
 */
static bool is_certain(const struct tap_eevdf_run *r, const struct tap_eevdf_waiter *w,
		       uint64_t from_ns)
{
	return !w->may_leave &&
	       (w->from_ns <= r->from_ns || from_ns >= w->from_ns + TAP_EEVDF_ENQUEUE_NS);
}

/* ---- are all tasks of the queue known? ---- */

static bool is_at(const struct tap_eevdf_run *r, const struct tap_eevdf_waiter *w, bool at_end)
{
	return at_end ? !w->may_leave && w->to_ns >= r->to_ns : w->from_ns <= r->from_ns;
}

/* The known part of the queue at one end of the run. */
struct known_queue {
	/* .sum: the weighted sum of all (v_i - V), which is 0 if the queue is complete */
	double vtime, sum, load;
	unsigned int nr, nr_queued; /* .nr: known tasks; .nr_queued: tasks according to the pick */
	unsigned int nr_unknown;
	struct tap_eevdf_waiter *unknown; /* a task whose v is unknown, not included in .sum */
};

static struct known_queue queue_at(const struct tap_eevdf_run *r, bool at_end)
{
	double vtime = at_end ? r->vtime : r->start_vtime;
	struct known_queue q = { vtime, r->weight * ((at_end ? r->v : 0) - vtime), r->weight, 1,
				 at_end ? r->nr_queued : r->start_nr_queued };

	for (unsigned int i = 0; i < r->nr_waiters; i++) {
		struct tap_eevdf_waiter *w = &r->waiters[i];

		if (!is_at(r, w, at_end))
			continue;
		q.nr++;
		q.load += w->weight;
		if (!isnan(w->v)) {
			q.sum += w->weight * (w->v - vtime);
		} else {
			q.unknown = w;
			q.nr_unknown++;
		}
	}
	return q;
}

/*
 * Return true if the known tasks give V. A single unknown v is calculated from V, if the number of
 * tasks is the pick's.
 */
static bool gives_vtime(const struct tap_eevdf_run *r, bool at_end)
{
	struct known_queue q = queue_at(r, at_end);

	if (!q.nr_unknown)
		return fabs(q.sum) <= ROUNDING_NS * q.load;
	if (q.nr_unknown > 1 || q.nr != q.nr_queued)
		return false;
	q.unknown->v = q.vtime - q.sum / q.unknown->weight;
	return true;
}

static double nearest_weight(double weight)
{
	double nearest = 0;

	for (int prio = 100; prio < 140; prio++) {
		double w = tap_pelt_weight(prio) * 1024.0;

		if (fabs(w - weight) < fabs(nearest - weight))
			nearest = w;
	}
	return nearest;
}

/*
 * Add a waiting task that is not known from any event because the kernel has not picked it since
 * the recording began. Its weight and v follow from V at both ends of the run. The weight must be
 * that of a nice value; otherwise gives_vtime() fails later.
 */
static void add_hidden(struct tap_eevdf_run *r)
{
	struct known_queue start = queue_at(r, false), end = queue_at(r, true);
	double weight = nearest_weight((end.sum - start.sum) / (end.vtime - start.vtime));

	if (start.nr_unknown || end.nr_unknown || start.nr + 1 != start.nr_queued ||
	    end.nr + 1 != end.nr_queued || !(weight > 0))
		return;
	r->waiters[r->nr_waiters++] = (struct tap_eevdf_waiter){
		.to_ns = UINT64_MAX,
		.v = start.vtime - start.sum / weight,
		.deadline = NAN,
		.weight = weight,
	};
}

static bool is_whole(struct tap_eevdf_run *r)
{
	add_hidden(r);
	return gives_vtime(r, true) && gives_vtime(r, false);
}

/*
 * Return true if v did not advance as expected: sched_yield() moves v, and a new nice value changes
 * its rate.
 */
static bool is_strange(const struct tap_eevdf_run *r)
{
	return !(r->weight > 0) || !(r->slice_ns > 0) || r->v < 0 ||
	       r->v > scale_of(r) * (1.001 * (double)(r->to_ns - r->from_ns) + CLOCK_LAG_NS);
}

/* ---- since when the running task should have left ---- */

/* Return the last time before @ns at which a task joined or left the queue. */
static uint64_t change_before(const struct tap_eevdf_run *r, uint64_t ns)
{
	uint64_t last_ns = r->from_ns;

	for (unsigned int i = 0; i < r->nr_waiters; i++) {
		const struct tap_eevdf_waiter *w = &r->waiters[i];
		uint64_t at_ns[] = { w->from_ns, w->from_ns + TAP_EEVDF_ENQUEUE_NS, w->to_ns };

		for (size_t k = 0; k < sizeof(at_ns) / sizeof(*at_ns); k++) {
			if (at_ns[k] < ns && at_ns[k] > last_ns)
				last_ns = at_ns[k];
		}
	}
	return last_ns;
}

/* Return the running task's v from which on @w is eligible, if the queue stays as at @ns. */
static double eligible_from(const struct tap_eevdf_run *r, const struct tap_eevdf_waiter *w,
			    uint64_t ns, enum bound bound)
{
	double sum = 0;

	for (unsigned int i = 0; i < r->nr_waiters; i++) {
		const struct tap_eevdf_waiter *o = &r->waiters[i];
		double part = o->weight * (o->v - w->v);

		if (is_present(o, ns) && isnan(part))
			return bound == LEAST ? INFINITY : -INFINITY;
		if (is_present(o, ns))
			sum += is_certain(r, o, ns) ? part
			       : bound == LEAST	    ? fmin(0, part)
						    : fmax(0, part);
	}
	return w->v - sum / r->weight;
}

/* Return the running task's v from which on it is not eligible itself. @v: its v at @ns. */
static double ahead_from(const struct tap_eevdf_run *r, double v, uint64_t ns, enum bound bound)
{
	double sum = 0, load = 0;

	for (unsigned int i = 0; i < r->nr_waiters; i++) {
		const struct tap_eevdf_waiter *o = &r->waiters[i];

		if (is_present(o, ns) && isnan(o->v))
			return bound == LEAST ? INFINITY : v;
		if (is_present(o, ns) && is_certain(r, o, ns)) {
			sum += o->weight * (o->v - v);
			load += o->weight;
		} else if (is_present(o, ns)) {
			sum += bound == LEAST ? fmax(0, o->weight * (o->v - v))
					      : fmin(0, o->weight * (o->v - r->v));
		}
	}
	return load > 0 ? fmax(v, v + sum / load) : bound == LEAST ? INFINITY : v;
}

/*
 * Return the running task's v at the first end of a slice at or after @v. A tick that finds the
 * deadline reached sets a new one: at least a slice after the old one, and at most a slice and a
 * tick after it.
 */
static double slice_end(const struct tap_eevdf_run *r, double v, enum bound bound)
{
	double slice = r->slice_ns * scale_of(r), longest = slice + TAP_EEVDF_TICK_NS * scale_of(r);

	if (v <= r->deadline)
		return r->deadline;
	if (bound == LEAST)
		return fmin(v + slice, r->deadline + ceil((v - r->deadline) / slice) * longest);
	return fmax(v, r->deadline + ceil((v - r->deadline) / longest) * slice);
}

/*
 * Return the v from which on the running task had to leave at the end of a slice, if the queue
 * stays as at @ns: @w is eligible, and either its deadline is before the new one of the running
 * task, or the running task is not eligible.
 */
static double must_leave_from(const struct tap_eevdf_run *r, const struct tap_eevdf_waiter *w,
			      uint64_t ns, enum bound bound)
{
	double turn = w->deadline - r->slice_ns * scale_of(r);

	if (isnan(turn))
		turn = bound == LEAST ? INFINITY : -INFINITY;
	return fmax(eligible_from(r, w, ns, bound),
		    fmin(turn, ahead_from(r, v_at(r, ns, false), ns, bound)));
}

/*
 * Return the longest virtual time for which the running task continued although it had to leave for
 * @w.
 */
static double longest_overrun(const struct tap_eevdf_run *r, const struct tap_eevdf_waiter *w,
			      enum bound bound)
{
	uint64_t first_ns = w->from_ns > r->from_ns
				    ? w->from_ns + (bound == LEAST ? TAP_EEVDF_ENQUEUE_NS : 0)
				    : r->from_ns;
	double longest = 0, until = 0;
	bool goes_on = false;

	for (uint64_t to_ns = w->to_ns < r->to_ns ? w->to_ns : r->to_ns, from_ns; to_ns > first_ns;
	     to_ns = from_ns) {
		double last = v_at(r, to_ns, bound == MOST), v;

		from_ns = change_before(r, to_ns);
		v = must_leave_from(r, w, from_ns, bound);
		until = goes_on ? until : last;
		goes_on = v <= v_at(r, from_ns, bound == MOST);
		if (v <= last)
			longest =
				fmax(longest,
				     until - slice_end(r, fmax(v, v_at(r, from_ns, bound == LEAST)),
						       bound));
	}
	return longest;
}

/* Return the running task's virtual time after its deadline while @w waited. */
static double waited_vtime(const struct tap_eevdf_run *r, const struct tap_eevdf_waiter *w)
{
	double from = w->from_ns > r->from_ns ? v_at(r, w->from_ns, false) : 0;

	return v_at(r, w->to_ns < r->to_ns ? w->to_ns : r->to_ns, true) - fmax(from, r->deadline);
}

struct tap_eevdf_overrun tap_eevdf_judge(struct tap_eevdf_run *r)
{
	struct tap_eevdf_overrun o = { 0, INFINITY };
	double least = 0, most = 0;

	if (is_strange(r) || !is_whole(r))
		return o;
	for (unsigned int i = 0; i < r->nr_waiters; i++) {
		const struct tap_eevdf_waiter *w = &r->waiters[i];

		if (w->is_asleep)
			continue;
		if (!isnan(w->v))
			least = fmax(least, longest_overrun(r, w, LEAST));
		most = fmax(most, isnan(w->v) ? waited_vtime(r, w) : longest_overrun(r, w, MOST));
	}
	o.least_ns = fmin(least / scale_of(r), 0x1p62);
	o.most_ns = most / scale_of(r);
	return o;
}
