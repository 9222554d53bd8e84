// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/pelt_what_if.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"

#define LEAST_NS 100000u
#define MOST_NS 10000000000u
/* Limit for periods in one state: after that the average no longer changes. */
#define MAX_STEPS 600u

#define MOST_TASKS (1u << 22) /* PID_MAX_LIMIT */

/* The number of tasks during an interval: lower and upper bound. */
struct use {
	bool runs;
	struct tap_pelt_range util, runnable;
};

/* One average with one half-life. */
struct curve {
	struct tap_pelt_series *series;
	struct tap_pelt_range sums;
	uint64_t halflife_ns;
	bool runnable;
	bool ends_in_value; /* the last of .points is a value, not a gap */
};

/* The averages of one task, CPU or cgroup on a CPU. */
struct tap_pelt_curves {
	bool wanted;
	uint64_t at_ns; /* calculated up to this time */
	struct curve curves[2 * TAP_PELT_MAX_HALFLIVES];
};

static int bad_halflife(const char *text, struct tap_err *err)
{
	return tap_err_set(err, -EINVAL,
			   "--what-if: '%.100s' is not halflife= followed by at most %u times from "
			   "100us to 10s, such as halflife=16ms,64ms",
			   text, TAP_PELT_MAX_HALFLIVES);
}

int tap_pelt_what_if_parse(const char *text, struct tap_pelt_what_if_opts *opts,
			   struct tap_err *err)
{
	static const char key[] = "halflife=";
	const char *at = text + sizeof(key) - 1;
	char one[24];

	if (strncmp(text, key, sizeof(key) - 1))
		return bad_halflife(text, err);
	for (;; at++) {
		size_t len = strcspn(at, ",");
		uint64_t ns;

		if (!len || len >= sizeof(one) || opts->nr_halflives == TAP_PELT_MAX_HALFLIVES)
			return bad_halflife(text, err);
		memcpy(one, at, len);
		one[len] = '\0';
		if (tap_text_parse_time(one, &ns) || ns < LEAST_NS || ns > MOST_NS)
			return bad_halflife(text, err);
		opts->halflives_ns[opts->nr_halflives++] = ns;
		at += len;
		if (!*at)
			return 0;
	}
}

static void add_signal(struct tap_pelt_what_if *w, const char *name, uint64_t halflife_ns)
{
	char *text = w->names[w->nr_signals];

	snprintf(text, sizeof(w->names[0]), "%s@%gms", name, (double)halflife_ns / 1e6);
	w->signals[w->nr_signals++] = (struct tap_pelt_signal){
		.name = text,
		.subject = w->opts.subject,
		.scale = TAP_PELT_1024,
	};
}

/* ---- the model ---- */

/* Return the highest possible number of runnable tasks. */
static uint64_t most_tasks(const struct tap_pelt_what_if *w)
{
	return w->opts.subject == TAP_PELT_CGROUP ? MOST_TASKS : 1;
}

/* Return the time in units of a clock on which the half-life equals the kernel's. */
static uint64_t unit_of(const struct tap_pelt_what_if *w, const struct curve *c, uint64_t ts_ns)
{
	return (uint64_t)((unsigned __int128)(ts_ns - w->opts.window.from_ns) *
			  TAP_PELT_HALFLIFE_NS / c->halflife_ns) >>
	       10;
}

static void advance_sums(const struct tap_pelt_what_if *w, struct curve *c,
			 const struct tap_pelt_range *adds, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = unit_of(w, c, from_ns), to = unit_of(w, c, to_ns);

	c->sums.lo = tap_pelt_advance(c->sums.lo, from, to, 1024 * adds->lo);
	c->sums.hi = tap_pelt_advance(c->sums.hi, from, to, 1024 * adds->hi);
}

/* Record that the average at @from_ns held until @to_ns, if it is known. Return: 0 or -ENOMEM. */
static int hold_average(struct tap_pelt_what_if *w, struct curve *c, uint64_t from_ns,
			uint64_t to_ns)
{
	struct tap_pelt_range averages = tap_pelt_averages(&c->sums, unit_of(w, c, from_ns), 1);
	bool is_known = averages.hi - averages.lo <= TAP_PELT_FADED;
	struct tap_pelt_series *s = c->series;
	int ret = 0;

	if (w->opts.keep_points && (is_known || c->ends_in_value))
		ret = tap_pelt_series_point(s, from_ns,
					    is_known ? (int64_t)((averages.lo + averages.hi) / 2)
						     : TAP_PELT_GAP);
	c->ends_in_value = is_known;
	if (!is_known || ret)
		return ret;
	s->updates++;
	s->last = (int64_t)((averages.lo + averages.hi) / 2);
	return tap_pelt_series_hold(s, &w->opts.window, w->opts.nr_columns, from_ns, to_ns);
}

/* Advance an average through an interval in one state, period by period. */
static int advance_curve(struct tap_pelt_what_if *w, struct curve *c, const struct use *use,
			 uint64_t from_ns, uint64_t to_ns)
{
	const struct tap_pelt_range *adds = c->runnable ? &use->runnable : &use->util;
	uint64_t period_ns = c->halflife_ns * TAP_PELT_PERIOD / TAP_PELT_HALFLIFE_NS << 10;
	bool is_shown = !w->opts.while_running || use->runs;
	int ret = 0;

	for (unsigned int i = 0; from_ns < to_ns && !ret; i++) {
		bool is_last = to_ns - from_ns <= period_ns || i == MAX_STEPS || !adds->hi ||
			       adds->lo != adds->hi;
		uint64_t next_ns = is_last ? to_ns : from_ns + period_ns;

		if (is_shown)
			ret = hold_average(w, c, from_ns, next_ns);
		advance_sums(w, c, adds, from_ns, next_ns);
		from_ns = next_ns;
	}
	return ret;
}

/* ---- subjects ---- */

/* The subject of averages: a task, a CPU, or a cgroup on a CPU. */
struct whom {
	const struct tap_task *task;
	int cpu;
	uint64_t cgroup;
};

static struct tap_pelt_series *add_series(struct tap_pelt_what_if *w,
					  const struct tap_pelt_signal *signal,
					  const struct whom *whom)
{
	struct tap_pelt_series *s;

	if (tap_array_grow(&w->series, w->nr, &w->cap, sizeof(*w->series)))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct tap_pelt_series){
		.signal = signal,
		.subject = signal->subject,
		.cpu = whom->cpu,
		.tid = whom->task ? whom->task->tid : 0,
		.cgroup = whom->cgroup,
		.hist = TAP_HIST_INIT,
		.below = TAP_HIST_INIT,
	};
	if (whom->task)
		memcpy(s->comm, whom->task->comm, sizeof(s->comm));
	w->series[w->nr++] = s;
	s->columns = w->opts.nr_columns ? calloc(w->opts.nr_columns, sizeof(*s->columns)) : NULL;
	return w->opts.nr_columns && !s->columns ? NULL : s;
}

static struct tap_pelt_curves *get_curves(struct tap_pelt_what_if *w, unsigned int index,
					  const struct whom *whom)
{
	struct tap_pelt_curves **slot = tap_array_at(&w->subjects, &w->nr_subjects, index,
						     sizeof(*w->subjects), NULL),
			       *new;

	if (!slot || *slot)
		return slot ? *slot : NULL;
	*slot = new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->wanted = w->opts.want(w->opts.ctx, whom->task, whom->cpu);
	new->at_ns = w->opts.window.from_ns;
	for (unsigned int i = 0; new->wanted &&i < w->nr_signals; i++) {
		struct curve *c = &new->curves[i];

		*c = (struct curve){
			.series = add_series(w, &w->signals[i], whom),
			.halflife_ns = w->opts.halflives_ns[i % w->opts.nr_halflives],
			.runnable = !w->opts.util || i >= w->opts.nr_halflives,
		};
		c->sums.hi = (uint64_t)TAP_PELT_MAX * 1024 * (c->runnable ? most_tasks(w) : 1);
		if (!c->series)
			return NULL;
	}
	return new;
}

static int add_interval(struct tap_pelt_what_if *w, unsigned int index, const struct whom *whom,
			const struct use *use, struct tap_window times)
{
	const struct use unknown = { false, { 0, 1 }, { 0, most_tasks(w) } };
	struct tap_pelt_curves *curves;
	int ret = 0;

	if (times.from_ns < w->opts.window.from_ns)
		times.from_ns = w->opts.window.from_ns;
	if (times.from_ns >= times.to_ns)
		return 0;
	curves = get_curves(w, index, whom);
	if (!curves)
		return -ENOMEM;
	for (unsigned int i = 0; curves->wanted && i < w->nr_signals && !ret; i++) {
		ret = advance_curve(w, &curves->curves[i], &unknown, curves->at_ns, times.from_ns);
		if (!ret)
			ret = advance_curve(w, &curves->curves[i], use,
					    curves->at_ns > times.from_ns ? curves->at_ns
									  : times.from_ns,
					    times.to_ns);
	}
	curves->at_ns = times.to_ns > curves->at_ns ? times.to_ns : curves->at_ns;
	return ret;
}

static struct tap_pelt_range range_of(bool known, uint64_t nr, uint64_t most)
{
	return known ? (struct tap_pelt_range){ nr, nr } : (struct tap_pelt_range){ 0, most };
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	bool is_known = s->state != TAP_STATE_UNKNOWN, runs = s->state == TAP_STATE_RUNNING;
	struct use use = {
		runs,
		range_of(is_known, runs, 1),
		range_of(is_known, runs || tap_state_is_wait(s->state), 1),
	};

	(void)t;
	return add_interval(ctx, s->task->index, &(const struct whom){ .task = s->task, .cpu = -1 },
			    &use, (struct tap_window){ s->from_ns, s->to_ns });
}

static bool is_fair(const struct tap_task *task)
{
	return task->prio >= 100;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	bool is_known = s->what == TAP_CPU_IDLE ||
			(s->what == TAP_CPU_RUN && s->task->prio != TAP_PRIO_UNKNOWN);
	bool runs = s->what == TAP_CPU_RUN && is_fair(s->task);
	struct use use = { runs, .util = range_of(is_known, runs, 1) };

	(void)t;
	return add_interval(ctx, (unsigned int)s->cpu, &(const struct whom){ .cpu = s->cpu }, &use,
			    (struct tap_window){ s->from_ns, s->to_ns });
}

/* .change of the queues: add each cgroup's state that ends now. */
static int on_change(void *ctx, const struct tap_timeline *t, int cpu, uint64_t ts_ns)
{
	struct tap_pelt_what_if *w = ctx;
	int ret = 0;

	for (unsigned int i = 0; i < w->opts.nr_groups && !ret; i++) {
		struct tap_pelt_held held =
			tap_pelt_queues_held(&w->queues, t, cpu, &w->opts.groups[i], ts_ns);
		struct use use = {
			held.runs,
			range_of(held.runs_known, held.runs, 1),
			{ held.nr, held.nr_max < MOST_TASKS ? held.nr_max : MOST_TASKS },
		};

		ret = add_interval(
			w, (unsigned int)cpu * w->opts.nr_groups + i,
			&(const struct whom){ .cpu = cpu, .cgroup = w->opts.groups[i].cgroup },
			&use, (struct tap_window){ 0, ts_ns });
	}
	return ret;
}

const struct tap_watcher_ops tap_pelt_what_if_of_tasks_ops = {
	.states = TAP_STATE_ALL & ~TAP_STATE_BIT(TAP_STATE_DEAD),
	.interval = on_interval,
};
const struct tap_watcher_ops tap_pelt_what_if_of_cpus_ops = { .cpu = on_cpu };

/* ---- life ---- */

/* .signals has util for all half-lives, then runnable for all half-lives. */
void tap_pelt_what_if_init(struct tap_pelt_what_if *w, const struct tap_pelt_what_if_opts *opts)
{
	*w = (struct tap_pelt_what_if){ .opts = *opts };
	for (unsigned int i = 0; opts->util && i < opts->nr_halflives; i++)
		add_signal(w, "util", opts->halflives_ns[i]);
	for (unsigned int i = 0; opts->runnable && i < opts->nr_halflives; i++)
		add_signal(w, "runnable", opts->halflives_ns[i]);
	tap_pelt_queues_init(&w->queues, &(const struct tap_pelt_queues_opts){
						 .survey = opts->survey,
						 .cgroups = opts->cgroups,
						 .change = on_change,
						 .ctx = w,
					 });
}

void tap_pelt_what_if_release(struct tap_pelt_what_if *w)
{
	for (unsigned int i = 0; i < w->nr; i++)
		tap_pelt_series_free(w->series[i]);
	for (unsigned int i = 0; i < w->nr_subjects; i++)
		free(w->subjects[i]);
	free(w->series);
	free(w->subjects);
	tap_pelt_queues_release(&w->queues);
}
