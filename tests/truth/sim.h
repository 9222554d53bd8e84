/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A scheduler with dice: CPUs that run tasks, and all that happens to tasks, as events in the
 * order in which a kernel emits them, and beside them what every task really did all along.
 *
 * Of each wakeup: sched_waking on the waker's CPU, then sched_migrate_task there if the task is
 * placed elsewhere, then sched_wakeup there or on the task's new CPU; only then it can be switched
 * in. A sleeper may stay in its run queue for a while (delayed dequeue, v6.12 on): then it can be
 * moved as it sleeps, and its wakeup places it nowhere else.
 *
 * A CPU may be taken out of use: its migration thread comes, pushes away what waits there, and
 * nothing is heard of that CPU until it comes back with that thread or with its hotplug thread.
 *
 * Some tasks have a quota: one that is used up takes them off their CPU until it is given anew. In
 * half of the simulations it is run queues that are throttled (before v6.18): with all such tasks
 * in it, and those that are woken into it.
 *
 * Time stamps grow on each CPU; those of two CPUs may be equal where neither follows from the
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
	LOST, /* events of this CPU from .first_ns to .ts_ns */
	MISSED, /* the same, but only the next page says so */
	PICK, /* before a SWITCH, of which it is made (picks.h) */
	/* causes.h: */
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
	int current; /* task, -1: idle; of SWITCH: who leaves */
	int task; /* task it is about, -1: idle; of SWITCH: who comes */
	int tid, current_tid;
	char comm[16], current_comm[16];
	int prio, current_prio;
	bool is_scx; /* the task */
	int to; /* WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, HOTPLUG, RESCHED: CPU */
	int from; /* MIGRATE: CPU */
	uint32_t state; /* SWITCH: prev_state; CPU_IDLE: the idle state; RESCHED: the flag */
	uint32_t queued_ns, delay_ns; /* SWITCH: next_queued_ns, next_delay_ns */
	bool delayed; /* SWITCH: who leaves stays in its run queue, asleep */
	uint64_t dsq; /* SCX_*: where the task is put */
	bool held; /* .. in none */
	bool awake; /* WAKING, WAKEUP of a task that does not sleep (yet) */
	bool in_vain; /* and will not */
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
	/* the CPUs that it may use, bits, as the recording's lists say; 0: they do not */
	unsigned int listed;
	bool pinned; /* to its CPU; it only runs when the simulation ends */
	bool limited; /* has a quota */
	const char *waited; /* throttled: as what before */
	bool delayed; /* asleep, and still in its run queue */
	/* as in the kernel's struct sched_info: queued since then, or 0; for so long before */
	uint64_t queued_ns;
	uint32_t delay_ns;
	bool gone; /* a migration thread that took its CPU down: no event shows that it left */
	bool busy; /* something is under way with it on some CPU */
	uint64_t stamp; /* of the last thing that happened to it */
	uint64_t woken_ns; /* of the last waking while it was awake */
	uint64_t born_ns, died_ns;
	unsigned int open, asleep; /* segments: the present one, the last sleep */
	unsigned int migrations;
	int waker; /* tid of the last one; 0: an idle CPU's interrupt */
	int waker_cpu;
};

#define SIM_NOT_QUEUED UINT32_MAX /* next_queued_ns of a task without a time of queueing */

/* What a task did from .from_ns to .to_ns. */
struct segment {
	int task;
	const char *what;
	uint64_t from_ns, to_ns;
	uint64_t wakeup_ns; /* of a wait, and of the sleep before: its sched_wakeup; 0: none */
	int cpu;
	uint32_t state; /* of "run": prev_state */
	int waker; /* of a wait */
	int waker_cpu, wakeup_cpu; /* that did its sched_waking, and its sched_wakeup; -1: none */
	bool unseen; /* a wait that only who has not seen what was before takes for certain */
	/* woken just before it left: only later events show whether the wakeup was in vain */
	bool doubt;
};

/* A waking so long before a switch-out may be one of a leaving task. */
#define SIM_LEAVING_NS 10000u

/* What a CPU has begun and must do next. */
enum todo { TODO_NONE, TODO_PLACE, TODO_WAKEUP, TODO_WAKEUP_NEW, TODO_LEAVE };

struct sim_cpu {
	int current;
	bool switched; /* at least once */
	uint64_t last_ns;
	enum todo todo;
	int todo_task;
	uint32_t todo_state;
	bool throttled; /* its queue's tasks that have a quota */
	bool offline;
	uint64_t down_ns; /* since when */
	uint64_t offline_ns; /* before that */
};

struct sim {
	uint64_t rng, now;
	unsigned int nr_cpus, nr_tasks, nr_events, nr_segments, cap_events, cap_segments;
	unsigned int nr_alive;
	unsigned int nr_protected; /* so many events at the end are never damaged */
	int first_stopper, first_hotplug; /* a task for each CPU */
	bool has_hotplug;
	bool queues_throttle; /* else tasks */
	int throttles; /* the task that leaves its CPU; -1 */
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

/* The later half of a step in which one CPU does several things. */
static inline void a_bit_later(struct sim *s)
{
	s->now += 1 + dice(s, 400);
}

static inline bool is_free(const struct sim *s, int task)
{
	const struct task *t = &s->tasks[task];

	return !t->pinned && !t->busy && t->stamp < s->now;
}

/* A task that is @where, on @cpu if that is not -1, and can be dealt with. Return: -1: none. */
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

/* Like the kernel's sched_info_enqueue(). */
static inline void note_queued(const struct sim *s, struct task *t)
{
	if (!t->queued_ns)
		t->queued_ns = s->now;
}

/* Like the kernel's sched_info_dequeue(). */
static inline void note_dequeued(const struct sim *s, struct task *t)
{
	t->delay_ns += t->queued_ns ? (uint32_t)(s->now - t->queued_ns) : 0;
	t->queued_ns = 0;
}

/* What a task does that leaves with this prev_state (events/sched.h has the bits). */
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
	if (t->where != ASLEEP) {
		note_queued(s, t);
		return;
	}
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
	if (c->current >= 0) {
		leave(s, c->current, state);
		e->delayed = s->tasks[c->current].delayed;
	}
	c->current = next;
	e->queued_ns = SIM_NOT_QUEUED;
	if (next < 0)
		return;
	if (s->tasks[next].queued_ns)
		e->queued_ns = (uint32_t)(s->now - s->tasks[next].queued_ns);
	e->delay_ns = s->tasks[next].delay_ns;
	note_dequeued(s, &s->tasks[next]);
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

/* sched_waking of a task that sleeps, or is about to. */
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

/* One that is in use. */
static inline int some_cpu(struct sim *s)
{
	int cpu;

	do {
		cpu = (int)dice(s, s->nr_cpus);
	} while (s->cpus[cpu].offline);
	return cpu;
}

/* One that waits, and from now on may not run. */
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
	note_queued(s, t);
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
	/* also as it sleeps, if its dequeue is delayed: it counts as queued from then on */
	if (t->queued_ns || t->delayed) {
		note_dequeued(s, t);
		note_queued(s, t);
	}
}

static inline void pull(struct sim *s, int cpu)
{
	int task = pick(s, dice(s, 3) ? QUEUED : ASLEEP, -1);

	if (task < 0 || s->tasks[task].cpu == cpu)
		return;
	if (s->tasks[task].where == ASLEEP && !s->tasks[task].delayed)
		return;
	migrate(s, cpu, task, cpu);
	/* or its waking was missed: the next one shows it */
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

/* One that died, if there is one: its tid is given out again. */
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

/* A waking of a task that did not sleep yet, or was preempted before it could: it goes on. */
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
 * A task is woken on one CPU while it leaves another: its waking comes before its switch-out, but
 * not long before: the waker spins until then.
 */
static inline void wake_leaving(struct sim *s, int cpu)
{
	int task = pick(s, ON_CPU, -1), at = task < 0 ? cpu : s->tasks[task].cpu;

	/* before a CPU's first switch no event shows that its task is awake */
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
	/* some stay, or nothing would happen any more */
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

/* A timer gives some CPU's tasks their quota anew. */
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

/* What only a running task does. */
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

/* ---- CPUs come and go ---- */

/* A kernel thread of @cpu runs at once. */
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
	if (!dice(s, 4)) { /* it does something else */
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
	/* what woke it may have been traced on another CPU, or on the one that is there again */
	if (dice(s, 2))
		run_thread(s, by, cpu, s->first_hotplug + cpu);
	else
		run_thread(s, cpu, cpu, s->first_stopper + cpu);
	c->offline_ns += s->segments[s->tasks[c->current].open].from_ns - c->down_ns;
	do_switch(s, cpu, -1, 1);
	a_bit_later(s);
	tell_hotplug(s, by, cpu);
}

/* Return: whether something came or went. */
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

/* On some CPU, a little later, or now if nothing happened there yet. */
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
 * Ends the schedule so that damage shows: on each CPU a task of its own takes over, then another
 * one runs on. A report cannot detect that the very last event is missing.
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
		int last = cpu; /* the first tasks are these */

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

/* A task for each CPU that sleeps there, and does what other tasks do at no time. */
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
			   .nr_segments = 1 /* 0 is none */ };
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
	s->nr_alive = s->nr_cpus; /* only so many of these are needed to go on */
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
