/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A random scheduler: CPUs that run tasks, and everything that happens to tasks, as events in the
 * order in which a kernel emits them. In addition it stores what each task really did all the time.
 *
 * A wakeup consists of sched_waking on the waker's CPU, sched_migrate_task there if the task is
 * placed on another CPU, and sched_wakeup there or on the task's new CPU; only then can the task be
 * switched in. A sleeping task may stay in its run queue for a while (delayed dequeue, since
 * v6.12): it can be migrated while it sleeps, and its wakeup does not place it elsewhere.
 *
 * A CPU may go offline: its migration thread runs and pushes away the waiting tasks, and the CPU
 * records nothing until it comes back with that thread or with its hotplug thread.
 *
 * Some tasks have a quota: once it is used up, they leave their CPU until the quota is refilled. In
 * half of the simulations run queues are throttled instead (before v6.18), with all tasks in them
 * that have a quota and those that are woken into them.
 *
 * Time stamps increase on each CPU; those of two CPUs may be equal if neither event depends on the
 * other.
 */
#ifndef TAP_TRUTH_SIM_H
#define TAP_TRUTH_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIM_CPUS 8
#define SIM_TASKS 160
#define SIM_START 1000000000000u
#define SIM_OPEN UINT64_MAX

enum event_kind {
	SWITCH,
	WAKING,
	WAKEUP,
	WAKEUP_NEW,
	MIGRATE,
	FORK,
	EXEC,
	EXIT,
	HOTPLUG, /* cpuhp_exit */
	THROTTLE,
	THROTTLE_WAKEUP,
	UNTHROTTLE,
	NR_SCHED_KINDS,
	LOST, /* lost events of this CPU from .first_ns to .ts_ns */
	MISSED, /* a loss that only the next sub-buffer's flag shows */
	PICK, /* before the SWITCH to which it belongs (picks.h) */
	/* of causes.h: */
	IRQ_ENTRY,
	IRQ_EXIT,
	SOFTIRQ_ENTRY,
	SOFTIRQ_EXIT,
	CPU_IDLE,
	RESCHED, /* sched_set_need_resched */
	SCX_WAKEUP,
	SCX_WAKEUP_NEW,
	SCX_SWITCH,
	NR_KINDS,
};

struct event {
	enum event_kind kind;
	uint64_t ts_ns;
	int cpu;
	int current; /* the running task, -1: idle; SWITCH: the task that leaves */
	int task; /* the task it is about, -1: idle; SWITCH: the task that is switched in */
	int tid, current_tid;
	char comm[16], current_comm[16];
	int prio, current_prio;
	bool is_scx; /* .task belongs to sched_ext */
	int to; /* the target CPU of WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, HOTPLUG, RESCHED */
	int from; /* the source CPU of MIGRATE */
	uint32_t state; /* SWITCH: prev_state; CPU_IDLE: the idle state; RESCHED: the flag */
	uint64_t dsq; /* SCX_*: the queue in which the task is placed */
	bool held; /* SCX_*: the task is in no queue */
	bool awake; /* WAKING, WAKEUP of a task that does not sleep, or not yet */
	bool in_vain; /* the task will not go to sleep: the waking has no effect */
	bool gone; /* not recorded */
	uint64_t first_ns, count; /* LOST */
};

enum where { ON_CPU, QUEUED, ASLEEP, WOKEN, NEW, THROTTLED, DEAD };

struct task {
	int tid;
	char comm[16];
	enum where where;
	int cpu;
	int prio;
	/* bits of the CPUs that it may use, according to the recording's lists; 0: not listed */
	unsigned int listed;
	bool pinned; /* to its CPU; it runs only at the end of the simulation */
	bool limited; /* has a quota */
	const char *waited; /* THROTTLED: the state before */
	bool delayed; /* asleep but still in its run queue */
	bool gone; /* a migration thread that took its CPU down: no event shows that it left */
	bool busy; /* a CPU has an operation on it in progress */
	uint64_t stamp; /* when something last happened to it */
	uint64_t woken_ns; /* when it was last woken while awake */
	uint64_t born_ns, died_ns;
	unsigned int open, asleep; /* indices of segments: the current one, and the last sleep */
	unsigned int migrations;
	int waker; /* tid of the last waker; 0: an interrupt of an idle CPU */
	int waker_cpu;
};

/* The state of a task from .from_ns to .to_ns. */
struct segment {
	int task;
	const char *what;
	uint64_t from_ns, to_ns;
	/* for a wait and the sleep before it: time of the sched_wakeup; 0: none */
	uint64_t wakeup_ns;
	int cpu;
	uint32_t state; /* for "run": prev_state */
	int waker; /* for a wait */
	int waker_cpu, wakeup_cpu; /* CPUs of its sched_waking and its sched_wakeup; -1: none */
	/* a wait that a reader takes for certain only if it has not seen what preceded it */
	bool unseen;
	/* woken just before it left: only later events show whether the waking had an effect */
	bool doubt;
};

/* Maximum time between a waking and the switch-out of a task that was leaving when it was woken. */
#define SIM_LEAVING_NS 10000u

/* What a CPU has started and must do next. */
enum todo { TODO_NONE, TODO_PLACE, TODO_WAKEUP, TODO_WAKEUP_NEW, TODO_LEAVE };

struct sim_cpu {
	int current;
	bool switched; /* at least one switch so far */
	uint64_t last_ns;
	enum todo todo;
	int todo_task;
	uint32_t todo_state;
	bool throttled; /* the tasks with a quota in its queue are throttled */
	bool offline;
	uint64_t down_ns; /* when it went offline */
	uint64_t offline_ns; /* total offline time before that */
};

struct sim {
	uint64_t rng, now;
	unsigned int nr_cpus, nr_tasks, nr_events, nr_segments, cap_events, cap_segments;
	unsigned int nr_alive;
	unsigned int nr_protected; /* number of events at the end that are never damaged */
	int first_stopper, first_hotplug; /* first of one task per CPU */
	bool has_hotplug;
	bool queues_throttle; /* run queues are throttled, not tasks */
	int throttles; /* the task that must leave its CPU because of it; -1: none */
	struct sim_cpu cpus[SIM_CPUS];
	struct task tasks[SIM_TASKS];
	struct event *events;
	struct segment *segments;
};

static inline uint32_t dice(struct sim *s, uint32_t sides)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return (uint32_t)((s->rng * 0x2545f4914f6cdd1dull >> 33) % sides);
}

static inline void *grow(void *array, unsigned int nr, unsigned int *cap, size_t size)
{
	if (nr < *cap)
		return array;
	*cap = *cap ? *cap * 2 : 1024;
	array = reallocarray(array, *cap, size);
	if (!array)
		abort();
	return array;
}

static inline struct event *emit(struct sim *s, int cpu, enum event_kind kind, int task)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct event *e;

	s->events = grow(s->events, s->nr_events, &s->cap_events, sizeof(*e));
	e = &s->events[s->nr_events++];
	*e = (struct event){
		.kind = kind,
		.ts_ns = s->now,
		.cpu = cpu,
		.current = c->current,
		.task = task,
		.prio = 120,
		.current_prio = 120,
	};
	if (task >= 0) {
		e->tid = s->tasks[task].tid;
		memcpy(e->comm, s->tasks[task].comm, sizeof(e->comm));
		s->tasks[task].stamp = s->now;
	}
	if (c->current >= 0) {
		e->current_tid = s->tasks[c->current].tid;
		memcpy(e->current_comm, s->tasks[c->current].comm, sizeof(e->current_comm));
	}
	c->last_ns = s->now;
	return e;
}

static inline void enter(struct sim *s, int task, const char *what)
{
	struct task *t = &s->tasks[task];

	s->segments = grow(s->segments, s->nr_segments, &s->cap_segments, sizeof(*s->segments));
	if (t->open)
		s->segments[t->open].to_ns = s->now;
	t->open = s->nr_segments++;
	s->segments[t->open] = (struct segment){
		.task = task,
		.what = what,
		.from_ns = s->now,
		.to_ns = SIM_OPEN,
		.cpu = t->cpu,
		.waker = t->waker,
		.waker_cpu = t->waker_cpu,
		.wakeup_cpu = -1,
	};
}

/* Advance the time before the next part of a step in which one CPU does several things. */
static inline void a_bit_later(struct sim *s)
{
	s->now += 1 + dice(s, 400);
}

static inline bool is_free(const struct sim *s, int task)
{
	const struct task *t = &s->tasks[task];

	return !t->pinned && !t->busy && t->stamp < s->now;
}

/*
 * Return a task in state @where (and on @cpu, unless that is -1) that is not busy; -1 if there is
 * none.
 */
static inline int pick(struct sim *s, enum where where, int cpu)
{
	unsigned int first = dice(s, s->nr_tasks);

	for (unsigned int n = 0; n < s->nr_tasks; n++) {
		unsigned int i = (first + n) % s->nr_tasks;
		const struct task *t = &s->tasks[i];

		if (t->where == where && (cpu < 0 || t->cpu == cpu) && is_free(s, (int)i))
			return (int)i;
	}
	return -1;
}

/*
 * Return what a task does after it was switched out with this prev_state (bits as in
 * events/sched.h).
 */
static inline const char *after(uint32_t state)
{
	switch (state) {
	case 0x000:
	case 0x100:
		return "preempted";
	case 0x002:
		return "blocked";
	case 0x004:
	case 0x008:
	case 0x040:
		return "stopped";
	case 0x010:
	case 0x020:
		return "dead";
	default:
		return "sleep";
	}
}

static inline void leave(struct sim *s, int task, uint32_t state)
{
	struct task *t = &s->tasks[task];

	t->stamp = s->now;
	s->segments[t->open].state = state;
	if (state == 0x10 || state == 0x20) {
		s->segments[t->open].to_ns = t->died_ns = s->now;
		t->where = DEAD;
		return;
	}
	enter(s, task, s->throttles == task ? "throttled" : after(state));
	s->segments[t->open].doubt = t->woken_ns && s->now - t->woken_ns <= SIM_LEAVING_NS;
	t->where = state & 0xff ? ASLEEP : s->throttles == task ? THROTTLED : QUEUED;
	if (t->where != ASLEEP)
		return;
	t->asleep = t->open;
	t->delayed = !t->busy && !dice(s, 3);
	if (!t->busy)
		return;
	/* it was woken while it was leaving: it waits from now on */
	enter(s, task, "waking");
	s->segments[t->open].doubt = true;
	t->where = WOKEN;
}

static inline void do_switch(struct sim *s, int cpu, int next, uint32_t state)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct event *e = emit(s, cpu, SWITCH, next);

	e->state = c->current < 0 ? 0 : state;
	c->switched = true;
	if (c->current >= 0)
		leave(s, c->current, state);
	c->current = next;
	if (next < 0)
		return;
	s->tasks[next].where = ON_CPU;
	s->tasks[next].gone = false;
	s->tasks[next].cpu = cpu;
	enter(s, next, "run");
}

static inline uint32_t some_sleep(struct sim *s)
{
	/* S, D, I, T, t, P */
	static const uint32_t states[] = { 1, 1, 1, 1, 1, 1, 2, 2, 2, 0x80, 4, 8, 0x40 };

	return states[dice(s, sizeof(states) / sizeof(*states))];
}

static inline void plan(struct sim *s, int cpu, enum todo todo, int task)
{
	s->cpus[cpu].todo = todo;
	s->cpus[cpu].todo_task = task;
}

/* Emit the sched_waking of a task that sleeps or is about to. */
static inline void wake(struct sim *s, int cpu, int task)
{
	struct task *t = &s->tasks[task];

	struct event *e = emit(s, cpu, WAKING, task);

	e->to = t->cpu;
	e->awake = t->where == ON_CPU;
	t->busy = true;
	t->waker = e->current_tid;
	t->waker_cpu = cpu;
	if (t->where == ASLEEP) {
		enter(s, task, "waking");
		s->segments[t->open].unseen = t->gone;
		t->where = WOKEN;
	}
	plan(s, cpu, TODO_PLACE, task);
}

/* Return a CPU that is online. */
static inline int some_cpu(struct sim *s)
{
	int cpu;

	do {
		cpu = (int)dice(s, s->nr_cpus);
	} while (s->cpus[cpu].offline);
	return cpu;
}

/* Throttle a waiting task: it may not run from now on. */
static inline void throttle_waiting(struct sim *s, int cpu, int task, enum event_kind kind)
{
	struct task *t = &s->tasks[task];

	a_bit_later(s);
	emit(s, cpu, kind, task);
	t->waited = s->segments[t->open].what;
	enter(s, task, "throttled");
	t->where = THROTTLED;
}

static inline void wakeup(struct sim *s, int cpu, int task, enum event_kind kind)
{
	struct task *t = &s->tasks[task];

	if (kind == WAKEUP_NEW && s->cpus[t->cpu].offline)
		t->cpu = cpu;
	emit(s, cpu, kind, task)->to = t->cpu;
	if (kind == WAKEUP) {
		s->segments[t->open].wakeup_ns = s->segments[t->asleep].wakeup_ns = s->now;
		s->segments[t->open].wakeup_cpu = cpu;
	} else {
		t->born_ns = s->now;
		t->waker_cpu = cpu;
		t->waker = s->cpus[cpu].current < 0 ? 0 : s->tasks[s->cpus[cpu].current].tid;
		enter(s, task, "waking");
	}
	t->where = QUEUED;
	t->busy = t->delayed = false;
	if (kind == WAKEUP && t->limited && s->cpus[t->cpu].throttled)
		throttle_waiting(s, cpu, task, THROTTLE_WAKEUP);
}

static inline void migrate(struct sim *s, int cpu, int task, int to)
{
	struct task *t = &s->tasks[task];
	struct event *e = emit(s, cpu, MIGRATE, task);

	e->from = t->cpu;
	e->to = t->cpu = to;
	t->migrations++;
}

static inline void pull(struct sim *s, int cpu)
{
	int task = pick(s, dice(s, 3) ? QUEUED : ASLEEP, -1);

	if (task < 0 || s->tasks[task].cpu == cpu)
		return;
	if (s->tasks[task].where == ASLEEP && !s->tasks[task].delayed)
		return;
	migrate(s, cpu, task, cpu);
	/* or its waking was lost: the next one will show */
	if (s->tasks[task].where == ASLEEP)
		s->segments[s->tasks[task].open].doubt = true;
}

static inline void place(struct sim *s, int cpu, int task)
{
	struct task *t = &s->tasks[task];
	int to = t->delayed || dice(s, 2) ? t->cpu : some_cpu(s);

	if (s->cpus[to].offline)
		to = some_cpu(s);
	if (to != t->cpu) {
		migrate(s, cpu, task, to);
		a_bit_later(s);
	}
	if (to != cpu && s->cpus[to].todo == TODO_NONE && dice(s, 2))
		plan(s, to, TODO_WAKEUP, task);
	else
		wakeup(s, cpu, task, WAKEUP);
}

static inline void add_task(struct sim *s, int tid, int cpu, enum where where)
{
	struct task *t = &s->tasks[s->nr_tasks];

	*t = (struct task){ .tid = tid, .cpu = cpu, .where = where, .prio = 120 };
	t->limited = !dice(s, 3);
	snprintf(t->comm, sizeof(t->comm), "task %u", s->nr_tasks++);
	s->nr_alive++;
}

/* Return the tid of a task that died, to reuse it, or a new one. */
static inline int new_tid(struct sim *s)
{
	for (unsigned int i = 0; i < s->nr_tasks; i++) {
		int tid = s->tasks[i].tid;
		bool alive = false;

		if (s->tasks[i].where != DEAD || s->tasks[i].stamp >= s->now || dice(s, 2))
			continue;
		for (unsigned int k = i + 1; k < s->nr_tasks; k++)
			alive |= s->tasks[k].tid == tid;
		if (!alive)
			return tid;
	}
	return 100 + (int)s->nr_tasks;
}

static inline void fork_task(struct sim *s, int cpu)
{
	int task = (int)s->nr_tasks;

	if (task == SIM_TASKS)
		return;
	add_task(s, new_tid(s), some_cpu(s), NEW);
	s->tasks[task].busy = true;
	emit(s, cpu, FORK, task);
	plan(s, cpu, TODO_WAKEUP_NEW, task);
}

/* Wake a task that has not slept yet, or was preempted before it could: it just continues. */
static inline void wake_in_vain(struct sim *s, int cpu)
{
	int task = pick(s, dice(s, 2) ? ON_CPU : QUEUED, -1);

	if (task < 0 || !strcmp(s->segments[s->tasks[task].open].what, "waking") ||
	    s->cpus[s->tasks[task].cpu].todo != TODO_NONE)
		return;
	for (enum event_kind kind = WAKING; kind <= WAKEUP; kind++) {
		struct event *e = emit(s, cpu, kind, task);

		e->to = s->tasks[task].cpu;
		e->awake = e->in_vain = true;
		s->tasks[task].woken_ns = s->now;
		a_bit_later(s);
	}
}

/*
 * Wake a task on one CPU while it leaves another one: its sched_waking precedes its switch-out, but
 * only by a short time, as the waker spins until then.
 */
static inline void wake_leaving(struct sim *s, int cpu)
{
	int task = pick(s, ON_CPU, -1), at = task < 0 ? cpu : s->tasks[task].cpu;

	/* before a CPU's first switch, no event shows that its task is awake */
	if (at == cpu || s->cpus[at].todo != TODO_NONE || s->cpus[at].last_ns >= s->now ||
	    !s->cpus[at].switched)
		return;
	wake(s, cpu, task);
	s->now += dice(s, 2) * dice(s, 5000);
	do_switch(s, at, pick(s, QUEUED, at), 1 + dice(s, 2));
}

static inline void do_todo(struct sim *s, int cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	enum todo todo = c->todo;
	int task = c->todo_task;

	if (s->tasks[task].stamp >= s->now)
		return;
	c->todo = TODO_NONE;
	if (todo == TODO_PLACE)
		place(s, cpu, task);
	else if (todo == TODO_LEAVE)
		do_switch(s, cpu, pick(s, QUEUED, cpu), c->todo_state);
	else
		wakeup(s, cpu, task, todo == TODO_WAKEUP ? WAKEUP : WAKEUP_NEW);
}

static inline void run_program(struct sim *s, int cpu, int task)
{
	struct task *t = &s->tasks[task];

	snprintf(t->comm, sizeof(t->comm), "prog %u", dice(s, 100));
	emit(s, cpu, EXEC, task);
}

static inline void end_task(struct sim *s, int cpu, int task)
{
	/* keep some tasks alive, or nothing would happen any more */
	if (s->nr_alive < 2 * s->nr_cpus + 2)
		return;
	s->nr_alive--;
	emit(s, cpu, EXIT, task);
	plan(s, cpu, TODO_LEAVE, task);
	s->cpus[cpu].todo_state = dice(s, 2) ? 0x10 : 0x20;
}

static inline void throttle(struct sim *s, int cpu, int task)
{
	if (!s->tasks[task].limited)
		return;
	emit(s, cpu, THROTTLE, task);
	s->cpus[cpu].throttled = s->queues_throttle;
	for (int i = 0; s->queues_throttle && i < (int)s->nr_tasks; i++)
		if (s->tasks[i].limited && s->tasks[i].where == QUEUED && s->tasks[i].cpu == cpu &&
		    is_free(s, i))
			throttle_waiting(s, cpu, i, THROTTLE);
	a_bit_later(s);
	s->tasks[task].waited = "preempted";
	s->throttles = task;
	do_switch(s, cpu, pick(s, QUEUED, cpu), dice(s, 2) ? 0x100 : 0);
	s->throttles = -1;
}

/* A timer refills the quota of some CPU's tasks. */
static inline void unthrottle(struct sim *s, int cpu)
{
	int of = some_cpu(s);

	s->cpus[of].throttled = false;
	for (int i = 0; i < (int)s->nr_tasks; i++) {
		if (s->tasks[i].where != THROTTLED || s->tasks[i].cpu != of ||
		    (!s->queues_throttle && dice(s, 2)))
			continue;
		a_bit_later(s);
		emit(s, cpu, UNTHROTTLE, i);
		enter(s, i, s->tasks[i].waited);
		s->tasks[i].where = QUEUED;
	}
}

/* Do something that only a running task does. */
static inline void run_on(struct sim *s, int cpu, int task, uint32_t what)
{
	int next = pick(s, QUEUED, cpu);

	if (!is_free(s, task))
		return;
	if (what < 40)
		do_switch(s, cpu, next, some_sleep(s));
	else if (what < 75 && next >= 0)
		do_switch(s, cpu, next, dice(s, 3) ? 0x100 : 0);
	else if (what < 80)
		throttle(s, cpu, task);
	else if (what < 87)
		fork_task(s, cpu);
	else if (what < 92)
		end_task(s, cpu, task);
	else
		run_program(s, cpu, task);
}

static inline void step_cpu(struct sim *s, int cpu)
{
	int current = s->cpus[cpu].current, task;
	uint32_t what = dice(s, 100);

	if (s->cpus[cpu].todo != TODO_NONE) {
		do_todo(s, cpu);
	} else if (what < 25) {
		task = pick(s, ASLEEP, -1);
		if (task >= 0)
			wake(s, cpu, task);
	} else if (what < 32) {
		pull(s, cpu);
	} else if (what < 37) {
		wake_leaving(s, cpu);
	} else if (what < 42) {
		wake_in_vain(s, cpu);
	} else if (what < 47) {
		unthrottle(s, cpu);
	} else if (current >= 0) {
		run_on(s, cpu, current, dice(s, 100));
	} else {
		task = pick(s, QUEUED, cpu);
		if (task >= 0)
			do_switch(s, cpu, task, 0);
	}
}

/* ---- CPU hotplug ---- */

/* Let a kernel thread of @cpu run at once. */
static inline void run_thread(struct sim *s, int waker_cpu, int cpu, int task)
{
	a_bit_later(s);
	wake(s, waker_cpu, task);
	s->cpus[waker_cpu].todo = TODO_NONE;
	a_bit_later(s);
	wakeup(s, dice(s, 2) ? cpu : waker_cpu, task, WAKEUP);
	a_bit_later(s);
	do_switch(s, cpu, task, 0x100);
	a_bit_later(s);
}

static inline void tell_hotplug(struct sim *s, int by_cpu, int cpu)
{
	emit(s, by_cpu, HOTPLUG, -1)->to = cpu;
	a_bit_later(s);
}

static inline void take_down(struct sim *s, int cpu)
{
	int stopper = s->first_stopper + cpu, by = some_cpu(s);
	struct sim_cpu *c = &s->cpus[cpu];

	if (by == cpu || c->todo != TODO_NONE || s->cpus[by].todo != TODO_NONE)
		return;
	if (dice(s, 2)) {
		run_thread(s, by, cpu, s->first_hotplug + cpu);
		tell_hotplug(s, cpu, cpu);
		do_switch(s, cpu, -1, 1);
	}
	run_thread(s, dice(s, 2) ? by : cpu, cpu, stopper);
	if (!dice(s, 4)) { /* the stopper does something else */
		do_switch(s, cpu, pick(s, QUEUED, cpu), 1);
		return;
	}
	s->tasks[stopper].asleep = s->tasks[stopper].open;
	s->segments[s->tasks[stopper].open].what = "gone";
	c->down_ns = s->segments[s->tasks[stopper].open].from_ns;
	c->offline = true;
	for (int i = 0; i < (int)s->nr_tasks; i++) {
		if (s->tasks[i].cpu != cpu)
			continue;
		s->tasks[i].delayed = false;
		if (s->tasks[i].where != QUEUED)
			continue;
		migrate(s, cpu, i, some_cpu(s));
		a_bit_later(s);
	}
	c->current = -1;
	s->tasks[stopper].where = ASLEEP;
	s->tasks[stopper].gone = true;
	tell_hotplug(s, by, cpu);
}

static inline void bring_up(struct sim *s, int cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	int by = some_cpu(s);

	if (s->cpus[by].todo != TODO_NONE)
		return;
	c->offline = false;
	/* its waking may be traced on another CPU, or on the one that came back */
	if (dice(s, 2))
		run_thread(s, by, cpu, s->first_hotplug + cpu);
	else
		run_thread(s, cpu, cpu, s->first_stopper + cpu);
	c->offline_ns += s->segments[s->tasks[c->current].open].from_ns - c->down_ns;
	do_switch(s, cpu, -1, 1);
	a_bit_later(s);
	tell_hotplug(s, by, cpu);
}

/* Return: true if the CPU went offline or came back, or is offline. */
static inline bool step_hotplug(struct sim *s, int cpu)
{
	if (s->cpus[cpu].offline && !dice(s, 12))
		bring_up(s, cpu);
	else if (s->has_hotplug && !s->cpus[cpu].offline && !dice(s, 40))
		take_down(s, cpu);
	else
		return s->cpus[cpu].offline;
	return true;
}

/* Choose a CPU and a time: a little later, or now if the CPU did nothing yet at this time. */
static inline int some_time(struct sim *s)
{
	int cpu = (int)dice(s, s->nr_cpus);

	if (dice(s, 4))
		s->now += 1 + dice(s, dice(s, 8) ? 2000 : 300000);
	if (s->cpus[cpu].last_ns >= s->now)
		s->now = s->cpus[cpu].last_ns + 1;
	return cpu;
}

/*
 * On each CPU a pinned task takes over, and then another one runs on, so that damage can be
 * detected: an event missing at the very end would leave no trace.
 */
static inline void finish(struct sim *s)
{
	unsigned int before, busy;

	do {
		busy = 0;
		for (int cpu = 0; cpu < (int)s->nr_cpus; cpu++) {
			s->now += 1000;
			busy += s->cpus[cpu].todo != TODO_NONE;
			if (s->cpus[cpu].todo != TODO_NONE)
				do_todo(s, cpu);
		}
	} while (busy);
	before = s->nr_events;
	for (int cpu = 0; cpu < (int)s->nr_cpus; cpu++) {
		int last = cpu; /* the first tasks are the pinned ones */

		if (s->cpus[cpu].offline)
			continue;
		s->now += 1000;
		wake(s, cpu, last);
		s->now += 100;
		s->cpus[cpu].todo = TODO_NONE;
		wakeup(s, cpu, last, WAKEUP);
		s->now += 100;
		do_switch(s, cpu, last, 0x100);
		s->now += 100;
		do_switch(s, cpu, pick(s, QUEUED, cpu), 1);
	}
	s->nr_protected = s->nr_events - before;
}

/* Add one task per CPU that sleeps there and takes no part in what other tasks do. */
static inline int add_pinned(struct sim *s, const char *name, int first_tid)
{
	int first = (int)s->nr_tasks;

	for (int cpu = 0; cpu < (int)s->nr_cpus; cpu++) {
		struct task *t = &s->tasks[s->nr_tasks];

		add_task(s, first_tid + cpu, cpu, ASLEEP);
		if (name)
			snprintf(t->comm, sizeof(t->comm), "%s/%d", name, cpu);
		t->pinned = true;
		t->limited = false;
		enter(s, first + cpu, "sleep");
		t->asleep = t->open;
	}
	return first;
}

static inline void begin(struct sim *s, uint64_t seed)
{
	*s = (struct sim){ .rng = (seed + 1) * 0x9e3779b97f4a7c15ull,
			   .now = SIM_START,
			   .nr_segments = 1 /* index 0 is none */ };
	for (int i = 0; i < 10; i++)
		dice(s, 2);
	s->nr_cpus = 1 + dice(s, SIM_CPUS);
	s->segments = grow(s->segments, s->nr_segments, &s->cap_segments, sizeof(*s->segments));
	for (int cpu = 0; cpu < (int)s->nr_cpus; cpu++)
		s->cpus[cpu].current = -1;
	add_pinned(s, NULL, 10);
	s->has_hotplug = s->nr_cpus > 1 && dice(s, 2);
	s->queues_throttle = dice(s, 2);
	s->throttles = -1;
	s->first_stopper = add_pinned(s, "migration", 30);
	s->first_hotplug = add_pinned(s, "cpuhp", 50);
	s->nr_alive = s->nr_cpus; /* this many tasks are enough to go on */
	for (int n = (int)(2 + dice(s, 4 * s->nr_cpus)); n > 0; n--) {
		int cpu = (int)dice(s, s->nr_cpus), task = (int)s->nr_tasks;
		bool runs = s->cpus[cpu].current < 0 && dice(s, 2);

		add_task(s, 100 + task, cpu, runs ? ON_CPU : ASLEEP);
		if (runs)
			s->cpus[cpu].current = task;
		enter(s, task, runs ? "run" : after(some_sleep(s)));
		s->tasks[task].asleep = s->tasks[task].open;
	}
}

static inline void simulate(struct sim *s, uint64_t seed, unsigned int nr_events)
{
	begin(s, seed);
	while (s->nr_events < nr_events) {
		int cpu = some_time(s);

		if (!step_hotplug(s, cpu))
			step_cpu(s, cpu);
	}
	finish(s);
}

#endif
