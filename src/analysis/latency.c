// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/latency.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define WAITS                                                                                      \
	(TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_PREEMPTED) |                    \
	 TAP_STATE_BIT(TAP_STATE_THROTTLED))

/* A ring of a CPU's last intervals. */
struct tap_latency_past {
	struct tap_cpu_interval intervals[TAP_LATENCY_PAST];
	uint64_t nr; /* number of all intervals so far */
};

static const struct tap_latency_stat no_waits = { .waits = TAP_HIST_INIT, .max_cpu = -1 };

int tap_latency_init(struct tap_latency *l, enum tap_state state, unsigned int max_worst)
{
	*l = (struct tap_latency){ .state = state, .all = no_waits, .max_worst = max_worst };
	/* one more: a new one is inserted before the last one is dropped */
	l->worst = calloc((size_t)max_worst + 1, sizeof(*l->worst));
	return l->worst ? 0 : -ENOMEM;
}

void tap_latency_release(struct tap_latency *l)
{
	for (unsigned int i = 0; i < l->nr_tasks; i++)
		tap_hist_release(&l->tasks[i].waits);
	for (unsigned int i = 0; i < l->nr_worst; i++)
		tap_cpus_release(&l->worst[i].idle);
	for (unsigned int i = 0; i < l->nr_past; i++)
		free(l->past[i]);
	for (unsigned int i = 0; i < l->nr_columns; i++)
		tap_hist_release(&l->columns[i].waits);
	tap_hist_release(&l->all.waits);
	free(l->columns);
	free(l->tasks);
	free(l->worst);
	free(l->past);
	*l = (struct tap_latency){ 0 };
}

/* ---- over time ---- */

static uint64_t unknown_ns(const struct tap_latency_column *c, const struct tap_survey *survey)
{
	const struct tap_window window = { c->from_ns, c->to_ns };
	uint64_t ns = 0;

	for (unsigned int i = 0; i < survey->nr_holes; i++)
		ns += tap_window_part_ns(&window, survey->holes[i].from_ns, survey->holes[i].to_ns);
	return ns;
}

/* Return the first ns of column @i; for @i == @nr the window's end. */
static uint64_t column_start(const struct tap_window *window, unsigned int i, unsigned int nr)
{
	return window->from_ns +
	       (uint64_t)(((unsigned __int128)tap_window_ns(window) * i + nr - 1) / nr);
}

int tap_latency_split(struct tap_latency *l, const struct tap_window *window,
		      const struct tap_survey *survey, unsigned int nr)
{
	l->columns = calloc(nr, sizeof(*l->columns));
	if (!l->columns)
		return -ENOMEM;
	l->nr_columns = nr;
	for (unsigned int i = 0; i < nr; i++) {
		struct tap_latency_column *c = &l->columns[i];

		c->waits = no_waits.waits;
		c->from_ns = column_start(window, i, nr);
		c->to_ns = column_start(window, i + 1, nr);
		c->unknown_ns = unknown_ns(c, survey);
	}
	return 0;
}

/* Return the last column that begins at or before @ns; NULL: no columns. */
static struct tap_latency_column *column_at(const struct tap_latency *l, uint64_t ns)
{
	unsigned int low = 0, high = l->nr_columns;

	while (high - low > 1) {
		unsigned int middle = (low + high) / 2;

		if (l->columns[middle].from_ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return l->columns ? &l->columns[low] : NULL;
}

/* ---- one wait ---- */

static void add_part(struct tap_latency_part *to, const struct tap_latency_part *part)
{
	to->count += part->count;
	to->sum_ns += part->sum_ns;
	if (part->max_ns > to->max_ns)
		to->max_ns = part->max_ns;
}

static void add_ns(struct tap_latency_part *to, uint64_t ns)
{
	add_part(to, &(struct tap_latency_part){ 1, ns, ns });
}

/* Return the CPU where the task runs now, or if it was throttled, where it may run again. */
static int end_cpu(const struct tap_interval *s)
{
	return s->next == TAP_STATE_RUNNING ? s->next_cpu : s->cpu;
}

static int add_wait(const struct tap_latency *l, struct tap_latency_stat *stat,
		    const struct tap_interval *s)
{
	struct tap_latency_column *column = column_at(l, s->to_ns);
	int cpu = end_cpu(s);
	uint64_t ns = s->to_ns - s->from_ns;
	int64_t queued_ns = tap_interval_queued_ns(s);

	if (!stat->waits.count || ns > stat->waits.max) {
		stat->max_at_ns = s->to_ns;
		stat->max_cpu = cpu;
	}
	if (s->task->run_cpu >= 0)
		add_ns(s->task->run_cpu == cpu ? &stat->same_cpu : &stat->migrated, ns);
	if (queued_ns >= 0) {
		add_ns(&stat->queued, (uint64_t)queued_ns);
		add_ns(&stat->wakeup_path, ns - (uint64_t)queued_ns);
	}
	return tap_hist_add(&stat->waits, ns) ?: column ? tap_hist_add(&column->waits, ns) : 0;
}

/* ---- the worst ---- */

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_latency *l = ctx;
	struct tap_latency_past **place =
		tap_array_at(&l->past, &l->nr_past, (unsigned int)s->cpu, sizeof(*place), NULL);
	struct tap_latency_past *past;

	(void)t;
	if (!place)
		return -ENOMEM;
	if (!*place)
		*place = calloc(1, sizeof(**place));
	past = *place;
	if (!past)
		return -ENOMEM;
	past->intervals[past->nr++ % TAP_LATENCY_PAST] = *s;
	return 0;
}

static int by_task(const void *a, const void *b)
{
	const struct tap_latency_ran *x = a, *y = b;

	return (x->task->index > y->task->index) - (x->task->index < y->task->index);
}

static int by_ns(const void *a, const void *b)
{
	const struct tap_latency_ran *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : by_task(a, b);
}

/* Sum intervals by task, and sort by time, longest first. Return: the number of tasks. */
static unsigned int sum_by_task(struct tap_latency_ran *ran, unsigned int nr)
{
	unsigned int nr_tasks = 0;

	qsort(ran, nr, sizeof(*ran), by_task);
	for (unsigned int i = 0; i < nr; i++) {
		if (nr_tasks && ran[nr_tasks - 1].task == ran[i].task)
			ran[nr_tasks - 1].ns += ran[i].ns;
		else
			ran[nr_tasks++] = ran[i];
	}
	qsort(ran, nr_tasks, sizeof(*ran), by_ns);
	return nr_tasks;
}

/* Collect the tasks that ran on the CPU during the wait. Return: the number of intervals. */
static unsigned int look_back(const struct tap_latency_past *past, struct tap_latency_worst *w,
			      struct tap_latency_ran *ran)
{
	uint64_t reached_ns = w->to_ns;
	unsigned int nr = 0;

	for (uint64_t i = past->nr; i && i + TAP_LATENCY_PAST > past->nr; i--) {
		const struct tap_cpu_interval *s = &past->intervals[(i - 1) % TAP_LATENCY_PAST];
		uint64_t from_ns = s->from_ns > w->from_ns ? s->from_ns : w->from_ns;

		if (reached_ns <= w->from_ns)
			break;
		switch (s->what) {
		case TAP_CPU_RUN:
			ran[nr++] = (struct tap_latency_ran){ s->task, reached_ns - from_ns };
			break;
		case TAP_CPU_IDLE:
			w->idle_ns += reached_ns - from_ns;
			break;
		case TAP_CPU_OFFLINE:
			w->offline_ns += reached_ns - from_ns;
			break;
		default:
			w->unknown_ns += reached_ns - from_ns;
		}
		reached_ns = from_ns;
	}
	w->is_part = reached_ns > w->from_ns;
	return nr;
}

static int note_what_ran(struct tap_latency *l, struct tap_latency_worst *w)
{
	struct tap_latency_ran *ran = malloc(TAP_LATENCY_PAST * sizeof(*ran));
	unsigned int cpu = (unsigned int)w->cpu, nr = 0;

	if (!ran)
		return -ENOMEM;
	w->is_part = true;
	if (cpu < l->nr_past && l->past[cpu])
		nr = sum_by_task(ran, look_back(l->past[cpu], w, ran));
	for (unsigned int i = 0; i < nr; i++) {
		if (i < TAP_LATENCY_RAN) {
			w->ran[w->nr_ran++] = ran[i];
		} else {
			w->nr_others++;
			w->others_ns += ran[i].ns;
		}
	}
	free(ran);
	return 0;
}

static int note_idle_cpus(const struct tap_timeline *t, struct tap_latency_worst *w)
{
	const struct tap_cpu *cpus;
	unsigned int nr;
	int ret = 0;

	cpus = tap_timeline_cpus(t, &nr);
	for (unsigned int i = 0; !ret && i < nr; i++)
		if (tap_cpu_what(&cpus[i]) == TAP_CPU_IDLE && cpus[i].since_ns <= w->from_ns)
			ret = tap_cpus_add(&w->idle, i);
	return ret;
}

static uint64_t length_ns(const struct tap_latency_worst *w)
{
	return w->to_ns - w->from_ns;
}

/*
 * Keep the wait if it is one of the worst; of equal ones the earlier. Not inline, because most
 * waits are not.
 */
static __attribute__((noinline)) int note_worst(struct tap_latency *l, const struct tap_timeline *t,
						const struct tap_interval *s)
{
	struct tap_latency_worst w = {
		.task = s->task,
		.from_ns = s->from_ns,
		.to_ns = s->to_ns,
		.queued_ns = tap_interval_queued_ns(s),
		.cpu = end_cpu(s),
		.run_cpu = s->task->run_cpu,
		.waker_tid = s->task->waker_tid,
		.waker_cpu = s->task->waker_cpu,
	};
	unsigned int i = l->nr_worst;
	int ret;

	if (i == l->max_worst && length_ns(&w) <= length_ns(&l->worst[i - 1]))
		return 0;
	ret = note_what_ran(l, &w) ?: note_idle_cpus(t, &w);
	if (ret) {
		tap_cpus_release(&w.idle);
		return ret;
	}
	for (; i && length_ns(&w) > length_ns(&l->worst[i - 1]); i--)
		l->worst[i] = l->worst[i - 1];
	l->worst[i] = w;
	if (++l->nr_worst > l->max_worst)
		tap_cpus_release(&l->worst[--l->nr_worst].idle);
	return 0;
}

/* ---- all ---- */

/* The open censored waits are over by @ns: count them in its column. */
static void close_censored(const struct tap_latency *l, struct tap_latency_stat *stat, uint64_t ns)
{
	struct tap_latency_column *column = column_at(l, ns);

	if (column)
		column->censored += stat->nr_open;
	stat->nr_open = 0;
}

/*
 * Count a censored wait. A wait that a hole overlaps ends there, or continues as unknown time: both
 * together are one wait. Unknown time before a slice contains a wait, because a task waits before
 * it runs. Its kind is not known unless its start was seen, and it is not known to be over before
 * the unknown time ends.
 */
static void count_censored(const struct tap_latency *l, struct tap_latency_stat *stat,
			   const struct tap_interval *s)
{
	unsigned int nr = 0;

	if (s->state == l->state)
		nr = 1;
	else if (s->state == TAP_STATE_UNKNOWN)
		nr = s->next == TAP_STATE_RUNNING && !s->unseen && !stat->was_cut;
	stat->censored += nr;
	stat->nr_open += nr;
	stat->was_cut = s->next == TAP_STATE_UNKNOWN;
	if (!stat->was_cut)
		close_censored(l, stat, s->to_ns);
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_latency *l = ctx;
	struct tap_latency_stat *stat =
		tap_array_at(&l->tasks, &l->nr_tasks, s->task->index, sizeof(*stat), &no_waits);
	int ret;

	if (!stat)
		return -ENOMEM;
	/* a throttled wait's length without the throttling is not known */
	if (s->state == l->state && s->whole && s->next == TAP_STATE_THROTTLED)
		return 0;
	if (!tap_latency_counts(l, s)) {
		count_censored(l, stat, s);
		return 0;
	}
	stat->was_cut = s->next == TAP_STATE_UNKNOWN; /* the state is unknown, but not throttled */
	ret = add_wait(l, stat, s);
	return ret || !l->max_worst ? ret : note_worst(l, t, s);
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_latency *l = ctx;
	struct tap_latency_stat *all = &l->all;
	int ret = 0;

	(void)t;
	for (unsigned int i = 0; !ret && i < l->nr_tasks; i++) {
		const struct tap_latency_stat *s = &l->tasks[i];
		uint64_t max_ns = all->waits.max;

		if (s->waits.count && (!all->waits.count || s->waits.max > max_ns ||
				       (s->waits.max == max_ns && s->max_at_ns < all->max_at_ns))) {
			all->max_at_ns = s->max_at_ns;
			all->max_cpu = s->max_cpu;
		}
		all->censored += s->censored;
		close_censored(l, &l->tasks[i], UINT64_MAX);
		add_part(&all->same_cpu, &s->same_cpu);
		add_part(&all->migrated, &s->migrated);
		add_part(&all->wakeup_path, &s->wakeup_path);
		add_part(&all->queued, &s->queued);
		ret = tap_hist_merge(&all->waits, &s->waits);
	}
	return ret;
}

const struct tap_watcher_ops tap_latency_ops = {
	.states = TAP_STATE_BIT(TAP_STATE_UNKNOWN) | WAITS,
	.lost_states = WAITS,
	.interval = on_interval,
	.end = on_end,
};
const struct tap_watcher_ops tap_latency_past_ops = { .cpu = on_cpu };
