// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/eevdf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

/* A run that a switch ended. */
struct ended_run {
	struct tap_task *task; /* NULL: no run */
	uint64_t from_ns, to_ns;
	struct tap_sched_pick began;
	bool is_picked; /* the pick of the next task was seen, and is .now */
};

/*
 * A run that ended after the deadline it began with. It is judged once later picks have shown the
 * waiting tasks' numbers.
 */
struct late_run {
	struct tap_sched_pick began, ended;
	const struct tap_task *task;
	int64_t prev_lag;
	/* .is_certain: the timeline shows the run; .is_old: later picks have been waited for */
	bool is_certain, is_old;
};

/*
 * A CPU's picks: the pick of the running task, and that of the next switch. .tid is 0 if there is
 * no pick or another class picked.
 */
struct tap_eevdf_cpu {
	struct tap_sched_pick now, next;
	int now_pid, next_pid; /* next_pid of the events, for all classes; -1: no event */
	bool is_picked; /* .next is set */
	bool is_unsure; /* a task ran there whose slice is not known from any event */
	struct ended_run ended;
	struct late_run *late; /* owned; in time order */
	unsigned int nr_late, cap_late;
};

/* A lag that may exceed its limit. */
struct tap_eevdf_lag {
	struct tap_eevdf_violation violation; /* .ns: the lag's size */
	uint64_t queue;
	bool is_unsure; /* earlier events may be missing */
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

#define NO_SUMS                                                                                    \
	{                                                                                          \
		.lag_size_ns = TAP_HIST_INIT, .run_ns = TAP_HIST_INIT                              \
	}

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
	for (unsigned int i = 0; i < e->nr_cpus; i++)
		free(e->cpus[i].late);
	tap_eevdf_queues_release(&e->queues);
	free(e->tasks);
	free(e->cpus);
	free(e->violations);
	free(e->lags);
	tap_map_release(&e->slices);
}

/* Return: NULL when out of memory. */
static struct tap_eevdf_cpu *cpu_get(struct tap_eevdf *e, int cpu)
{
	static const struct tap_eevdf_cpu fresh = { .now_pid = -1, .next_pid = -1 };

	return tap_array_at(&e->cpus, &e->nr_cpus, (unsigned int)cpu, sizeof(*e->cpus), &fresh);
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

/* ---- rules ---- */

static int add_violation(struct tap_eevdf *e, enum tap_eevdf_rule rule, const struct tap_task *task,
			 int cpu, uint64_t ts_ns, uint64_t ns)
{
	e->rules[rule]++;
	if (e->nr_violations == e->opts.max_violations)
		return 0;
	if (tap_array_grow(&e->violations, e->nr_violations, &e->cap_violations,
			   sizeof(*e->violations)))
		return -ENOMEM;
	e->violations[e->nr_violations++] =
		(struct tap_eevdf_violation){ rule, task, cpu, ts_ns, ns };
	return 0;
}

static uint64_t size_of(int64_t ns)
{
	return ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
}

static int check_pick(struct tap_eevdf *e, const struct tap_task *task,
		      const struct tap_sched_pick *p)
{
	int ret = 0;

	if (p->nr_queued > 1 && p->lag_ns < 0)
		ret = add_violation(e, TAP_EEVDF_NOT_ELIGIBLE, task, p->cpu, p->ts_ns,
				    size_of(p->lag_ns));
	if (!ret && p->protected_ns > p->left_ns)
		ret = add_violation(e, TAP_EEVDF_BEYOND_DEADLINE, task, p->cpu, p->ts_ns,
				    p->protected_ns - p->left_ns);
	return ret;
}

/* ---- lags ---- */

/*
 * Return the limit for a task's absolute lag, ns. The comment above entity_lag() in
 * kernel/sched/fair.c gives -r_max < lag < max(r_max, q), where r_max is the longest slice of any
 * task in the queue, and q is a tick. That holds if no task joins or leaves with a lag. But a task
 * may join with a lag of two slices or a tick (update_entity_lag()), and its lag grows while the
 * running task uses up its slice. The last two slices before the pick may have ended late.
 */
static uint64_t max_lag_ns(uint64_t slice_ns)
{
	return (2 * slice_ns > TAP_EEVDF_TICK_NS ? 2 * slice_ns : TAP_EEVDF_TICK_NS) + slice_ns +
	       2 * TAP_EEVDF_LATE_NS;
}

static uint64_t queue_key(int cpu, int group)
{
	return (uint64_t)(uint32_t)cpu << 32 | (uint32_t)group;
}

static int raise_slice(struct tap_eevdf *e, int cpu, int group, uint64_t slice_ns)
{
	uint64_t *longest = tap_map_put(&e->slices, queue_key(cpu, group));

	if (!longest)
		return -ENOMEM;
	if (slice_ns > *longest)
		*longest = slice_ns;
	return 0;
}

/*
 * The task's slice contributed to lags in the queue, and also in a queue where it ran without a
 * pick.
 */
static int raise_slices(struct tap_eevdf *e, struct tap_eevdf_task *t,
			const struct tap_sched_pick *p)
{
	int unpicked_cpu = t->unpicked_cpu - 1;

	t->unpicked_cpu = 0;
	return raise_slice(e, p->cpu, p->group, p->slice_ns)
		       ?: unpicked_cpu >= 0 ? raise_slice(e, unpicked_cpu, p->group, p->slice_ns)
					    : 0;
}

/*
 * Check a lag. A lag beyond the limit is kept until the end, because the queue's longest slice may
 * prove to be longer: tasks show their slices when they are picked.
 */
static int check_lag(struct tap_eevdf *e, struct tap_eevdf_task *t, const struct tap_sched_pick *p)
{
	uint64_t key = queue_key(p->cpu, p->group), ns = size_of(p->lag_ns);
	bool is_known = t->unknown_since == e->nr_unknown + 1;

	if (!p->slice_ns)
		return 0;
	if (ns <= max_lag_ns(*tap_map_get(&e->slices, key))) {
		t->unknown_since = e->nr_unknown + 1;
		return 0;
	}
	if (tap_array_grow(&e->lags, e->nr_lags, &e->cap_lags, sizeof(*e->lags)))
		return -ENOMEM;
	e->lags[e->nr_lags++] = (struct tap_eevdf_lag){
		.violation = { TAP_EEVDF_LAG, t->task, p->cpu, p->ts_ns, ns },
		.queue = key,
		.is_unsure = !is_known || e->is_partial,
	};
	return 0;
}

static int judge_lag(struct tap_eevdf *e, const struct tap_eevdf_lag *l)
{
	const struct tap_eevdf_violation *v = &l->violation;
	uint64_t max_ns = max_lag_ns(*tap_map_get(&e->slices, l->queue));

	if (v->ns <= max_ns)
		return 0;
	if (!l->is_unsure && !e->cpus[v->cpu].is_unsure)
		return add_violation(e, TAP_EEVDF_LAG, v->task, v->cpu, v->ts_ns, v->ns - max_ns);
	e->undecided[TAP_EEVDF_LAG]++;
	return 0;
}

static int judge_lags(struct tap_eevdf *e)
{
	int ret = 0;

	for (unsigned int i = 0; i < e->nr_tasks; i++) {
		if (e->tasks[i].unpicked_cpu)
			e->cpus[e->tasks[i].unpicked_cpu - 1].is_unsure = true;
	}
	for (unsigned int i = 0; !ret && i < e->nr_lags; i++)
		ret = judge_lag(e, &e->lags[i]);
	return ret;
}

/* ---- picks ---- */

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

/* Return true if the task that leaves the CPU could run on. @p: the next task's pick. */
static bool is_preempted(const struct tap_sched_pick *p)
{
	return p->prev_queued && !p->prev_delayed && !p->prev_stopped;
}

/*
 * The task was woken while a task with a longer slice ran: count whether that one was preempted for
 * it. @was: the pick of the task that leaves now.
 */
static void end_wakeup(struct tap_eevdf *e, struct tap_eevdf_task *t,
		       const struct tap_sched_pick *was, const struct tap_sched_pick *p)
{
	bool is_short =
		t->is_woken && t->runner_tid && p->slice_ns && p->slice_ns < t->runner_slice_ns;
	bool preempts = was->tid == t->runner_tid && is_preempted(p);

	t->is_woken = false;
	if (!is_short)
		return;
	add_wakeup(&t->sums, preempts);
	add_wakeup(&e->all, preempts);
}

static int add_picked(struct tap_eevdf *e, const struct tap_task *task,
		      const struct tap_sched_pick *was, const struct tap_sched_pick *p)
{
	struct tap_eevdf_task *of = task_get(e, task);

	if (!of || raise_slices(e, of, p))
		return -ENOMEM;
	if (!is_wanted(e, task, p->cpu))
		return 0;
	if (add_pick(&of->sums, p) || add_pick(&e->all, p))
		return -ENOMEM;
	of->task = task;
	of->slice_ns = p->slice_ns;
	of->weight = p->weight;
	end_wakeup(e, of, was, p);
	return check_pick(e, task, p) ?: check_lag(e, of, p);
}

/* ---- runs ---- */

static int add_run(struct tap_eevdf_sums *s, uint64_t ran_ns, bool preempted, bool delayed,
		   uint64_t overrun_ns)
{
	s->runs++;
	s->preempted += preempted;
	s->delayed += delayed;
	s->overruns += overrun_ns > 0;
	if (overrun_ns > s->max_overrun_ns)
		s->max_overrun_ns = overrun_ns;
	return tap_hist_add(&s->run_ns, ran_ns);
}

/* Mark the late run that began with @began as certain. */
static void note_certain(struct tap_eevdf_cpu *c, const struct tap_sched_pick *began)
{
	for (unsigned int i = c->nr_late; i-- > 0 && c->late[i].began.ts_ns >= began->ts_ns;)
		c->late[i].is_certain |= c->late[i].began.ts_ns == began->ts_ns &&
					 c->late[i].began.tid == began->tid;
}

/* Count a run whose first and next pick are known. */
static int end_run(struct tap_eevdf *e, struct tap_eevdf_cpu *c)
{
	const struct ended_run *r = &c->ended;
	const struct tap_sched_pick *began = &r->began, *ended = &c->now;
	uint64_t ran_ns = r->to_ns - r->from_ns;
	bool preempted = is_preempted(ended);
	bool is_contended = preempted && began->nr_runnable > 1;
	uint64_t overrun_ns = is_contended && ran_ns > began->left_ns ? ran_ns - began->left_ns : 0;
	struct tap_eevdf_task *t;

	if (!is_wanted(e, r->task, began->cpu))
		return 0;
	note_certain(c, began);
	t = task_get(e, r->task);
	if (!t || add_run(&t->sums, ran_ns, preempted, ended->prev_delayed, overrun_ns) ||
	    add_run(&e->all, ran_ns, preempted, ended->prev_delayed, overrun_ns))
		return -ENOMEM;
	t->task = r->task;
	return 0;
}

/* ---- late runs ---- */

/* Return true if both picks are from one group's queue: only then both show its V. */
static bool is_same_queue(const struct tap_sched_pick *began, const struct tap_sched_pick *ended)
{
	return ended->tid && ended->group == began->group;
}

/* Return true if events may be missing on any CPU. */
static bool has_hole(const struct tap_timeline *t, uint64_t from_ns, uint64_t to_ns)
{
	const struct tap_survey *s = tap_timeline_survey(t);
	const struct tap_hole *hole = s ? tap_survey_last_hole(s, to_ns + 1) : NULL;

	return hole && hole->to_ns >= from_ns;
}

static struct tap_eevdf_overrun judge_run(const struct tap_eevdf *e, const struct tap_timeline *t,
					  const struct late_run *r)
{
	const struct tap_sched_pick *began = &r->began, *ended = &r->ended;
	struct tap_eevdf_waiter waiters[TAP_EEVDF_WAITERS + 1];
	double vtime = tap_eevdf_since(ended->vtime, began);
	struct tap_eevdf_run run = {
		.from_ns = began->ts_ns,
		.to_ns = ended->ts_ns,
		.weight = (double)began->weight,
		.slice_ns = (double)began->slice_ns,
		.deadline = tap_eevdf_since(began->deadline, began),
		.v = vtime - (double)r->prev_lag,
		.start_vtime = tap_eevdf_since(began->vtime, began),
		.vtime = vtime,
		.start_nr_queued = began->nr_queued,
		.nr_queued = ended->nr_queued,
		.waiters = waiters,
	};

	if (e->is_partial || !e->fields.prev_lag.size || !is_same_queue(began, ended) ||
	    has_hole(t, run.from_ns, run.to_ns) ||
	    !tap_eevdf_queue_run(&e->queues, began, ended, &run))
		return (struct tap_eevdf_overrun){ 0, INFINITY };
	return tap_eevdf_judge(&run);
}

static int settle_run(struct tap_eevdf *e, const struct tap_timeline *t, const struct late_run *r)
{
	struct tap_eevdf_overrun o = judge_run(e, t, r);

	if (o.least_ns > TAP_EEVDF_LATE_NS)
		return add_violation(e, TAP_EEVDF_BEYOND_SLICE, r->task, r->began.cpu,
				     r->ended.ts_ns, (uint64_t)o.least_ns);
	e->undecided[TAP_EEVDF_BEYOND_SLICE] += o.most_ns > TAP_EEVDF_LATE_NS;
	return 0;
}

/* Judge the runs for which enough later picks were seen. */
static int settle_old(struct tap_eevdf *e, const struct tap_timeline *t, struct tap_eevdf_cpu *c,
		      bool all)
{
	unsigned int kept = 0;
	int ret = 0;

	for (unsigned int i = 0; i < c->nr_late; i++) {
		struct late_run *r = &c->late[i];

		if (!all && !r->is_old) {
			r->is_old = true;
			c->late[kept++] = *r;
		} else if (r->is_certain) {
			ret = ret ?: settle_run(e, t, r);
		}
	}
	c->nr_late = kept;
	return ret;
}

/* Forget stays that no run needs any more; if there are too many, all stays that have ended. */
static int shorten_queue(struct tap_eevdf *e, const struct tap_timeline *t, int cpu,
			 uint64_t now_ns)
{
	struct tap_eevdf_cpu *c = &e->cpus[cpu];
	const struct tap_sched_pick *p = c->is_picked ? &c->next : &c->now;
	int ret = settle_old(e, t, c, false);
	uint64_t from_ns = c->nr_late ? c->late[0].began.ts_ns : p->tid ? p->ts_ns : now_ns;

	tap_eevdf_queue_forget(&e->queues, cpu, p,
			       e->queues.logs[cpu].nr < TAP_EEVDF_STAYS ? from_ns : now_ns);
	return ret;
}

/* Call after a stay has begun on this CPU. */
static inline int limit_queue(struct tap_eevdf *e, const struct tap_timeline *t, int cpu,
			      uint64_t now_ns)
{
	return tap_eevdf_queue_is_full(&e->queues, cpu) ? shorten_queue(e, t, cpu, now_ns) : 0;
}

static int add_late(struct tap_eevdf *e, struct tap_eevdf_cpu *c, const struct tap_task *task,
		    const struct tap_sched_pick *began, const struct tap_sched_pick *p,
		    int64_t prev_lag)
{
	if (p->ts_ns - began->ts_ns <= began->left_ns + TAP_EEVDF_LATE_NS || !is_preempted(p))
		return 0;
	if ((began->nr_runnable <= 1 && !is_same_queue(began, p)) || !is_wanted(e, task, p->cpu))
		return 0;
	if (tap_array_grow(&c->late, c->nr_late, &c->cap_late, sizeof(*c->late)))
		return -ENOMEM;
	c->late[c->nr_late++] = (struct late_run){
		.began = *began, .ended = *p, .task = task, .prev_lag = prev_lag
	};
	return 0;
}

/*
 * Update the queues for a pick. @p ended @prev's run, which began with the pick @began, and picked
 * @next of any class. @prev and @next may be NULL: not a fair task, or not known.
 */
static int note_queues(struct tap_eevdf *e, struct tap_eevdf_cpu *c, const struct tap_task *prev,
		       const struct tap_sched_pick *began, const struct tap_task *next,
		       const struct tap_sched_pick *p, int64_t prev_lag)
{
	int64_t v = (int64_t)((uint64_t)p->vtime - (uint64_t)prev_lag);
	int ret = prev ? add_late(e, c, prev, began, p, prev_lag) : 0;

	if (!ret && next)
		ret = tap_eevdf_queue_pick(&e->queues, next->index, p);
	if (!ret && prev)
		ret = tap_eevdf_queue_end(&e->queues, prev->index, began, p,
					  is_same_queue(began, p) ? &v : NULL);
	return ret;
}

/* ---- switches and their picks ---- */

static void switch_to_next(struct tap_eevdf_cpu *c)
{
	c->now = c->is_picked ? c->next : (struct tap_sched_pick){ 0 };
	c->now_pid = c->is_picked ? c->next_pid : -1;
	c->is_picked = false;
}

/*
 * Return true if the picked task ran directly after the ended run; otherwise a switch is missing
 * between them. @task: NULL: the CPU was idle.
 */
static bool is_followed(const struct tap_eevdf_cpu *c, const struct tap_task *task,
			uint64_t from_ns)
{
	return c->ended.task && c->ended.is_picked && from_ns == c->ended.to_ns &&
	       (task ? task->tid : 0) == c->now_pid;
}

/* The task ran, but its slice is not known. */
static int note_unpicked(struct tap_eevdf *e, const struct tap_cpu_interval *s)
{
	struct tap_eevdf_task *t = task_get(e, s->task);

	if (!t)
		return -ENOMEM;
	if (t->unpicked_cpu && t->unpicked_cpu != s->cpu + 1)
		e->cpus[t->unpicked_cpu - 1].is_unsure = true;
	t->unpicked_cpu = s->cpu + 1;
	return 0;
}

/* An interval of a CPU ended with a switch, whose pick was seen already or comes soon. */
static int end_interval(struct tap_eevdf *e, struct tap_eevdf_cpu *c,
			const struct tap_cpu_interval *s)
{
	struct tap_sched_pick was = c->now;
	bool is_picked = s->what == TAP_CPU_RUN && was.tid == s->task->tid;
	int was_pid = c->now_pid;

	switch_to_next(c);
	c->ended = (struct ended_run){
		.task = is_picked ? s->task : NULL,
		.from_ns = s->from_ns,
		.to_ns = s->to_ns,
		.began = was,
		.is_picked = c->now_pid >= 0,
	};
	return s->what == TAP_CPU_RUN && was_pid < 0 ? note_unpicked(e, s) : 0;
}

/* Return true if the picked task already runs: its switch came before the pick. */
static bool is_late(const struct tap_timeline *t, const struct tap_eevdf_cpu *c, int cpu,
		    int next_pid)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr);
	const struct tap_cpu *now = (unsigned int)cpu < nr ? &cpus[cpu] : NULL;

	return now && now->known && c->now_pid < 0 && (now->task ? now->task->tid : 0) == next_pid;
}

/* Note a pick. Return the pick of the task that it ends. */
static struct tap_sched_pick note_pick(struct tap_eevdf_cpu *c, const struct tap_sched_pick *p,
				       int next_pid, bool late)
{
	if (late) {
		c->now = *p;
		c->now_pid = next_pid;
		return c->ended.task ? c->ended.began : (struct tap_sched_pick){ 0 };
	}
	if (c->is_picked) /* the switch of the pick before did not end an interval */
		switch_to_next(c);
	c->next = *p;
	c->next_pid = next_pid;
	c->is_picked = true;
	return c->now;
}

/* ---- wakeups ---- */

/* The task is woken on @cpu: remember which task runs there. */
static int note_woken(struct tap_eevdf *e, const struct tap_task *task, int cpu)
{
	struct tap_eevdf_task *t = task_get(e, task);
	const struct tap_eevdf_cpu *c =
		cpu >= 0 && (unsigned int)cpu < e->nr_cpus ? &e->cpus[cpu] : NULL;
	const struct tap_sched_pick *runner = c && c->is_picked ? &c->next : c ? &c->now : NULL;

	if (!t)
		return -ENOMEM;
	t->is_woken = true;
	t->runner_tid = runner ? runner->tid : 0;
	t->runner_slice_ns = runner ? runner->slice_ns : 0;
	return 0;
}

/* ---- the watcher ---- */

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_eevdf *e = ctx;
	struct tap_eevdf_cpu *c = cpu_get(e, s->cpu);
	int ret = 0;

	(void)t;
	if (!c)
		return -ENOMEM;
	if ((s->what == TAP_CPU_RUN || s->what == TAP_CPU_IDLE) &&
	    is_followed(c, s->task, s->from_ns))
		ret = end_run(e, c);
	e->nr_unknown += s->what == TAP_CPU_UNKNOWN && !s->outside;
	return ret ?: end_interval(e, c, s);
}

/* The task joins @cpu's queue. */
static int note_queued(struct tap_eevdf *e, const struct tap_timeline *t,
		       const struct tap_task *task, int cpu, uint64_t ts_ns)
{
	if (cpu < 0 || (unsigned int)cpu >= e->nr_cpus || task->state == TAP_STATE_RUNNING)
		return 0;
	return tap_eevdf_queue_wakeup(&e->queues, task->index, cpu, ts_ns)
		       ?: limit_queue(e, t, cpu, ts_ns);
}

static int on_wakeup(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *w)
{
	struct tap_eevdf *e = ctx;

	return note_woken(e, w->task, w->target_cpu)
		       ?: note_queued(e, t, w->task, w->target_cpu, w->ts_ns);
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	struct tap_eevdf *e = ctx;
	bool is_woken = m->why == TAP_MIGRATE_WAKEUP,
	     is_seen = m->to >= 0 && (unsigned int)m->to < e->nr_cpus;
	int ret = is_woken ? note_woken(e, m->task, m->to) : 0;

	if (!ret)
		ret = tap_eevdf_queue_move(&e->queues, m->task->index, is_seen ? m->to : -1,
					   m->ts_ns, is_woken);
	return ret || !is_seen ? ret : limit_queue(e, t, m->to, m->ts_ns);
}

static int on_begin(void *ctx, const struct tap_timeline *t)
{
	const struct tap_survey *s = tap_timeline_survey(t);
	struct tap_eevdf *e = ctx;

	e->is_partial = !s || s->promise || !tap_survey_has_wakeups(s) ||
			(s->nr_cpus > 1 && !tap_survey_has_event(s, "sched_migrate_task"));
	return 0;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && tap_is_sched_pick(fmt);
}

/* Read a sched_pick event. Return: its next_pid. */
static int read_pick(struct tap_eevdf_fields *f, const struct tap_event *ev,
		     struct tap_sched_pick *out)
{
	if (ev->fmt != f->pick.fmt) {
		tap_num_init(&f->next_pid, tap_number_field(ev->fmt, "next_pid"));
		tap_num_init(&f->prev_lag, tap_number_field(ev->fmt, "prev_lag"));
	}
	tap_sched_pick_read_any(&f->pick, ev, out);
	return (int)tap_num_get(&f->next_pid, ev);
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_eevdf *e = ctx;
	struct tap_sched_pick p, was;
	const struct tap_task *prev, *next;
	struct tap_eevdf_cpu *c;
	int next_pid = read_pick(&e->fields, ev, &p);
	bool late;
	int ret;

	if (p.cpu < 0)
		return 0;
	c = cpu_get(e, p.cpu);
	if (!c)
		return -ENOMEM;
	late = is_late(t, c, p.cpu, next_pid);
	was = note_pick(c, &p, next_pid, late);
	c->ended.is_picked |= late;
	prev = was.tid ? tap_timeline_task(t, was.tid) : NULL;
	next = next_pid ? tap_timeline_task(t, next_pid) : NULL;
	/* counted whether or not switches show the run */
	e->nr_ends += was.tid && (!prev || is_wanted(e, prev, was.cpu));
	ret = note_queues(e, c, prev, &was, next, &p, tap_num_get(&e->fields.prev_lag, ev))
		      ?: limit_queue(e, t, p.cpu, p.ts_ns);
	return ret || !p.tid || !next ? ret : add_picked(e, next, &was, &p);
}

static int compare_violations(const void *a, const void *b)
{
	const struct tap_eevdf_violation *x = a, *y = b;

	return x->ts_ns != y->ts_ns ? (x->ts_ns > y->ts_ns ? 1 : -1) : (int)x->rule - (int)y->rule;
}

/* Count runs that ended at the window's end, which no interval follows. */
static int end_last_runs(struct tap_eevdf *e, const struct tap_timeline *t)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr);
	int ret = 0;

	for (unsigned int i = 0; !ret && i < e->nr_cpus && i < nr; i++) {
		if (cpus[i].known &&
		    is_followed(&e->cpus[i], cpus[i].task, tap_timeline_window(t).to_ns))
			ret = end_run(e, &e->cpus[i]);
	}
	for (unsigned int i = 0; !ret && i < e->nr_cpus; i++)
		ret = settle_old(e, t, &e->cpus[i], true);
	return ret;
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_eevdf *e = ctx;
	int ret = end_last_runs(e, t) ?: judge_lags(e);

	if (e->nr_ends > e->all.runs)
		e->undecided[TAP_EEVDF_BEYOND_SLICE] += e->nr_ends - e->all.runs;
	if (e->nr_violations)
		qsort(e->violations, e->nr_violations, sizeof(*e->violations), compare_violations);
	return ret;
}

const struct tap_watcher_ops tap_eevdf_ops = {
	.begin = on_begin,
	.cpu = on_cpu,
	.wakeup = on_wakeup,
	.migration = on_migration,
	.wants = wants_event,
	.event = on_event,
	.end = on_end,
};
