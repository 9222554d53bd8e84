// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/eevdf.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* The picks of the run that goes on, and of the switch that is to come. .tid is 0: none, or of another class. */
struct tap_eevdf_cpu {
	struct tap_sched_pick now, next;
	bool is_picked; /* .next is there, whatever it says */
};

const char *tap_eevdf_rule_name(enum tap_eevdf_rule rule)
{
	static const char *const names[TAP_NR_EEVDF_RULES] = {
		[TAP_EEVDF_NOT_ELIGIBLE] = "not_eligible",
		[TAP_EEVDF_BEYOND_SLICE] = "beyond_slice",
		[TAP_EEVDF_LAG] = "lag",
		[TAP_EEVDF_BEYOND_DEADLINE] = "beyond_deadline",
	};

	return names[rule];
}

#define NO_SUMS { .lag_size_ns = TAP_HIST_INIT, .run_ns = TAP_HIST_INIT }

void tap_eevdf_init(struct tap_eevdf *e, const struct tap_eevdf_opts *opts)
{
	*e = (struct tap_eevdf){ .all = NO_SUMS, .opts = *opts };
}

static void sums_release(struct tap_eevdf_sums *s)
{
	tap_hist_release(&s->lag_size_ns);
	tap_hist_release(&s->run_ns);
}

void tap_eevdf_release(struct tap_eevdf *e)
{
	for (unsigned int i = 0; i < e->nr_tasks; i++)
		sums_release(&e->tasks[i].sums);
	sums_release(&e->all);
	free(e->tasks);
	free(e->cpus);
	free(e->violations);
}

/* Return: NULL when out of memory. */
static struct tap_eevdf_cpu *cpu_get(struct tap_eevdf *e, int cpu)
{
	return tap_array_at(&e->cpus, &e->nr_cpus, (unsigned int)cpu, sizeof(*e->cpus), NULL);
}

/* Return: NULL when out of memory. */
static struct tap_eevdf_task *task_get(struct tap_eevdf *e, const struct tap_task *task)
{
	static const struct tap_eevdf_task fresh = { .sums = NO_SUMS };

	return tap_array_at(&e->tasks, &e->nr_tasks, task->index, sizeof(*e->tasks), &fresh);
}

static bool is_wanted(const struct tap_eevdf *e, const struct tap_task *task, int cpu)
{
	return !e->opts.want || e->opts.want(e->opts.ctx, task, cpu);
}

/* ---- rules ------------------------------------------------------------------------------------ */

static int violates(struct tap_eevdf *e, enum tap_eevdf_rule rule, const struct tap_task *task, int cpu, uint64_t ts_ns,
		    uint64_t ns)
{
	e->rules[rule]++;
	if (e->nr_violations == e->opts.max_violations)
		return 0;
	if (tap_array_grow(&e->violations, e->nr_violations, &e->cap_violations, sizeof(*e->violations)))
		return -ENOMEM;
	e->violations[e->nr_violations++] = (struct tap_eevdf_violation){ rule, task, cpu, ts_ns, ns };
	return 0;
}

static uint64_t size_of(int64_t ns)
{
	return ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
}

static int check_pick(struct tap_eevdf *e, const struct tap_task *task, const struct tap_sched_pick *p)
{
	uint64_t max_lag_ns = 2 * p->slice_ns > TAP_EEVDF_TICK_NS ? 2 * p->slice_ns : TAP_EEVDF_TICK_NS;
	int ret = 0;

	if (p->nr_queued > 1 && p->lag_ns < 0)
		ret = violates(e, TAP_EEVDF_NOT_ELIGIBLE, task, p->cpu, p->ts_ns, size_of(p->lag_ns));
	if (!ret && p->slice_ns && size_of(p->lag_ns) > max_lag_ns + TAP_EEVDF_TICK_NS)
		ret = violates(e, TAP_EEVDF_LAG, task, p->cpu, p->ts_ns, size_of(p->lag_ns) - max_lag_ns);
	if (!ret && p->protected_ns > p->left_ns)
		ret = violates(e, TAP_EEVDF_BEYOND_DEADLINE, task, p->cpu, p->ts_ns, p->protected_ns - p->left_ns);
	return ret;
}

/* ---- picks ------------------------------------------------------------------------------------ */

static int add_pick(struct tap_eevdf_sums *s, const struct tap_sched_pick *p)
{
	s->picks++;
	if (p->nr_queued <= 1)
		return 0;
	if (!s->among_several || p->lag_ns < s->min_lag_ns)
		s->min_lag_ns = p->lag_ns;
	if (!s->among_several || p->lag_ns > s->max_lag_ns)
		s->max_lag_ns = p->lag_ns;
	s->lag_sum_ns += (double)p->lag_ns;
	s->among_several++;
	return tap_hist_add(&s->lag_size_ns, size_of(p->lag_ns));
}

static void add_wakeup(struct tap_eevdf_sums *s, bool preempts)
{
	s->short_preempts += preempts;
	s->short_waits += !preempts;
}

/* It was woken while one with a longer slice ran: was that preempted for it? @c: what ends with this pick. */
static void end_wakeup(struct tap_eevdf *e, struct tap_eevdf_task *t, const struct tap_eevdf_cpu *c,
		       const struct tap_sched_pick *p)
{
	bool is_short = t->is_woken && t->runner_tid && p->slice_ns && p->slice_ns < t->runner_slice_ns;
	bool preempts = c->now.tid == t->runner_tid && p->prev_queued && !p->prev_delayed;

	t->is_woken = false;
	if (!is_short)
		return;
	add_wakeup(&t->sums, preempts);
	add_wakeup(&e->all, preempts);
}

static int add_picked(struct tap_eevdf *e, const struct tap_timeline *t, const struct tap_eevdf_cpu *c, const struct tap_sched_pick *p)
{
	const struct tap_task *task = tap_timeline_task(t, p->tid);
	struct tap_eevdf_task *of;

	if (!task || !is_wanted(e, task, p->cpu))
		return 0;
	of = task_get(e, task);
	if (!of || add_pick(&of->sums, p) || add_pick(&e->all, p))
		return -ENOMEM;
	of->task = task;
	of->slice_ns = p->slice_ns;
	of->weight = p->weight;
	end_wakeup(e, of, c, p);
	return check_pick(e, task, p);
}

/* What was picked runs now. */
static void switch_to_next(struct tap_eevdf_cpu *c)
{
	c->now = c->is_picked ? c->next : (struct tap_sched_pick){ 0 };
	c->is_picked = false;
}

/* ---- runs ------------------------------------------------------------------------------------- */

static int add_run(struct tap_eevdf_sums *s, uint64_t ran_ns, bool preempted, bool delayed, uint64_t overrun_ns)
{
	s->runs++;
	s->preempted += preempted;
	s->delayed += delayed;
	s->overruns += overrun_ns > 0;
	if (overrun_ns > s->max_overrun_ns)
		s->max_overrun_ns = overrun_ns;
	return tap_hist_add(&s->run_ns, ran_ns);
}

/* From one pick to the next one, which is there. */
static int end_run(struct tap_eevdf *e, const struct tap_eevdf_cpu *c, const struct tap_cpu_interval *s)
{
	const struct tap_sched_pick *began = &c->now, *ended = &c->next;
	uint64_t ran_ns = s->to_ns - s->from_ns;
	bool preempted = ended->prev_queued && !ended->prev_delayed;
	bool is_contended = preempted && began->nr_runnable > 1;
	uint64_t overrun_ns = is_contended && ran_ns > began->left_ns ? ran_ns - began->left_ns : 0;
	struct tap_eevdf_task *t;
	int ret = 0;

	if (!is_wanted(e, s->task, s->cpu))
		return 0;
	t = task_get(e, s->task);
	if (!t || add_run(&t->sums, ran_ns, preempted, ended->prev_delayed, overrun_ns) ||
	    add_run(&e->all, ran_ns, preempted, ended->prev_delayed, overrun_ns))
		return -ENOMEM;
	t->task = s->task;
	if (overrun_ns > TAP_EEVDF_TICK_NS)
		ret = violates(e, TAP_EEVDF_BEYOND_SLICE, s->task, s->cpu, s->to_ns, overrun_ns);
	return ret;
}

/* ---- wakeups ---------------------------------------------------------------------------------- */

/* It comes to @cpu. */
static int note_queued(struct tap_eevdf *e, const struct tap_task *task, int cpu)
{
	struct tap_eevdf_task *t = task_get(e, task);
	const struct tap_eevdf_cpu *c = cpu >= 0 && (unsigned int)cpu < e->nr_cpus ? &e->cpus[cpu] : NULL;
	const struct tap_sched_pick *runner = c && c->is_picked ? &c->next : c ? &c->now : NULL;

	if (!t)
		return -ENOMEM;
	t->is_woken = true;
	t->runner_tid = runner ? runner->tid : 0;
	t->runner_slice_ns = runner ? runner->slice_ns : 0;
	return 0;
}

/* ---- the watcher ------------------------------------------------------------------------------ */

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_eevdf *e = ctx;
	struct tap_eevdf_cpu *c = cpu_get(e, s->cpu);
	int ret = 0;

	(void)t;
	if (!c)
		return -ENOMEM;
	if (s->what == TAP_CPU_RUN && c->now.tid == s->task->tid && c->now.ts_ns == s->from_ns && c->is_picked &&
	    c->next.ts_ns == s->to_ns)
		ret = end_run(e, c, s);
	switch_to_next(c);
	return ret;
}

static int on_wakeup(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *w)
{
	(void)t;
	return note_queued(ctx, w->task, w->target_cpu);
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	(void)t;
	return m->why == TAP_MIGRATE_WAKEUP ? note_queued(ctx, m->task, m->to) : 0;
}

static bool wants(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && tap_is_sched_pick(fmt);
}

/* sched_pick comes before the sched_switch to the task that was picked. */
static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_eevdf *e = ctx;
	struct tap_eevdf_cpu *c;
	struct tap_sched_pick p;

	tap_sched_pick_read_any(&e->fields, ev, &p);
	if (p.cpu < 0)
		return 0;
	c = cpu_get(e, p.cpu);
	if (!c)
		return -ENOMEM;
	if (c->is_picked) /* a switch that ended no interval */
		switch_to_next(c);
	c->next = p;
	c->is_picked = true;
	return p.tid ? add_picked(e, t, c, &p) : 0;
}

const struct tap_watcher_ops tap_eevdf_ops = {
	.cpu = on_cpu, .wakeup = on_wakeup, .migration = on_migration, .wants = wants, .event = on_event,
};
