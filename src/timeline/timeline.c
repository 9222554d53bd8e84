// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/timeline.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum shape_kind { SHAPE_OTHER, SHAPE_SWITCH, SHAPE_WAKING, SHAPE_FORK, SHAPE_WAKEUP_NEW };

/* What the timeline reads of one format: looked up by name once. */
struct shape {
	enum shape_kind kind;
	const struct tap_field *out_tid, *out_comm; /* the task switched out */
	const struct tap_field *tid, *comm;	    /* switched in, woken or forked */
};

static const struct shape_def {
	const char *name;
	enum shape_kind kind;
	const char *out_tid, *out_comm, *tid, *comm;
} shape_defs[] = {
	{ "sched_switch", SHAPE_SWITCH, "prev_pid", "prev_comm", "next_pid", "next_comm" },
	{ "sched_waking", SHAPE_WAKING, NULL, NULL, "pid", "comm" },
	{ "sched_wakeup", SHAPE_WAKING, NULL, NULL, "pid", "comm" },
	{ "sched_wakeup_new", SHAPE_WAKEUP_NEW, NULL, NULL, "pid", "comm" },
	{ "sched_process_fork", SHAPE_FORK, NULL, NULL, "child_pid", "child_comm" },
};

struct cpu {
	bool known; /* what runs since .since_ns is .tid; else nobody knows */
	int tid;
	uint64_t since_ns; /* up to here all time is accounted for */
};

struct task {
	struct tap_timeline_task res;
	bool ran;
	bool pending; /* woken at .woken_ns, not switched in yet */
	uint64_t woken_ns, woken_era;
};

struct tap_timeline {
	bool have_start, have_end;
	uint64_t start_ns, end_ns; /* end: of the last event as long as !have_end */
	struct tap_timeline_cpu *cpus;
	struct cpu *state; /* as long as .cpus */
	unsigned int nr_cpus;
	struct task *tasks;
	struct tap_timeline_task *sorted;
	unsigned int nr_tasks, cap_tasks;
	struct tap_map by_tid; /* index into .tasks */
	struct tap_map shapes; /* format -> struct shape *, owned */
	uint64_t era;	       /* counts holes: no wakeup is followed across one */
	uint64_t buffers;      /* that the events came from: bit 63 is all above 62 */
};

static const struct tap_field *field(const struct tap_format *fmt, const char *name,
				     bool is_number)
{
	const struct tap_field *f = name ? tap_format_field(fmt, name) : NULL;

	return f && (f->kind == TAP_FIELD_NUMBER) == is_number ? f : NULL;
}

static void shape_init(struct shape *s, const struct tap_format *fmt)
{
	const struct shape_def *d;

	if (strcmp(fmt->system, "sched"))
		return;
	for (d = shape_defs; d < shape_defs + sizeof(shape_defs) / sizeof(*d); d++) {
		if (strcmp(fmt->name, d->name))
			continue;
		s->out_tid = field(fmt, d->out_tid, true);
		s->out_comm = field(fmt, d->out_comm, false);
		s->tid = field(fmt, d->tid, true);
		s->comm = field(fmt, d->comm, false);
		if (s->tid && (!d->out_tid || s->out_tid))
			s->kind = d->kind;
	}
}

static const struct shape *shape_get(struct tap_timeline *t, const struct tap_format *fmt)
{
	uint64_t *slot = tap_map_put(&t->shapes, (uintptr_t)fmt);
	struct shape *s;

	if (!slot)
		return NULL;
	if (*slot)
		return (struct shape *)(uintptr_t)*slot;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	shape_init(s, fmt);
	*slot = (uintptr_t)s;
	return s;
}

static bool not_after(const struct tap_timeline *t, uint64_t ns)
{
	return !t->have_end || ns <= t->end_ns;
}

static bool inside(const struct tap_timeline *t, uint64_t ns)
{
	return ns >= t->start_ns && not_after(t, ns);
}

static uint64_t clamp(const struct tap_timeline *t, uint64_t ns)
{
	if (ns < t->start_ns)
		return t->start_ns;
	return not_after(t, ns) ? ns : t->end_ns;
}

/* Return: the CPU's state, NULL when out of memory. */
static struct cpu *cpu_get(struct tap_timeline *t, unsigned int cpu)
{
	if (cpu >= t->nr_cpus) {
		unsigned int nr = cpu + 1, old = t->nr_cpus;
		struct tap_timeline_cpu *cpus = realloc(t->cpus, nr * sizeof(*cpus));
		struct cpu *state;

		if (!cpus)
			return NULL;
		t->cpus = cpus;
		state = realloc(t->state, nr * sizeof(*state));
		if (!state)
			return NULL;
		t->state = state;
		memset(cpus + old, 0, (nr - old) * sizeof(*cpus));
		memset(state + old, 0, (nr - old) * sizeof(*state));
		t->nr_cpus = nr;
	}
	t->cpus[cpu].seen = true;
	return &t->state[cpu];
}

static struct task *task_find(const struct tap_timeline *t, int tid)
{
	uint64_t *slot = tap_map_get(&t->by_tid, (uint64_t)tid);

	return slot ? &t->tasks[*slot] : NULL;
}

/* A new task, also if one with this tid is known: the tid was given out again. */
static struct task *task_add(struct tap_timeline *t, int tid)
{
	uint64_t *slot;

	if (t->nr_tasks == t->cap_tasks) {
		unsigned int cap = t->cap_tasks ? t->cap_tasks * 2 : 64;
		struct task *tasks = reallocarray(t->tasks, cap, sizeof(*tasks));

		if (!tasks)
			return NULL;
		t->tasks = tasks;
		t->cap_tasks = cap;
	}
	slot = tap_map_put(&t->by_tid, (uint64_t)tid);
	if (!slot)
		return NULL;
	*slot = t->nr_tasks;
	t->tasks[t->nr_tasks] = (struct task){ .res.tid = tid };
	return &t->tasks[t->nr_tasks++];
}

static void task_comm(struct task *task, const struct tap_field *f, const struct tap_event *ev)
{
	uint32_t len;
	const char *comm;

	if (!f)
		return;
	comm = tap_field_bytes(f, ev->data, ev->size, &len);
	if (len > TAP_TIMELINE_COMM)
		len = TAP_TIMELINE_COMM;
	memset(task->res.comm, 0, TAP_TIMELINE_COMM);
	memcpy(task->res.comm, comm, len);
}

/* The task in @f, its name up to date. Return: 0 with NULL for idle; -ENOMEM. */
static int task_get(struct tap_timeline *t, const struct tap_event *ev, const struct tap_field *f,
		    const struct tap_field *comm, struct task **out)
{
	int tid = (int)tap_field_u64(f, ev->data, ev->size);

	*out = NULL;
	if (!tid)
		return 0;
	*out = task_find(t, tid);
	if (!*out)
		*out = task_add(t, tid);
	if (!*out)
		return -ENOMEM;
	task_comm(*out, comm, ev);
	return 0;
}

/* Accounts for the time up to @ns: to what runs if @certain, else to nobody. */
static void charge(struct tap_timeline *t, unsigned int cpu, uint64_t ns, bool certain)
{
	struct tap_timeline_cpu *res = &t->cpus[cpu];
	struct cpu *c = &t->state[cpu];
	uint64_t from = clamp(t, c->since_ns), ran;
	struct task *task;

	/* a file may lie: time on a CPU never goes back */
	if (ns < c->since_ns)
		ns = c->since_ns;
	ran = clamp(t, ns) - from;
	if (!c->known || !certain) {
		res->unknown_ns += ran;
	} else if (!c->tid) {
		res->idle_ns += ran;
	} else {
		res->run_ns += ran;
		task = task_find(t, c->tid);
		task->res.run_ns += ran;
		task->res.slices += ran || (from == c->since_ns && clamp(t, ns) == ns);
	}
	c->since_ns = ns;
}

static void switch_out(struct tap_timeline *t, unsigned int cpu, int tid, uint64_t ns)
{
	struct cpu *c = &t->state[cpu];
	bool broken = c->known && c->tid != tid;
	struct task *task;

	charge(t, cpu, ns, !broken);
	t->era += broken; /* switches were not seen: any task may have run there */
	t->cpus[cpu].chain_breaks += broken && inside(t, ns);
	task = task_find(t, tid);
	if (!task)
		return;
	/* it ran: a wakeup before this was of a running task, or the switch-in was not seen */
	task->pending = false;
	task->ran = true;
}

static void switch_in(struct tap_timeline *t, struct task *task, uint64_t ns)
{
	uint64_t latency = ns - task->woken_ns;

	task->ran = true;
	if (!task->pending)
		return;
	task->pending = false;
	if (task->woken_era != t->era || ns < task->woken_ns || !inside(t, ns))
		return;
	task->res.wakeups++;
	task->res.latency_sum_ns += latency;
	if (latency >= task->res.latency_max_ns) {
		task->res.latency_max_ns = latency;
		task->res.latency_max_at_ns = ns;
	}
}

static int on_switch(struct tap_timeline *t, const struct shape *s, const struct tap_event *ev)
{
	unsigned int cpu = (unsigned int)ev->cpu;
	struct cpu *c = &t->state[cpu];
	struct task *task;
	int ret;

	ret = task_get(t, ev, s->out_tid, s->out_comm, &task);
	if (ret)
		return ret;
	switch_out(t, cpu, task ? task->res.tid : 0, ev->ts_ns);
	ret = task_get(t, ev, s->tid, s->comm, &task);
	if (ret)
		return ret;
	c->known = true;
	c->tid = task ? task->res.tid : 0;
	if (task)
		switch_in(t, task, ev->ts_ns);
	t->cpus[cpu].switches += inside(t, ev->ts_ns);
	return 0;
}

/*
 * sched_wakeup after sched_waking changes nothing: the first stamp is kept. The waking of a
 * running task is forgotten when that is switched out, or with all others at a hole.
 */
static void woken(struct tap_timeline *t, struct task *task, uint64_t ns)
{
	if (task->pending && task->woken_era == t->era)
		return;
	task->pending = true;
	task->woken_ns = ns;
	task->woken_era = t->era;
}

static int on_task(struct tap_timeline *t, const struct shape *s, const struct tap_event *ev)
{
	struct task *task;
	int ret = task_get(t, ev, s->tid, s->comm, &task);

	if (ret || !task)
		return ret;
	/* a tid that ran before is new again: what is known belongs to the one that had it */
	if (s->kind != SHAPE_WAKING && task->ran) {
		task = task_add(t, task->res.tid);
		if (!task)
			return -ENOMEM;
		task_comm(task, s->comm, ev);
	}
	if (s->kind == SHAPE_WAKEUP_NEW)
		task->pending = false;
	if (s->kind != SHAPE_FORK)
		woken(t, task, ev->ts_ns);
	return 0;
}

static uint64_t buffer_bit(const struct tap_event *ev)
{
	return 1ull << (ev->buffer < 63 ? ev->buffer : 63);
}

/* Where a loss begins: a file may lie, and say after its end. */
static uint64_t lost_from(const struct tap_event *ev)
{
	return ev->lost.first_ns < ev->ts_ns ? ev->lost.first_ns : ev->ts_ns;
}

static void lost_on(struct tap_timeline *t, unsigned int cpu, uint64_t first_ns)
{
	/* the CPU may have switched at any time from here on */
	charge(t, cpu, first_ns, true);
	t->state[cpu].known = false;
}

static int on_lost(struct tap_timeline *t, const struct tap_event *ev)
{
	unsigned int cpu;

	if (ev->cpu >= 0 && !cpu_get(t, (unsigned int)ev->cpu))
		return -ENOMEM;
	if (ev->cpu >= 0 && tap_timeline_counts(t, ev))
		t->cpus[ev->cpu].lost += ev->lost.count;
	/* nothing that is used here came from that buffer: it lost other events */
	if (t->buffers && !(t->buffers & buffer_bit(ev)))
		return 0;
	t->era++;
	for (cpu = 0; cpu < t->nr_cpus; cpu++)
		if (ev->cpu < 0 || cpu == (unsigned int)ev->cpu)
			lost_on(t, cpu, lost_from(ev));
	return 0;
}

int tap_timeline_new(struct tap_timeline **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void tap_timeline_free(struct tap_timeline *t)
{
	if (!t)
		return;
	tap_map_for_each(&t->shapes, s)
		free((struct shape *)(uintptr_t)s->value);
	tap_map_release(&t->shapes);
	tap_map_release(&t->by_tid);
	free(t->cpus);
	free(t->state);
	free(t->tasks);
	free(t->sorted);
	free(t);
}

void tap_timeline_window(struct tap_timeline *t, uint64_t start_ns, uint64_t end_ns)
{
	t->have_start = start_ns;
	t->have_end = end_ns;
	t->start_ns = start_ns;
	t->end_ns = end_ns < start_ns ? start_ns : end_ns;
}

bool tap_timeline_counts(const struct tap_timeline *t, const struct tap_event *ev)
{
	return ev->ts_ns >= t->start_ns && not_after(t, ev->fmt ? ev->ts_ns : lost_from(ev));
}

int tap_timeline_event(struct tap_timeline *t, const struct tap_event *ev)
{
	const struct shape *s;

	if (ev->cpu >= (int)TAP_TIMELINE_MAX_CPUS || (ev->cpu < 0 && ev->fmt))
		return 0;
	if (!t->have_start) {
		t->have_start = true;
		t->start_ns = clamp(t, ev->fmt ? ev->ts_ns : lost_from(ev));
	}
	if (!t->have_end && ev->ts_ns > t->end_ns)
		t->end_ns = ev->ts_ns;
	if (!ev->fmt)
		return on_lost(t, ev);
	s = shape_get(t, ev->fmt);
	if (!s || !cpu_get(t, (unsigned int)ev->cpu))
		return -ENOMEM;
	if (s->kind == SHAPE_OTHER)
		return 0;
	t->buffers |= buffer_bit(ev);
	return s->kind == SHAPE_SWITCH ? on_switch(t, s, ev) : on_task(t, s, ev);
}

static int by_run_time(const void *a, const void *b)
{
	const struct tap_timeline_task *x = a, *y = b;

	if (x->run_ns != y->run_ns)
		return x->run_ns < y->run_ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

int tap_timeline_end(struct tap_timeline *t)
{
	unsigned int i;

	t->have_end = true;
	for (i = 0; i < t->nr_cpus; i++) {
		if (!t->cpus[i].seen)
			continue;
		charge(t, i, t->end_ns, true);
		assert(t->cpus[i].run_ns + t->cpus[i].idle_ns + t->cpus[i].unknown_ns ==
		       t->end_ns - t->start_ns);
	}
	t->sorted = calloc(t->nr_tasks + 1, sizeof(*t->sorted));
	if (!t->sorted)
		return -ENOMEM;
	for (i = 0; i < t->nr_tasks; i++)
		t->sorted[i] = t->tasks[i].res;
	qsort(t->sorted, t->nr_tasks, sizeof(*t->sorted), by_run_time);
	return 0;
}

void tap_timeline_span(const struct tap_timeline *t, uint64_t *start_ns, uint64_t *end_ns)
{
	*start_ns = t->start_ns;
	*end_ns = t->end_ns;
}

const struct tap_timeline_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = t->nr_cpus;
	return t->cpus;
}

const struct tap_timeline_task *tap_timeline_tasks(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = t->nr_tasks;
	return t->sorted;
}
