// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/balance.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

struct tap_balance_task {
	struct tap_wait wait;
	bool waiting, wanted;
	/*
	 * time at which its wait in .wait.cpu's queue was dropped because a hole began or ended, or
	 * 0
	 */
	uint64_t dropped_ns;
	unsigned int place; /* index into tap_balance.waiting */
	int woken_cpu; /* target CPU of the wakeup at .woken_ns */
	uint64_t woken_ns;
};

/* A CPU's state and its number of waiting tasks. */
struct tap_balance_cpu {
	int what; /* TAP_CPU_UNKNOWN, ... */
	bool seen, dirty;
	bool has_stale_waits; /* it became idle although tasks seemed to wait there */
	unsigned int nr_queued;
};

/* Check a CPU number of an event: the file may be damaged. */
static bool is_cpu(int cpu)
{
	return cpu >= 0 && cpu < (int)TAP_MAX_CPUS;
}

static bool cpu_wanted(const struct tap_balance *b, int cpu)
{
	return cpu >= 0 && (!b->opts.cpu || b->opts.cpu(b->opts.ctx, cpu));
}

/* Return: 0 or -ENOMEM. */
static int cpus_grow(struct tap_balance *b, unsigned int nr)
{
	if (nr <= b->nr_cpus)
		return 0;
	if (!tap_array_at(&b->cpus, &b->cap_cpus, nr - 1, sizeof(*b->cpus), NULL))
		return -ENOMEM;
	b->nr_cpus = nr;
	return 0;
}

/* Mark a CPU to be processed before time advances. Return: NULL: out of memory. */
static struct tap_balance_cpu *cpu_touch(struct tap_balance *b, int cpu)
{
	struct tap_balance_cpu *c;

	if (cpus_grow(b, (unsigned int)cpu + 1))
		return NULL;
	c = &b->cpus[cpu];
	if (c->dirty)
		return c;
	if (tap_array_grow(&b->dirty, b->nr_dirty, &b->cap_dirty, sizeof(*b->dirty)))
		return NULL;
	b->dirty[b->nr_dirty++] = (unsigned int)cpu;
	c->dirty = true;
	return c;
}

static int cpus_touch(struct tap_balance *b)
{
	for (unsigned int i = 0; i < b->nr_cpus; i++)
		if (!cpu_touch(b, (int)i))
			return -ENOMEM;
	return 0;
}

/* Return: 0 or -ENOMEM. */
static int task_get(struct tap_balance *b, const struct tap_task *task, struct tap_balance_task **t)
{
	*t = tap_array_at(&b->tasks, &b->nr_tasks, task->index, sizeof(**t), NULL);
	if (!*t)
		return -ENOMEM;
	(*t)->wait.task = task;
	return 0;
}

static int set_mode(struct tap_balance *b, struct tap_balance_task *t, enum tap_wait_mode mode)
{
	return tap_violations_set(&b->violations, &t->wait, mode, &b->free, b->now_ns);
}

static int look_at(struct tap_balance *b, struct tap_balance_task *t)
{
	int cpu = t->wait.cpu, what;

	if (!t->waiting || !t->wanted)
		return 0;
	what = cpu_wanted(b, cpu) ? b->cpus[cpu].what : TAP_CPU_UNKNOWN;
	if (what == TAP_CPU_IDLE)
		return set_mode(b, t, TAP_WAIT_EXIT);
	if (what == TAP_CPU_RUN && tap_wait_may_use(&t->wait, &b->free))
		return set_mode(b, t, TAP_WAIT_VIOLATION);
	return set_mode(b, t, TAP_WAIT_PLAIN);
}

/*
 * Mark a queue's length as unknown from @from_ns until now: a task waited in it, or did not,
 * contrary to what was assumed. Lengths from before the CPU was last idle stay valid.
 */
static int doubt_length(struct tap_balance *b, int cpu, uint64_t from_ns)
{
	if (cpu < 0 || (unsigned int)cpu >= b->nr_cpus || !cpu_wanted(b, cpu) ||
	    b->opts.lengths_told)
		return 0;
	return tap_queue_lengths_doubt(&b->lengths, (unsigned int)cpu, from_ns, b->now_ns);
}

/* The CPU became idle with an empty queue. */
static int cpu_idled(struct tap_balance *b, unsigned int cpu)
{
	return b->opts.lengths_told ? 0 : tap_queue_lengths_idle(&b->lengths, cpu, b->now_ns);
}

/* ---- when time advances ---- */

static int set_free(struct tap_balance *b, unsigned int cpu, bool is_free)
{
	if (is_free == tap_cpus_has(&b->free, cpu))
		return 0;
	/* a CPU that is no longer free may end violations */
	b->recheck |= is_free || b->violations.nr_now;
	if (is_free)
		return tap_cpus_add(&b->free, cpu);
	b->free.bits[cpu / 64] &= ~((uint64_t)1 << cpu % 64);
	return 0;
}

/* Apply what CPU @i does from now on. @state: NULL: the timeline has not seen the CPU. */
static int settle_cpu(struct tap_balance *b, unsigned int i, const struct tap_cpu *state)
{
	struct tap_balance_cpu *c = &b->cpus[i];
	int what = state ? tap_cpu_what(state) : TAP_CPU_UNKNOWN;
	int64_t length = c->nr_queued + (what == TAP_CPU_RUN);
	int was = c->what, ret = 0;

	c->dirty = false;
	if (!cpu_wanted(b, (int)i))
		return 0;
	if (state && state->seen && !c->seen)
		ret = tap_queue_lengths_see(&b->lengths, i);
	c->seen |= !ret && state && state->seen;
	c->what = what;
	b->recheck |= what != was && c->nr_queued;
	/*
	 * in a hole tasks may come and go unseen, even if the CPU's own switches are all recorded
	 */
	if (what == TAP_CPU_UNKNOWN || what == TAP_CPU_OFFLINE || b->nr_unplaced || b->in_hole)
		length = -1;
	ret = ret ?: set_free(b, i, what == TAP_CPU_IDLE && !c->nr_queued);
	if (!ret && !b->opts.lengths_told)
		ret = tap_queue_lengths_set(&b->lengths, i, b->now_ns, length);
	/* a CPU becomes idle only with an empty queue: tasks that seem to wait there do not */
	c->has_stale_waits = what == TAP_CPU_IDLE && was != what && c->nr_queued;
	b->any_stale_waits |= c->has_stale_waits;
	if (!ret && what == TAP_CPU_IDLE && was != what && !c->nr_queued)
		ret = cpu_idled(b, i);
	return ret;
}

static int look_around(struct tap_balance *b)
{
	const unsigned int *list = b->recheck ? b->waiting : b->fresh;
	unsigned int i, nr = b->recheck ? b->nr_waiting : b->nr_fresh;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = look_at(b, &b->tasks[list[i]]);
	b->recheck = false;
	b->nr_fresh = 0;
	return ret;
}

/* ---- tasks and their waits ---- */

/* Change the number of queued tasks by @by, 1 or -1. @cpu: -1: unknown. */
static int queue_add(struct tap_balance *b, int cpu, int by)
{
	struct tap_balance_cpu *c;

	if (cpu < 0) {
		b->nr_unplaced += (unsigned int)by;
		return b->nr_unplaced == (by > 0) ? cpus_touch(b) : 0;
	}
	c = cpu_touch(b, cpu);
	if (!c)
		return -ENOMEM;
	c->nr_queued += (unsigned int)by;
	return 0;
}

/* Put a waiting task into a CPU's queue. */
static int enqueue_task(struct tap_balance *b, struct tap_balance_task *t, int cpu)
{
	if (tap_array_grow(&b->fresh, b->nr_fresh, &b->cap_fresh, sizeof(*b->fresh)))
		return -ENOMEM;
	b->fresh[b->nr_fresh++] = t->wait.task->index;
	t->wait.cpu = is_cpu(cpu) ? cpu : -1;
	return queue_add(b, t->wait.cpu, 1);
}

static int wait_begin(struct tap_balance *b, struct tap_balance_task *t, enum tap_state state,
		      int cpu)
{
	if (tap_array_grow(&b->waiting, b->nr_waiting, &b->cap_waiting, sizeof(*b->waiting)))
		return -ENOMEM;
	t->waiting = true;
	t->wanted = t->wait.task->selected;
	t->wait.listed = tap_timeline_affinity(b->timeline, t->wait.task, &t->wait.anywhere);
	t->place = b->nr_waiting;
	t->wait.state = state;
	b->waiting[b->nr_waiting++] = t->wait.task->index;
	return enqueue_task(b, t, cpu);
}

/* Take the task out of its queue. The caller counts or drops the violations found in its wait. */
static int dequeue_task(struct tap_balance *b, struct tap_balance_task *t)
{
	unsigned int last = b->waiting[--b->nr_waiting];

	b->waiting[t->place] = last;
	b->tasks[last].place = t->place;
	t->waiting = false;
	return queue_add(b, t->wait.cpu, -1);
}

/* The task may have stopped waiting unseen: end its wait without counting it. */
static int drop_wait(struct tap_balance *b, struct tap_balance_task *t)
{
	int ret = set_mode(b, t, TAP_WAIT_PLAIN);

	tap_wait_drop(&t->wait);
	t->dropped_ns = b->now_ns;
	return ret ? ret : dequeue_task(b, t);
}

/* Drop all waits at a hole's start and end: the tasks may have run in it, unseen. */
static int drop_waits(struct tap_balance *b)
{
	int ret = 0;

	while (b->nr_waiting && !ret)
		ret = drop_wait(b, &b->tasks[b->waiting[0]]);
	return ret;
}

/* Drop waits on CPUs that became idle. The waits ended at an unknown time before that. */
static int drop_stale_waits(struct tap_balance *b)
{
	int ret = 0;

	b->any_stale_waits = false;
	for (unsigned int i = b->nr_waiting; i-- > 0 && !ret;) {
		struct tap_balance_task *t = &b->tasks[b->waiting[i]];

		if (t->wait.cpu < 0 || !b->cpus[t->wait.cpu].has_stale_waits)
			continue;
		ret = drop_wait(b, t);
		t->wait.cpu = -1; /* it is in no queue, whatever later events show */
	}
	for (unsigned int i = 0; i < b->nr_cpus && !ret; i++) {
		if (!b->cpus[i].has_stale_waits)
			continue;
		b->cpus[i].has_stale_waits = false;
		ret = doubt_length(b, (int)i, 0) ?: cpu_idled(b, i);
	}
	return ret;
}

/* Apply all changes of the current instant, and find out which waits are violations from now on. */
static int apply_changes(struct tap_balance *b)
{
	const struct tap_cpu *cpus;
	unsigned int nr;
	int ret = 0;

	cpus = tap_timeline_cpus(b->timeline, &nr);
	do {
		for (unsigned int i = 0; i < b->nr_dirty && !ret; i++)
			ret = settle_cpu(b, b->dirty[i],
					 b->dirty[i] < nr ? &cpus[b->dirty[i]] : NULL);
		b->nr_dirty = 0;
		if (!ret && b->any_stale_waits)
			ret = drop_stale_waits(b);
	} while (!ret && b->nr_dirty);
	if (!ret && !b->opts.lengths_told)
		ret = tap_queue_lengths_set_imbalance(&b->lengths, b->now_ns);
	return ret ? ret : look_around(b);
}

static int wait_end(struct tap_balance *b, struct tap_balance_task *t, const struct tap_interval *s)
{
	bool counts = s->whole && s->state == t->wait.state && s->cpu == t->wait.cpu;
	uint64_t from_ns = s->next == TAP_STATE_UNKNOWN ? s->to_ns : s->from_ns;
	int ret = set_mode(b, t, TAP_WAIT_PLAIN) ?: dequeue_task(b, t);

	if (ret || (counts && !t->wanted))
		return ret;
	if (counts)
		return tap_violations_count(&b->violations, &t->wait, s->to_ns - s->from_ns);
	tap_wait_drop(&t->wait);
	if (s->next == s->state) /* a wait that lasts until the window's end has not ended */
		return 0;
	ret = doubt_length(b, t->wait.cpu, from_ns);
	return ret || s->cpu == t->wait.cpu ? ret : doubt_length(b, s->cpu, from_ns);
}

/*
 * Return true if a wait may be hidden in the state. Without recorded wakeups each sleep has a wait
 * at its end.
 */
static bool may_be_wait(const struct tap_balance *b, enum tap_state state)
{
	return state == TAP_STATE_UNKNOWN || (tap_state_is_sleep(state) && b->opts.survey &&
					      !tap_survey_has_wakeups(b->opts.survey));
}

/* Set up CPUs and tasks as they are when the window begins. */
static int begin_window(struct tap_balance *b)
{
	struct tap_task *const *tasks;
	unsigned int nr, i;
	int ret;

	b->now_ns = tap_timeline_window(b->timeline).from_ns;
	tap_timeline_cpus(b->timeline, &nr);
	ret = cpus_grow(b, nr) ?: cpus_touch(b);
	tasks = tap_timeline_tasks(b->timeline, &nr);
	for (i = 0; i < nr && !ret; i++) {
		struct tap_balance_task *t;

		ret = task_get(b, tasks[i], &t);
		if (tap_state_is_wait(tasks[i]->state))
			ret = ret ?: wait_begin(b, t, tasks[i]->state, tasks[i]->cpu);
	}
	return ret;
}

static int advance_time(struct tap_balance *b, uint64_t ns)
{
	int ret = 0;

	if (ns > b->now_ns) {
		ret = apply_changes(b);
		b->now_ns = ns;
	}
	return ret;
}

/* Return the time when the current hole ends, or else the next one begins; UINT64_MAX: never. */
static uint64_t next_mark(const struct tap_balance *b)
{
	const struct tap_survey *survey = b->opts.survey;

	if (!survey || b->next_hole == survey->nr_holes)
		return UINT64_MAX;
	return b->in_hole ? survey->holes[b->next_hole].to_ns : survey->holes[b->next_hole].from_ns;
}

int tap_balance_advance(struct tap_balance *b, const struct tap_timeline *t, uint64_t ns)
{
	int ret = 0;
	uint64_t mark;

	if (!b->timeline) {
		b->timeline = t;
		ret = begin_window(b);
	}
	while (!ret && (mark = next_mark(b)) < ns) {
		ret = advance_time(b, mark) ?: drop_waits(b);
		b->next_hole += b->in_hole;
		b->in_hole = !b->in_hole;
		ret = ret ?: cpus_touch(b);
	}
	return ret ? ret : advance_time(b, ns);
}

/* A CPU where the task ran or was moved to is one that it may use. */
static int ran_on(struct tap_balance_task *t, int cpu)
{
	return is_cpu(cpu) ? tap_cpus_add(&t->wait.used, (unsigned int)cpu) : 0;
}

static int on_interval(void *ctx, const struct tap_timeline *timeline, const struct tap_interval *s)
{
	struct tap_balance *b = ctx;
	struct tap_balance_task *t;
	int ret = tap_balance_advance(b, timeline, s->to_ns) ?: task_get(b, s->task, &t);

	if (ret)
		return ret;
	if (t->waiting)
		ret = wait_end(b, t, s);
	else if (t->dropped_ns)
		ret = doubt_length(b, t->wait.cpu, t->dropped_ns);
	else if (tap_state_is_wait(s->state))
		ret = doubt_length(b, s->cpu, s->from_ns); /* the start of its wait was not seen */
	t->dropped_ns = 0;
	if (!ret && s->state == TAP_STATE_RUNNING)
		ret = ran_on(t, s->cpu);
	/* a wait that is reported late counts as one whose start was not seen */
	if (ret || s->next == s->state || s->late)
		return ret;
	if (tap_state_is_wait(s->next))
		return wait_begin(b, t, s->next, t->woken_ns == s->to_ns ? t->woken_cpu : s->cpu);
	if (s->next == TAP_STATE_RUNNING && !s->unseen && may_be_wait(b, s->state))
		return doubt_length(b, s->next_cpu, s->from_ns);
	return 0;
}

static int on_cpu(void *ctx, const struct tap_timeline *timeline, const struct tap_cpu_interval *s)
{
	struct tap_balance *b = ctx;
	int ret = tap_balance_advance(b, timeline, s->to_ns);

	if (!ret && !cpu_touch(b, s->cpu))
		ret = -ENOMEM;
	/* the CPU's state was thought to be known, and was not */
	if (!ret && s->what == TAP_CPU_UNKNOWN && b->cpus[s->cpu].what != TAP_CPU_UNKNOWN)
		ret = doubt_length(b, s->cpu, s->from_ns);
	return ret;
}

static int on_wakeup(void *ctx, const struct tap_timeline *timeline, const struct tap_wakeup *w)
{
	struct tap_balance *b = ctx;
	struct tap_balance_task *t;
	int ret = tap_balance_advance(b, timeline, w->ts_ns) ?: task_get(b, w->task, &t);

	if (ret)
		return ret;
	if (w->is_new) /* a new task: no earlier state ends */
		return wait_begin(b, t, TAP_STATE_WAKING, w->target_cpu);
	t->woken_cpu = w->target_cpu;
	t->woken_ns = w->ts_ns;
	return 0;
}

static int on_migration(void *ctx, const struct tap_timeline *timeline,
			const struct tap_migration *m)
{
	struct tap_balance *b = ctx;
	struct tap_balance_task *t;
	int ret = tap_balance_advance(b, timeline, m->ts_ns) ?: task_get(b, m->task, &t);

	if (ret)
		return ret;
	if (m->why == TAP_MIGRATE_OTHER)
		tap_cpus_release(&t->wait.used);
	ret = ran_on(t, m->to);
	if (t->dropped_ns) { /* it is unknown whether the task still waited */
		ret = ret ?: doubt_length(b, t->wait.cpu, t->dropped_ns);
		t->wait.cpu = m->to;
	} else if (may_be_wait(b, m->task->state) && m->why != TAP_MIGRATE_WAKEUP) {
		ret = ret ?: doubt_length(b, m->from, m->task->since_ns);
	}
	if (ret || !t->waiting)
		return ret;
	if (m->why == TAP_MIGRATE_WAKEUP) { /* its wait in a queue begins only now */
		ret = set_mode(b, t, TAP_WAIT_PLAIN);
		tap_wait_drop(&t->wait);
	}
	return ret ?: queue_add(b, t->wait.cpu, -1) ?: enqueue_task(b, t, m->to);
}

int tap_balance_length(struct tap_balance *b, int cpu, uint64_t ts_ns, int64_t length)
{
	struct tap_queue_lengths *q = &b->lengths;
	unsigned int i = (unsigned int)cpu;

	if (!is_cpu(cpu) || !cpu_wanted(b, cpu))
		return 0;
	return cpus_grow(b, i + 1) ?: tap_queue_lengths_see(q, i) ?:
	       tap_queue_lengths_set(q, i, ts_ns, length) ?:
	       tap_queue_lengths_set_imbalance(q, ts_ns) ?:
	       tap_queue_lengths_commit(q, i, ts_ns); /* lengths set here are final */
}

int tap_balance_init(struct tap_balance *b, const struct tap_balance_opts *opts)
{
	*b = (struct tap_balance){ .opts = *opts, .lengths = TAP_QUEUE_LENGTHS_INIT };
	if (tap_violations_init(&b->violations, opts->min_ns, opts->nr_worst))
		return -ENOMEM;
	b->violations.tell = opts->tell;
	b->violations.ctx = opts->ctx;
	return 0;
}

void tap_balance_forget(struct tap_balance *b, const struct tap_task *task)
{
	struct tap_balance_task *t = task->index < b->nr_tasks ? &b->tasks[task->index] : NULL;

	/* a wait of zero length was not reported as ended */
	if (!t || (t->waiting && dequeue_task(b, t)))
		return;
	tap_wait_release(&t->wait);
	*t = (struct tap_balance_task){ 0 };
}

static int on_end(void *ctx, const struct tap_timeline *timeline)
{
	uint64_t end_ns = tap_timeline_window(timeline).to_ns;
	struct tap_balance *b = ctx;

	return tap_balance_advance(b, timeline, end_ns)
		       ?: tap_queue_lengths_end(&b->lengths, end_ns);
}

const struct tap_watcher_ops tap_balance_ops = {
	.states = TAP_STATE_ALL,
	.interval = on_interval,
	.cpu = on_cpu,
	.wakeup = on_wakeup,
	.migration = on_migration,
	.end = on_end,
};

void tap_balance_release(struct tap_balance *b)
{
	for (unsigned int i = 0; i < b->nr_tasks; i++)
		tap_wait_release(&b->tasks[i].wait);
	tap_queue_lengths_release(&b->lengths);
	tap_violations_release(&b->violations);
	tap_cpus_release(&b->free);
	free(b->cpus);
	free(b->tasks);
	free(b->waiting);
	free(b->fresh);
	free(b->dirty);
}
