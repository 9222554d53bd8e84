// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/balance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum mode { MODE_NONE, MODE_EXIT, MODE_VIOLATION };

/* One task, and its present wait. */
struct tap_balance_task {
	const struct tap_task *task; /* NULL: not seen yet */
	struct tap_cpus used;	     /* where it may run */
	bool waiting, wanted;
	uint64_t dropped_ns; /* a hole began or ended while it waited, in .cpu's queue; or 0 */
	unsigned int place; /* in .waiting of the whole */
	enum tap_state state;
	int cpu; /* whose queue; -1: not known */
	int woken_cpu; /* of the wakeup that was told at .woken_ns */
	uint64_t woken_ns;
	enum mode mode;
	uint64_t mode_since_ns;
	int mode_cpu;
	struct tap_cpus idle; /* of MODE_VIOLATION */
	/* of this wait, if it turns out whole */
	uint64_t exit_ns;
	struct tap_balance_violation *found; /* owned */
	unsigned int nr_found, cap_found;
};

/* A file may lie. */
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
	struct tap_balance_cpu *cpus;
	unsigned int *dirty;

	if (nr <= b->nr_cpus)
		return 0;
	cpus = reallocarray(b->cpus, nr, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	b->cpus = cpus;
	dirty = reallocarray(b->dirty, nr, sizeof(*dirty));
	if (!dirty)
		return -ENOMEM;
	b->dirty = dirty;
	for (; b->nr_cpus < nr; b->nr_cpus++)
		cpus[b->nr_cpus] = (struct tap_balance_cpu){
			.length = TAP_HIST_INIT, .length_now = -1,
		};
	return 0;
}

/* Return: the CPU, which is to be looked at before time goes on; NULL when out of memory. */
static struct tap_balance_cpu *cpu_touch(struct tap_balance *b, int cpu)
{
	struct tap_balance_cpu *c;

	if (cpus_grow(b, (unsigned int)cpu + 1))
		return NULL;
	c = &b->cpus[cpu];
	if (!c->dirty)
		b->dirty[b->nr_dirty++] = (unsigned int)cpu;
	c->dirty = true;
	return c;
}

/* Return: the task, NULL when out of memory. */
static struct tap_balance_task *task_get(struct tap_balance *b, const struct tap_task *task)
{
	struct tap_balance_task *t;

	if (task->index >= b->nr_tasks) {
		unsigned int nr = task->index * 2 + 64;
		struct tap_balance_task *tasks = reallocarray(b->tasks, nr, sizeof(*tasks));

		if (!tasks)
			return NULL;
		memset(tasks + b->nr_tasks, 0, (nr - b->nr_tasks) * sizeof(*tasks));
		b->tasks = tasks;
		b->nr_tasks = nr;
	}
	t = &b->tasks[task->index];
	t->task = task;
	return t;
}

/* ---- violations ------------------------------------------------------------------------- */

static int cpus_merge(struct tap_cpus *to, const struct tap_cpus *a, const struct tap_cpus *b)
{
	unsigned int words = a->nr_words < b->nr_words ? a->nr_words : b->nr_words;

	for (unsigned int i = 0; i < words; i++) {
		uint64_t both = a->bits[i] & b->bits[i];

		if (!both)
			continue;
		if (i >= to->nr_words && tap_cpus_add(to, i * 64 + (unsigned int)__builtin_ctzll(both)))
			return -ENOMEM;
		to->bits[i] |= both;
	}
	return 0;
}

static bool cpus_meet(const struct tap_cpus *a, const struct tap_cpus *b)
{
	unsigned int words = a->nr_words < b->nr_words ? a->nr_words : b->nr_words;

	for (unsigned int i = 0; i < words; i++)
		if (a->bits[i] & b->bits[i])
			return true;
	return false;
}

static void drop_found(struct tap_balance_task *t)
{
	while (t->nr_found)
		tap_cpus_release(&t->found[--t->nr_found].idle);
	t->exit_ns = 0;
}

/* The violation ends that the task is in. */
static int found(struct tap_balance *b, struct tap_balance_task *t)
{
	if (t->nr_found == t->cap_found) {
		unsigned int cap = t->cap_found ? t->cap_found * 2 : 4;
		struct tap_balance_violation *v = reallocarray(t->found, cap, sizeof(*v));

		if (!v)
			return -ENOMEM;
		t->found = v;
		t->cap_found = cap;
	}
	t->found[t->nr_found++] = (struct tap_balance_violation){
		.task = t->task, .state = t->state, .cpu = t->mode_cpu,
		.from_ns = t->mode_since_ns, .to_ns = b->now_ns, .idle = t->idle,
	};
	t->idle = (struct tap_cpus){ 0 };
	return 0;
}

static int set_mode(struct tap_balance *b, struct tap_balance_task *t, enum mode mode)
{
	int ret = 0;

	if (mode != t->mode) {
		if (t->mode == MODE_EXIT)
			t->exit_ns += b->now_ns - t->mode_since_ns;
		else if (t->mode == MODE_VIOLATION)
			ret = found(b, t);
		t->mode = mode;
		t->mode_since_ns = b->now_ns;
		t->mode_cpu = t->cpu;
	}
	if (!ret && mode == MODE_VIOLATION)
		ret = cpus_merge(&t->idle, &t->used, &b->free);
	return ret;
}

static int look_at(struct tap_balance *b, struct tap_balance_task *t)
{
	enum mode mode = MODE_NONE;

	if (!t->waiting || !t->wanted)
		return 0;
	if (!cpu_wanted(b, t->cpu))
		mode = MODE_NONE;
	else if (b->cpus[t->cpu].what == TAP_CPU_IDLE)
		mode = MODE_EXIT;
	else if (b->cpus[t->cpu].what == TAP_CPU_RUN && cpus_meet(&t->used, &b->free))
		mode = MODE_VIOLATION;
	return set_mode(b, t, mode);
}

/* Keeps @v among the worst, or releases it. */
static void keep_worst(struct tap_balance *b, struct tap_balance_violation *v)
{
	uint64_t ns = v->to_ns - v->from_ns;
	unsigned int i = b->nr_worst;

	while (i && b->worst[i - 1].to_ns - b->worst[i - 1].from_ns < ns)
		i--;
	if (i == b->opts.nr_worst) {
		tap_cpus_release(&v->idle);
		return;
	}
	if (b->nr_worst == b->opts.nr_worst)
		tap_cpus_release(&b->worst[--b->nr_worst].idle);
	memmove(b->worst + i + 1, b->worst + i, (b->nr_worst - i) * sizeof(*v));
	b->worst[i] = *v;
	b->nr_worst++;
}

/* The wait was whole: what was found in it counts. */
static int count_found(struct tap_balance *b, struct tap_balance_task *t)
{
	unsigned int i;
	int ret = 0;

	b->exits += t->exit_ns != 0;
	b->exit_ns += t->exit_ns;
	for (i = 0; i < t->nr_found; i++) {
		struct tap_balance_violation *v = &t->found[i];
		uint64_t ns = v->to_ns - v->from_ns;

		if (ns < b->opts.min_ns || ret) {
			tap_cpus_release(&v->idle);
			continue;
		}
		ret = tap_hist_add(&b->violations, ns);
		b->state_count[v->state]++;
		b->state_ns[v->state] += ns;
		keep_worst(b, v);
	}
	t->nr_found = 0;
	t->exit_ns = 0;
	return ret;
}

/* ---- lengths ---------------------------------------------------------------------------- */

/*
 * A task waited in this queue, or did not, unlike what was noted, at some time since @from_ns; but
 * not since before the CPU was last idle.
 */
static int doubt(struct tap_balance *b, int cpu, uint64_t from_ns)
{
	struct tap_balance_cpu *c;
	int ret;

	if (cpu < 0 || (unsigned int)cpu >= b->nr_cpus || !cpu_wanted(b, cpu) ||
	    b->opts.lengths_told)
		return 0;
	c = &b->cpus[cpu];
	if (from_ns < c->idled_ns)
		from_ns = c->idled_ns;
	ret = tap_length_log_doubt(&c->log, from_ns, b->now_ns);
	return ret ? ret : tap_length_log_doubt(&b->imbalance_log, from_ns, b->now_ns);
}

/* The CPU is idle, and its queue empty: what was noted up to now is right. */
static int cpu_idled(struct tap_balance *b, struct tap_balance_cpu *c)
{
	uint64_t all_ns = b->now_ns;
	int ret;

	c->idled_ns = b->now_ns;
	if (b->opts.lengths_told)
		return 0;
	ret = tap_length_log_commit(&c->log, &c->length, b->now_ns);
	for (unsigned int i = 0; i < b->nr_cpus; i++)
		if (b->cpus[i].seen && b->cpus[i].idled_ns < all_ns)
			all_ns = b->cpus[i].idled_ns;
	return ret ? ret : tap_length_log_commit(&b->imbalance_log, &b->imbalance, all_ns);
}

static int64_t imbalance(const struct tap_balance *b)
{
	int64_t min = INT64_MAX, max = 0;
	unsigned int known = 0;

	for (unsigned int i = 0; i < b->nr_cpus; i++) {
		int64_t now = b->cpus[i].length_now;

		if (now < 0)
			continue;
		known++;
		min = now < min ? now : min;
		max = now > max ? now : max;
	}
	return known > 1 ? max - min : -1;
}

/* ---- time goes on ----------------------------------------------------------------------- */

static int set_free(struct tap_balance *b, unsigned int cpu, bool is_free)
{
	if (is_free == tap_cpus_has(&b->free, cpu))
		return 0;
	b->recheck = true;
	if (is_free)
		return tap_cpus_add(&b->free, cpu);
	b->free.bits[cpu / 64] &= ~((uint64_t)1 << cpu % 64);
	return 0;
}

/* Takes note of what CPU @i does from now on. @state: NULL: nothing was ever seen there. */
static int settle_cpu(struct tap_balance *b, unsigned int i, const struct tap_cpu *state)
{
	struct tap_balance_cpu *c = &b->cpus[i];
	int what = state && state->offline	? TAP_CPU_OFFLINE :
		   !state || !state->known	? TAP_CPU_UNKNOWN :
		   state->task			? TAP_CPU_RUN :
						  TAP_CPU_IDLE;
	int64_t length = c->nr_queued + (what == TAP_CPU_RUN);
	int was, ret;

	c->dirty = false;
	if (!cpu_wanted(b, (int)i))
		return 0;
	c->seen |= state && state->seen;
	was = c->what;
	c->what = what;
	b->recheck |= what != was;
	/* in a hole tasks may come and go unseen, also where the CPU's own switches are all there */
	if (what == TAP_CPU_UNKNOWN || what == TAP_CPU_OFFLINE || b->nr_homeless || b->in_hole)
		length = -1;
	ret = set_free(b, i, what == TAP_CPU_IDLE && !c->nr_queued);
	if (!ret && !b->opts.lengths_told) {
		c->length_now = length;
		ret = tap_length_log_set(&c->log, b->now_ns, length);
	}
	/* with a queue that is not empty no CPU becomes idle: who seems to wait there does not */
	c->has_ghosts = what == TAP_CPU_IDLE && was != what && c->nr_queued;
	b->ghosts |= c->has_ghosts;
	if (!ret && what == TAP_CPU_IDLE && was != what && !c->nr_queued)
		ret = cpu_idled(b, c);
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

/* ---- what is told ----------------------------------------------------------------------- */

/* One more in the queue, or (@by -1) one less. */
static int queue_add(struct tap_balance *b, int cpu, int by)
{
	struct tap_balance_cpu *c;

	if (cpu < 0) {
		b->nr_homeless += (unsigned int)by;
		for (unsigned int i = 0; i < b->nr_cpus; i++)
			cpu_touch(b, (int)i);
		return 0;
	}
	c = cpu_touch(b, cpu);
	if (!c)
		return -ENOMEM;
	c->nr_queued += (unsigned int)by;
	return 0;
}

/* Makes room for one more. Return: 0 or -ENOMEM. */
static int list_grow(unsigned int **list, unsigned int nr, unsigned int *cap)
{
	unsigned int more = *cap ? *cap * 2 : 64;
	unsigned int *grown;

	if (nr < *cap)
		return 0;
	grown = reallocarray(*list, more, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*list = grown;
	*cap = more;
	return 0;
}

/* Puts a task that waits into a queue. */
static int enqueue(struct tap_balance *b, struct tap_balance_task *t, int cpu)
{
	if (list_grow(&b->fresh, b->nr_fresh, &b->cap_fresh))
		return -ENOMEM;
	b->fresh[b->nr_fresh++] = t->task->index;
	t->cpu = is_cpu(cpu) ? cpu : -1;
	return queue_add(b, t->cpu, 1);
}

static int wait_begin(struct tap_balance *b, struct tap_balance_task *t, enum tap_state state,
		      int cpu)
{
	if (list_grow(&b->waiting, b->nr_waiting, &b->cap_waiting))
		return -ENOMEM;
	t->waiting = true;
	t->wanted = !b->opts.task || b->opts.task(b->opts.ctx, t->task);
	t->place = b->nr_waiting;
	t->state = state;
	b->waiting[b->nr_waiting++] = t->task->index;
	return enqueue(b, t, cpu);
}

/* Takes the task out of its queue. What was found in its wait is left to the caller. */
static int dequeue(struct tap_balance *b, struct tap_balance_task *t)
{
	unsigned int last = b->waiting[--b->nr_waiting];

	b->waiting[t->place] = last;
	b->tasks[last].place = t->place;
	t->waiting = false;
	return queue_add(b, t->cpu, -1);
}

/* The task's wait is no longer believed in. */
static int drop_wait(struct tap_balance *b, struct tap_balance_task *t)
{
	int ret = set_mode(b, t, MODE_NONE);

	drop_found(t);
	t->dropped_ns = b->now_ns;
	return ret ? ret : dequeue(b, t);
}

/* Who waits when a hole begins or ends may have run in it, unseen. */
static int drop_waits(struct tap_balance *b)
{
	int ret = 0;

	while (b->nr_waiting && !ret)
		ret = drop_wait(b, &b->tasks[b->waiting[0]]);
	return ret;
}

/* Since when they are no longer there is not known, but that they were not when it was last idle. */
static int lay_ghosts(struct tap_balance *b)
{
	int ret = 0;

	b->ghosts = false;
	for (unsigned int i = b->nr_waiting; i-- > 0 && !ret;) {
		struct tap_balance_task *t = &b->tasks[b->waiting[i]];

		if (t->cpu < 0 || !b->cpus[t->cpu].has_ghosts)
			continue;
		ret = drop_wait(b, t);
		t->cpu = -1; /* it is in no queue, whatever is told of it */
	}
	for (unsigned int i = 0; i < b->nr_cpus && !ret; i++) {
		if (!b->cpus[i].has_ghosts)
			continue;
		b->cpus[i].has_ghosts = false;
		ret = doubt(b, (int)i, b->cpus[i].idled_ns);
		if (!ret)
			ret = cpu_idled(b, &b->cpus[i]);
	}
	return ret;
}

/* All that was told of this instant is noted: looks at what holds from it on. */
static int settle(struct tap_balance *b)
{
	const struct tap_cpu *cpus;
	unsigned int nr;
	int ret = 0;

	cpus = tap_timeline_cpus(*b->opts.timeline, &nr);
	do {
		for (unsigned int i = 0; i < b->nr_dirty && !ret; i++)
			ret = settle_cpu(b, b->dirty[i], b->dirty[i] < nr ? &cpus[b->dirty[i]] : NULL);
		b->nr_dirty = 0;
		if (!ret && b->ghosts)
			ret = lay_ghosts(b);
	} while (!ret && b->nr_dirty);
	if (!ret && !b->opts.lengths_told)
		ret = tap_length_log_set(&b->imbalance_log, b->now_ns, imbalance(b));
	return ret ? ret : look_around(b);
}

/* A wait ends as one that was seen from its beginning on, in this queue. */
static int wait_counts(struct tap_balance *b, struct tap_balance_task *t,
		       const struct tap_stretch *s)
{
	if (!t->wanted)
		return 0;
	b->waits++;
	b->wait_ns += s->to_ns - s->from_ns;
	return count_found(b, t);
}

static int wait_end(struct tap_balance *b, struct tap_balance_task *t,
		    const struct tap_stretch *s)
{
	bool counts = s->whole && s->state == t->state && s->cpu == t->cpu;
	uint64_t from_ns = s->next == TAP_UNKNOWN ? s->to_ns : s->from_ns;
	int ret = set_mode(b, t, MODE_NONE);

	if (!ret)
		ret = dequeue(b, t);
	if (ret)
		return ret;
	if (counts)
		return wait_counts(b, t, s);
	drop_found(t);
	if (s->next == s->state) /* the window's end ends no wait */
		return 0;
	ret = doubt(b, t->cpu, from_ns);
	return ret || s->cpu == t->cpu ? ret : doubt(b, s->cpu, from_ns);
}

static bool is_wait(enum tap_state state)
{
	return state == TAP_WAKING || state == TAP_PREEMPTED;
}

/* Without wakeups a sleep has a wait at its end. */
static bool may_be_wait(const struct tap_balance *b, enum tap_state state)
{
	return state == TAP_UNKNOWN || (tap_state_is_sleep(state) && b->opts.survey &&
					!tap_survey_has_wakeups(b->opts.survey));
}

/* What is there when the window begins. */
static int start(struct tap_balance *b)
{
	struct tap_task *const *tasks;
	unsigned int nr, i;
	uint64_t end_ns;
	int ret;

	tap_timeline_span(*b->opts.timeline, &b->now_ns, &end_ns);
	tap_timeline_cpus(*b->opts.timeline, &nr);
	ret = cpus_grow(b, nr);
	for (i = 0; i < b->nr_cpus && !ret; i++)
		cpu_touch(b, (int)i);
	tasks = tap_timeline_tasks(*b->opts.timeline, &nr);
	for (i = 0; i < nr && !ret; i++) {
		struct tap_balance_task *t = task_get(b, tasks[i]);

		if (!t)
			return -ENOMEM;
		if (is_wait(tasks[i]->state))
			ret = wait_begin(b, t, tasks[i]->state, tasks[i]->cpu);
	}
	return ret;
}

static int step(struct tap_balance *b, uint64_t ns)
{
	int ret = 0;

	if (ns > b->now_ns) {
		ret = settle(b);
		b->now_ns = ns;
	}
	return ret;
}

/* Return: when the next hole begins, or the one that has begun ends; UINT64_MAX: never. */
static uint64_t next_mark(const struct tap_balance *b)
{
	const struct tap_survey *survey = b->opts.survey;

	if (!survey || b->next_hole == survey->nr_holes)
		return UINT64_MAX;
	return b->in_hole ? survey->holes[b->next_hole].to_ns :
			    survey->holes[b->next_hole].from_ns;
}

static int advance(struct tap_balance *b, uint64_t ns)
{
	uint64_t mark;
	int ret = 0;

	if (!b->started)
		ret = start(b);
	b->started = true;
	while (!ret && (mark = next_mark(b)) < ns) {
		ret = step(b, mark);
		if (!ret)
			ret = drop_waits(b);
		b->next_hole += b->in_hole;
		b->in_hole = !b->in_hole;
		for (unsigned int i = 0; i < b->nr_cpus; i++)
			cpu_touch(b, (int)i);
	}
	return ret ? ret : step(b, ns);
}

/* Where the task runs, it may. */
static int ran_on(struct tap_balance_task *t, int cpu)
{
	return is_cpu(cpu) ? tap_cpus_add(&t->used, (unsigned int)cpu) : 0;
}

int tap_balance_stretch(struct tap_balance *b, const struct tap_stretch *s)
{
	struct tap_balance_task *t;
	int ret = advance(b, s->to_ns);

	if (ret)
		return ret;
	t = task_get(b, s->task);
	if (!t)
		return -ENOMEM;
	if (t->waiting)
		ret = wait_end(b, t, s);
	else if (t->dropped_ns)
		ret = doubt(b, t->cpu, t->dropped_ns);
	else if (is_wait(s->state))
		ret = doubt(b, s->cpu, s->from_ns); /* it was not seen to begin */
	t->dropped_ns = 0;
	if (!ret && s->state == TAP_RUNNING)
		ret = ran_on(t, s->cpu);
	if (ret || s->next == s->state)
		return ret;
	if (is_wait(s->next))
		return wait_begin(b, t, s->next, t->woken_ns == s->to_ns ? t->woken_cpu : s->cpu);
	if (s->next == TAP_RUNNING && may_be_wait(b, s->state))
		return doubt(b, s->next_cpu, s->from_ns);
	return 0;
}

int tap_balance_cpu(struct tap_balance *b, const struct tap_cpu_stretch *s)
{
	int ret = advance(b, s->to_ns);

	if (!ret && !cpu_touch(b, s->cpu))
		ret = -ENOMEM;
	/* what runs there was thought to be known, and was not */
	if (!ret && s->what == TAP_CPU_UNKNOWN && b->cpus[s->cpu].what != TAP_CPU_UNKNOWN)
		ret = doubt(b, s->cpu, s->from_ns);
	return ret;
}

int tap_balance_wakeup(struct tap_balance *b, const struct tap_wakeup *w)
{
	struct tap_balance_task *t;
	int ret = advance(b, w->ts_ns);

	if (ret)
		return ret;
	t = task_get(b, w->task);
	if (!t)
		return -ENOMEM;
	if (w->is_new) /* a life begins: no other state ends */
		return wait_begin(b, t, TAP_WAKING, w->target_cpu);
	t->woken_cpu = w->target_cpu;
	t->woken_ns = w->ts_ns;
	return 0;
}

/* Nobody knows whether it still waited. */
static int dropped_moves(struct tap_balance *b, struct tap_balance_task *t, int to)
{
	int ret = doubt(b, t->cpu, t->dropped_ns);

	t->cpu = to;
	return ret;
}

int tap_balance_migration(struct tap_balance *b, const struct tap_migration *m)
{
	struct tap_balance_task *t;
	int ret = advance(b, m->ts_ns);

	if (ret)
		return ret;
	t = task_get(b, m->task);
	if (!t)
		return -ENOMEM;
	if (m->why == TAP_MIGRATE_OTHER)
		tap_cpus_release(&t->used);
	ret = ran_on(t, m->to);
	if (!ret && t->dropped_ns)
		ret = dropped_moves(b, t, m->to);
	else if (!ret && may_be_wait(b, m->task->state) && m->why != TAP_MIGRATE_WAKEUP)
		ret = doubt(b, m->from, m->task->since_ns);
	if (ret || !t->waiting)
		return ret;
	if (m->why == TAP_MIGRATE_WAKEUP) { /* it was in no queue yet */
		ret = set_mode(b, t, MODE_NONE);
		drop_found(t);
	}
	if (!ret)
		ret = queue_add(b, t->cpu, -1);
	return ret ? ret : enqueue(b, t, m->to);
}

int tap_balance_length(struct tap_balance *b, int cpu, uint64_t ts_ns, int64_t length)
{
	struct tap_balance_cpu *c;
	int ret;

	if (!is_cpu(cpu) || !cpu_wanted(b, cpu))
		return 0;
	if (cpus_grow(b, (unsigned int)cpu + 1))
		return -ENOMEM;
	c = &b->cpus[cpu];
	c->seen = true;
	c->length_now = length;
	ret = tap_length_log_set(&c->log, ts_ns, length);
	if (!ret)
		ret = tap_length_log_set(&b->imbalance_log, ts_ns, imbalance(b));
	/* nothing will take it back */
	if (!ret)
		ret = tap_length_log_commit(&c->log, &c->length, ts_ns);
	return ret ? ret : tap_length_log_commit(&b->imbalance_log, &b->imbalance, ts_ns);
}

int tap_balance_init(struct tap_balance *b, const struct tap_balance_opts *opts)
{
	*b = (struct tap_balance){
		.opts = *opts, .imbalance = TAP_HIST_INIT, .violations = TAP_HIST_INIT,
	};
	b->worst = calloc(opts->nr_worst + 1, sizeof(*b->worst));
	return b->worst ? 0 : -ENOMEM;
}

int tap_balance_end(struct tap_balance *b)
{
	uint64_t start_ns, end_ns;
	unsigned int i;
	int ret;

	tap_timeline_span(*b->opts.timeline, &start_ns, &end_ns);
	ret = advance(b, end_ns);
	for (i = 0; i < b->nr_cpus && !ret; i++)
		ret = tap_length_log_commit(&b->cpus[i].log, &b->cpus[i].length, end_ns);
	return ret ? ret : tap_length_log_commit(&b->imbalance_log, &b->imbalance, end_ns);
}

void tap_balance_release(struct tap_balance *b)
{
	unsigned int i;

	for (i = 0; i < b->nr_cpus; i++) {
		tap_hist_release(&b->cpus[i].length);
		tap_length_log_release(&b->cpus[i].log);
	}
	for (i = 0; i < b->nr_tasks; i++) {
		drop_found(&b->tasks[i]);
		free(b->tasks[i].found);
		tap_cpus_release(&b->tasks[i].idle);
		tap_cpus_release(&b->tasks[i].used);
	}
	for (i = 0; i < b->nr_worst; i++)
		tap_cpus_release(&b->worst[i].idle);
	tap_hist_release(&b->imbalance);
	tap_hist_release(&b->violations);
	tap_length_log_release(&b->imbalance_log);
	tap_cpus_release(&b->free);
	free(b->cpus);
	free(b->tasks);
	free(b->waiting);
	free(b->fresh);
	free(b->dirty);
	free(b->worst);
}
