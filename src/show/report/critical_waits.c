// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap critical --between: explain the waits for a CPU of the longest requests. The recording
 * is read again around these requests.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/explain/waits.h"
#include "show/report/critical.h"

/* Number of waits to explain in one pass, about 40 MB. A single request may exceed it. */
#define MANY_WAITS (1u << 20)

static int on_wait(void *ctx, const struct tap_wait_told *wait)
{
	struct critical *c = ctx;

	return tap_request_waits_told(&c->waits, wait, c->report.run.timeline);
}

static uint64_t split_wait(void *ctx, const struct tap_task *task, uint64_t ns)
{
	return tap_request_waits_split(&((struct critical *)ctx)->waits, task, ns);
}

static int read_again(struct critical *c, struct tap_window window, struct tap_err *err)
{
	const struct tap_explain_waits_opts opts = { .split = split_wait,
						     .tell = on_wait,
						     .ctx = c };
	struct tap_explain_waits waits;
	const struct tap_watcher watcher = { .ops = &tap_explain_waits_ops,
					     .ctx = &waits,
					     .states = TAP_EXPLAIN_STATES };
	struct tap_run run = c->report.run;
	int ret = tap_request_waits_begin(&c->waits);

	/*
	 * Use a new timeline; borrow the rest. The tasks have been chosen already, so select all.
	 */
	run.timeline = NULL;
	run.pick.select = &tap_select_all;
	run.rec.listener = (struct tap_listener){ 0 };
	run.window = window;
	if (window.from_ns > c->report.run.window.from_ns)
		run.read_from_ns = window.from_ns;
	tap_explain_waits_init(&waits, &opts);
	ret = ret ?: tap_run_watch(&run, &watcher, 1, err) ?: tap_request_waits_end(&c->waits);
	tap_explain_waits_release(&waits);
	tap_timeline_free(run.timeline);
	return ret;
}

static int by_begin(const void *a, const void *b, void *requests)
{
	const struct tap_request *v = requests, *x = &v[*(const unsigned int *)a],
				 *y = &v[*(const unsigned int *)b];

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Return the window to read for a request. */
static struct tap_window window_of(const struct critical *c, const struct tap_request *q, bool near)
{
	uint64_t begin_ns = c->report.run.window.from_ns;
	bool is_late = near && q->from_ns - begin_ns > TAP_RUN_LOOKBACK_NS;

	return (struct tap_window){ is_late ? q->from_ns - TAP_RUN_LOOKBACK_NS : begin_ns,
				    q->to_ns };
}

/*
 * Explain the requests with these numbers, which are sorted by time. Requests whose windows overlap
 * are read in one pass, unless they have too many waits. @near: begin shortly before each request,
 * which suffices to know most states and the tasks that the CPUs run; otherwise begin at the run's
 * beginning.
 */
static int read_for(struct critical *c, const unsigned int *numbers, unsigned int nr, bool near,
		    struct tap_err *err)
{
	struct tap_request_waits *w = &c->waits;
	unsigned int nr_tasks;
	struct tap_task *const *tasks = tap_timeline_tasks(c->report.run.timeline, &nr_tasks);
	struct tap_window window = { 0 };
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++) {
		const struct tap_request *q = &c->requests.v[numbers[i]];
		struct tap_window its = window_of(c, q, near);

		if (w->nr && (w->nr >= MANY_WAITS || its.from_ns > window.to_ns))
			ret = read_again(c, window, err);
		if (!w->nr)
			window = its;
		if (its.to_ns > window.to_ns)
			window.to_ns = its.to_ns;
		ret = ret ?: tap_request_waits_find(w, numbers[i], q, &c->walk, tasks);
	}
	return ret || !w->nr ? ret : read_again(c, window, err);
}

/*
 * Explain the requests' waits. If parts remain unknown, try again from the run's beginning: the
 * missing events may be before the window that was read.
 */
static int explain_waits(struct critical *c, unsigned int *numbers, unsigned int nr,
			 struct tap_err *err)
{
	unsigned int nr_unknown = 0;
	int ret = read_for(c, numbers, nr, true, err);

	for (unsigned int i = 0; !ret && i < nr; i++)
		if (!tap_request_why_is_known(&c->waits.requests[numbers[i]]) &&
		    window_of(c, &c->requests.v[numbers[i]], true).from_ns >
			    c->report.run.window.from_ns)
			numbers[nr_unknown++] = numbers[i];
	return ret ?: read_for(c, numbers, nr_unknown, false, err);
}

int tap_critical_explain_requests(struct critical *c, unsigned int nr, struct tap_err *err)
{
	unsigned int *numbers = calloc(nr + 1, sizeof(*numbers));
	int ret = numbers ? 0 : -ENOMEM;

	for (unsigned int i = 0; !ret && i < nr; i++)
		numbers[i] = i;
	if (!ret) {
		qsort_r(numbers, nr, sizeof(*numbers), by_begin, c->requests.v);
		ret = explain_waits(c, numbers, nr, err);
	}
	free(numbers);
	return ret && !err->code ? tap_err_set(err, ret, "out of memory") : ret;
}
