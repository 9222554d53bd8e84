// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/balance.h"

#define NR_CPUS 3
#define NR_TASKS 5 /* 0 is idle */
#define MAX_STEPS 20
#define MAX_FOUND 4
#define END 1000

/*
 * Reports of a timeline, written by hand: the window is [0, END), and all is unknown at first.
 *
 * { RUN, ts, cpu, task, what becomes of the task before }
 * { WAKE, ts, task, cpu whose queue it is in }
 * { MOVE, ts, task, to, why }
 * { BORN, ts, task, cpu whose queue it is in }
 * { LATE, ts, task }	not reported: its sleep becomes a wait for its CPU
 * { BREAK, ts, cpu }	not reported: its last interval becomes unknown
 * { BEFORE, 0, cpu, task that runs when the window begins, task that waits }
 * { HOLE, ts, cpu }	what runs there is unknown from here on, and all tasks that run nowhere
 */
enum step_kind { NONE, RUN, WAKE, BORN, LATE, BREAK, BEFORE, MOVE, HOLE };

struct step {
	enum step_kind kind;
	uint64_t ts_ns;
	int a, b, c;
};

struct tap_timeline {
	struct tap_cpu cpus[NR_CPUS];
	struct tap_task tasks[NR_TASKS], *list[NR_TASKS];
	bool certain[NR_TASKS]; /* the start of its state is known */
};

const struct tap_cpu *tap_timeline_cpus(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = NR_CPUS;
	return t->cpus;
}

struct tap_task *const *tap_timeline_tasks(const struct tap_timeline *t, unsigned int *nr)
{
	*nr = NR_TASKS;
	return t->list;
}

/* Nothing is listed: a task may run where it has been. */
const struct tap_cpus *tap_timeline_affinity(const struct tap_timeline *t,
					     const struct tap_task *task, bool *all)
{
	(void)t;
	(void)task;
	*all = false;
	return NULL;
}

struct tap_window tap_timeline_window(const struct tap_timeline *t)
{
	(void)t;
	return (struct tap_window){ 0, END };
}

static void leave(struct tap_balance *b, struct tap_timeline *t, int tid, enum tap_state next,
		  uint64_t ts_ns, int next_cpu)
{
	struct tap_task *task = &t->tasks[tid];
	bool whole = t->certain[tid] && next != TAP_STATE_UNKNOWN && ts_ns != END;
	const struct tap_interval s = {
		.task = task,
		.state = task->state,
		.next = next,
		.whole = whole,
		.from_ns = task->since_ns,
		.to_ns = ts_ns,
		.cpu = task->cpu,
		.next_cpu = next_cpu,
	};

	assert_int_equal(tap_balance_ops.interval(b, t, &s), 0);
	task->state = next;
	task->since_ns = ts_ns;
	t->certain[tid] = next != TAP_STATE_UNKNOWN;
}

static void leave_cpu(struct tap_balance *b, struct tap_timeline *t, int cpu, uint64_t ts_ns)
{
	struct tap_cpu *c = &t->cpus[cpu];
	const struct tap_cpu_interval s = {
		.cpu = cpu,
		.from_ns = c->since_ns,
		.to_ns = ts_ns,
		.task = c->task,
		.what = !c->known ? TAP_CPU_UNKNOWN
			: c->task ? TAP_CPU_RUN
				  : TAP_CPU_IDLE,
	};

	assert_int_equal(tap_balance_ops.cpu(b, t, &s), 0);
	c->since_ns = ts_ns;
}

static void run(struct tap_balance *b, struct tap_timeline *t, const struct step *s)
{
	struct tap_cpu *c = &t->cpus[s->a];
	struct tap_task *task = s->b ? &t->tasks[s->b] : NULL;

	c->seen = true;
	leave_cpu(b, t, s->a, s->ts_ns);
	if (c->task)
		leave(b, t, c->task->tid, (enum tap_state)s->c, s->ts_ns, -1);
	c->known = true;
	c->task = task;
	if (!task)
		return;
	task->cpu = s->a; /* where it waits at last, also if no event said so */
	leave(b, t, s->b, TAP_STATE_RUNNING, s->ts_ns, s->a);
}

static void wake(struct tap_balance *b, struct tap_timeline *t, const struct step *s)
{
	const struct tap_wakeup w = {
		.task = &t->tasks[s->a],
		.target_cpu = s->b,
		.ts_ns = s->ts_ns,
	};

	assert_int_equal(tap_balance_ops.wakeup(b, t, &w), 0);
	leave(b, t, s->a, TAP_STATE_WAKING, s->ts_ns, -1);
	t->tasks[s->a].cpu = s->b;
}

static void born(struct tap_balance *b, struct tap_timeline *t, const struct step *s)
{
	struct tap_task *task = &t->tasks[s->a];
	const struct tap_wakeup w = {
		.task = task,
		.target_cpu = s->b,
		.ts_ns = s->ts_ns,
		.is_new = true,
	};

	assert_int_equal(tap_balance_ops.wakeup(b, t, &w), 0);
	task->state = TAP_STATE_WAKING;
	task->cpu = s->b;
	task->since_ns = s->ts_ns;
	t->certain[s->a] = true;
}

static void move(struct tap_balance *b, struct tap_timeline *t, const struct step *s)
{
	const struct tap_migration m = {
		.task = &t->tasks[s->a],
		.from = t->tasks[s->a].cpu,
		.to = s->b,
		.why = (enum tap_migration_why)s->c,
		.ts_ns = s->ts_ns,
	};

	assert_int_equal(tap_balance_ops.migration(b, t, &m), 0);
	t->tasks[s->a].cpu = s->b;
}

static void before(struct tap_timeline *t, const struct step *s)
{
	t->cpus[s->a] = (struct tap_cpu){ .seen = true, .known = true, .task = &t->tasks[s->b] };
	t->tasks[s->b].state = TAP_STATE_RUNNING;
	t->tasks[s->c].state = TAP_STATE_PREEMPTED;
	t->certain[s->b] = t->certain[s->c] = true;
	t->tasks[s->b].cpu = t->tasks[s->c].cpu = s->a;
}

static void hole(struct tap_balance *b, struct tap_timeline *t, const struct step *s)
{
	struct tap_cpu *c = &t->cpus[s->a];

	leave_cpu(b, t, s->a, s->ts_ns);
	c->known = false;
	c->task = NULL;
	for (int i = 1; i < NR_TASKS; i++)
		if (t->tasks[i].state != TAP_STATE_RUNNING || t->tasks[i].cpu == s->a)
			leave(b, t, i, TAP_STATE_UNKNOWN, s->ts_ns, -1);
}

static void report_step(struct tap_balance *b, struct tap_timeline *t, const struct step *s)
{
	switch (s->kind) {
	case RUN:
		return run(b, t, s);
	case WAKE:
		return wake(b, t, s);
	case BORN:
		return born(b, t, s);
	case LATE:
		t->tasks[s->a].state = TAP_STATE_WAKING;
		return;
	case BREAK:
		t->cpus[s->a].known = false;
		t->cpus[s->a].task = NULL;
		return;
	case BEFORE:
		return before(t, s);
	case MOVE:
		return move(b, t, s);
	case HOLE:
		return hole(b, t, s);
	case NONE:
		return;
	}
}

struct balance_case {
	const char *name;
	uint64_t min_ns;
	int only_task, no_cpu; /* 0: all tasks, all CPUs */
	struct step steps[MAX_STEPS];
	struct {
		int tid, cpu;
		uint64_t from_ns, to_ns;
		const char *idle;
	} found[MAX_FOUND]; /* the longest first */
	uint64_t exit_ns, wait_ns;
};

#define SLEEP TAP_STATE_SLEEPING
#define WAIT TAP_STATE_PREEMPTED

/* CPUs 0 and 1 are known from 10 on, where tasks 1 and 2 run; task 3 has run on both. */
/* clang-format off */
#define BOTH_USED                                                                                  \
	{ RUN, 10, 0, 3 }, { RUN, 20, 0, 0, SLEEP }, { RUN, 30, 1, 3 }, { RUN, 40, 1, 0, SLEEP }
/* clang-format on */

static const struct balance_case cases[] = {
	{
		.name = "a task waits and a CPU where it ran is idle",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { WAKE, 100, 3, 0 },
			   { RUN, 150, 0, 3, SLEEP } },
		.found = { { 3, 0, 100, 150, "1" } },
		.wait_ns = 50,
	},
	{
		.name = "no violation where the task never ran",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { WAKE, 100, 4, 0 },
			   { RUN, 150, 0, 4, SLEEP } },
		.wait_ns = 50,
	},
	{
		.name = "waiting for its own idle CPU is none",
		.steps = { BOTH_USED, { WAKE, 100, 3, 0 }, { RUN, 130, 0, 3 } },
		.exit_ns = 30,
		.wait_ns = 30,
	},
	{
		.name = "its own CPU leaves idle for another task",
		.steps = { BOTH_USED,
			   { WAKE, 100, 3, 0 },
			   { RUN, 110, 0, 1 },
			   { RUN, 150, 0, 3, SLEEP } },
		.found = { { 3, 0, 110, 150, "1" } },
		.exit_ns = 10,
		.wait_ns = 50,
	},
	{
		.name = "a preempted task waits as well, from when the CPU became idle",
		.steps = { BOTH_USED,
			   { RUN, 50, 1, 2 },
			   { WAKE, 55, 3, 0 },
			   { RUN, 60, 0, 3 },
			   { WAKE, 65, 1, 0 },
			   { RUN, 70, 0, 1, WAIT },
			   { RUN, 90, 1, 0, SLEEP },
			   { RUN, 120, 1, 2 },
			   { RUN, 130, 0, 3, SLEEP } },
		.found = { { 3, 0, 90, 120, "1" } },
		.exit_ns = 5,
		.wait_ns = 5 + 5 + 60,
	},
	{
		.name = "two intervals of one wait are two, and --min leaves out the shorter one",
		.min_ns = 20,
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { WAKE, 100, 3, 0 },
			   { RUN, 119, 1, 2 },
			   { RUN, 130, 1, 0, SLEEP },
			   { RUN, 150, 0, 3, SLEEP } },
		.found = { { 3, 0, 130, 150, "1" } },
		.wait_ns = 50,
	},
	{
		.name = "a CPU to which another task is on its way is not free",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { WAKE, 100, 3, 0 },
			   { WAKE, 110, 2, 1 },
			   { RUN, 125, 1, 2 },
			   { RUN, 150, 0, 3, SLEEP } },
		.found = { { 3, 0, 100, 110, "1" } },
		.exit_ns = 15,
		.wait_ns = 50 + 15,
	},
	{
		.name = "what precedes the placement of a waking task does not count",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { RUN, 60, 2, 4 },
			   { WAKE, 100, 3, 0 },
			   { MOVE, 103, 3, 2, TAP_MIGRATE_WAKEUP },
			   { RUN, 150, 2, 3, SLEEP } },
		.found = { { 3, 2, 103, 150, "1" } },
		.wait_ns = 50,
	},
	{
		.name = "pulled to the idle CPU: then it waits for that",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { WAKE, 100, 3, 0 },
			   { MOVE, 130, 3, 1, TAP_MIGRATE_BALANCE },
			   { RUN, 134, 1, 3 } },
		.found = { { 3, 0, 100, 130, "1" } },
		.exit_ns = 4,
		.wait_ns = 34,
	},
	{
		.name = "a move to where it may run shows that it may",
		.steps = { { RUN, 10, 1, 0 },
			   { RUN, 20, 0, 1 },
			   { WAKE, 100, 3, 0 },
			   { MOVE, 110, 3, 1, TAP_MIGRATE_BALANCE },
			   { MOVE, 120, 3, 0, TAP_MIGRATE_BALANCE },
			   { RUN, 150, 0, 3, SLEEP } },
		.found = { { 3, 0, 120, 150, "1" } },
		.exit_ns = 10,
		.wait_ns = 50,
	},
	{
		.name = "a move by the stopper may be a change of affinity",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { MOVE, 60, 3, 0, TAP_MIGRATE_OTHER },
			   { WAKE, 100, 3, 0 },
			   { RUN, 150, 0, 3, SLEEP } },
		.wait_ns = 50,
	},
	{
		.name = "a hole takes back what was found in a wait that it touches",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { WAKE, 100, 3, 0 },
			   { HOLE, 120, 2 },
			   { RUN, 150, 0, 3, SLEEP } },
	},
	{
		.name = "an unknown CPU is not idle",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { HOLE, 90, 1 },
			   { WAKE, 100, 3, 0 },
			   { RUN, 150, 0, 3, SLEEP } },
		.wait_ns = 50,
	},
	{
		.name = "a task that waits on an unknown CPU may have an idle one",
		.steps = { BOTH_USED, { HOLE, 90, 0 }, { WAKE, 100, 3, 0 }, { RUN, 150, 0, 3 } },
		.wait_ns = 50,
	},
	{
		.name = "a wait that ends in another queue than it began in does not count",
		.steps = { BOTH_USED, { RUN, 50, 0, 1 }, { WAKE, 100, 3, 0 }, { RUN, 150, 1, 3 } },
	},
	{
		.name = "a wait that the window's end cuts does not count",
		.steps = { BOTH_USED, { RUN, 50, 0, 1 }, { WAKE, 100, 3, 0 } },
	},
	{
		.name = "one wait for several CPUs, each task by itself, the longest first",
		.steps = { BOTH_USED,
			   { RUN, 50, 2, 3 },
			   { RUN, 60, 2, 1, SLEEP },
			   { RUN, 70, 0, 1, SLEEP },
			   { RUN, 75, 1, 2 },
			   { RUN, 80, 1, 0, SLEEP },
			   { WAKE, 90, 2, 0 },
			   { WAKE, 100, 3, 0 },
			   { RUN, 110, 2, 0, SLEEP },
			   { RUN, 150, 0, 3, SLEEP },
			   { RUN, 170, 0, 2, SLEEP } },
		.found = { { 2, 0, 90, 170, "1" }, { 3, 0, 100, 150, "1-2" } },
		.wait_ns = 50 + 80,
	},
	{
		.name = "a new task waits from its first wakeup on",
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { MOVE, 99, 4, 1, TAP_MIGRATE_WAKEUP },
			   { BORN, 100, 4, 0 },
			   { RUN, 150, 0, 4, SLEEP } },
		.found = { { 4, 0, 100, 150, "1" } },
		.wait_ns = 50,
	},
	{
		.name = "tasks that are not picked have none",
		.only_task = 2,
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { WAKE, 100, 3, 0 },
			   { RUN, 150, 0, 3, SLEEP } },
	},
	{
		.name = "a CPU that is not picked is not there",
		.no_cpu = 1,
		.steps = { BOTH_USED,
			   { RUN, 50, 0, 1 },
			   { WAKE, 100, 3, 0 },
			   { RUN, 150, 0, 3, SLEEP } },
		.wait_ns = 50,
	},
};

struct length_case {
	const char *name;
	struct step steps[MAX_STEPS];
	struct length {
		uint64_t known_ns, sum, max; /* sum: length times ns */
	} cpus[NR_CPUS], imbalance;
};

static const struct length_case length_cases[] = {
	{
		.name = "a length is what runs and what waits, and holds from change to change",
		.steps = { { RUN, 10, 0, 0 },
			   { WAKE, 100, 1, 0 },
			   { RUN, 110, 0, 1 },
			   { WAKE, 200, 2, 0 },
			   { RUN, 300, 0, 2, WAIT },
			   { RUN, 400, 0, 1, SLEEP },
			   { RUN, 500, 0, 0, SLEEP } },
		.cpus = { { 990, 600, 2 } },
	},
	{
		.name = "who seems to wait for a CPU that becomes idle does not",
		.steps = { { RUN, 10, 0, 0 },
			   { WAKE, 100, 1, 0 },
			   { RUN, 110, 0, 2 },
			   { RUN, 200, 0, 0, SLEEP } },
		.cpus = { { 800, 0, 0 } },
	},
	{
		.name = "the imbalance is between two CPUs at least, and follows a move",
		.steps = { { RUN, 10, 0, 0 },
			   { RUN, 20, 1, 0 },
			   { WAKE, 100, 1, 0 },
			   { RUN, 110, 0, 1 },
			   { WAKE, 200, 2, 0 },
			   { MOVE, 250, 2, 1, TAP_MIGRATE_BALANCE },
			   { RUN, 260, 1, 2 },
			   { RUN, 400, 0, 0, SLEEP },
			   { RUN, 500, 1, 0, SLEEP } },
		.cpus = { { 990, 350, 2 }, { 980, 250, 1 } },
		.imbalance = { 980, 300, 2 },
	},
	{
		.name = "a task whose state was unknown waited for an unknown time",
		.steps = { { RUN, 10, 0, 1 },
			   { RUN, 100, 0, 2, SLEEP },
			   { RUN, 200, 0, 0, SLEEP } },
		.cpus = { { 900, 100, 1 } },
	},
	{
		.name = "but not since before its CPU was idle",
		.steps = { { RUN, 10, 0, 0 },
			   { RUN, 300, 0, 2 },
			   { RUN, 400, 0, 0, SLEEP },
			   { WAKE, 500, 2, 0 },
			   { RUN, 510, 0, 2 },
			   { RUN, 600, 0, 3, SLEEP },
			   { RUN, 700, 0, 0, SLEEP } },
		.cpus = { { 500, 200, 1 } },
	},
	{
		.name = "an unknown CPU has no length",
		.steps = { { RUN, 10, 0, 0 }, { HOLE, 100, 0 }, { RUN, 300, 0, 0 } },
		.cpus = { { 790, 0, 0 } },
	},
	{
		.name = "a wait counts up to the hole that touches it",
		.steps = { { RUN, 30, 0, 0 },
			   { WAKE, 100, 1, 0 },
			   { RUN, 110, 0, 1 },
			   { WAKE, 200, 2, 0 },
			   { HOLE, 300, 2 },
			   { RUN, 400, 0, 0, SLEEP } },
		.cpus = { { 970, 400, 2 } },
	},
	{
		.name = "after a hole a waiting task counts as one whose state was unknown",
		.steps = { { RUN, 30, 0, 0 },
			   { WAKE, 100, 1, 0 },
			   { RUN, 110, 0, 1 },
			   { WAKE, 200, 2, 0 },
			   { HOLE, 300, 2 },
			   { RUN, 400, 0, 2, SLEEP },
			   { RUN, 500, 0, 0, SLEEP } },
		.cpus = { { 870, 400, 2 } },
	},
	{
		.name = "nor the imbalance since before that CPU was idle",
		.steps = { { RUN, 10, 0, 1 },
			   { RUN, 20, 1, 0 },
			   { RUN, 100, 1, 2 },
			   { RUN, 200, 1, 0, SLEEP },
			   { RUN, 300, 1, 3 },
			   { RUN, 400, 1, 0, SLEEP } },
		.cpus = { { 990, 990, 1 }, { 800, 200, 1 } },
		.imbalance = { 800, 600, 1 },
	},
	{
		.name = "an imbalance that goes on when all have been idle counts once",
		.steps = { { RUN, 10, 0, 0 },
			   { RUN, 10, 1, 0 },
			   { RUN, 10, 2, 0 },
			   { WAKE, 100, 1, 1 },
			   { WAKE, 100, 2, 1 },
			   { WAKE, 100, 3, 2 },
			   { RUN, 110, 1, 1 },
			   { RUN, 110, 2, 3 },
			   { RUN, 200, 2, 0, SLEEP },
			   { WAKE, 250, 4, 0 },
			   { RUN, 260, 0, 4 },
			   { RUN, 300, 0, 0, SLEEP },
			   { RUN, 400, 1, 2, SLEEP },
			   { RUN, 500, 1, 0, SLEEP } },
		.cpus = { { 990, 50, 1 }, { 990, 700, 2 }, { 990, 100, 1 } },
		.imbalance = { 990, 700, 2 },
	},
	{
		.name = "what waits when the window begins is in the queue",
		.steps = { { BEFORE, 0, 0, 1, 2 },
			   { RUN, 100, 0, 2, SLEEP },
			   { RUN, 200, 0, 0, SLEEP } },
		.cpus = { { 1000, 300, 2 } },
	},
	{
		.name = "what waits when the window ends was in the queue",
		.steps = { { RUN, 10, 0, 0 }, { RUN, 100, 0, 1 }, { WAKE, 500, 2, 0 } },
		.cpus = { { 900, 1400, 2 } },
	},
	{
		.name = "a wait of which only the end is reported",
		.steps = { { RUN, 10, 0, 1 },
			   { RUN, 100, 0, 0, SLEEP },
			   { RUN, 150, 0, 2 },
			   { LATE, 160, 1 },
			   { RUN, 200, 0, 1, SLEEP },
			   { RUN, 300, 0, 0, SLEEP } },
		.cpus = { { 890, 190, 1 } },
	},
	{
		.name = "a task that runs elsewhere than it waited moved at an unknown time",
		.steps = { { RUN, 10, 0, 0 },
			   { RUN, 20, 1, 0 },
			   { WAKE, 100, 1, 0 },
			   { RUN, 150, 1, 1 } },
		.cpus = { { 990 - 50, 0, 0 }, { 980 - 50, 850, 1 } },
		.imbalance = { 980 - 50, 850, 1 },
	},
	{
		.name = "a CPU's interval that turns out unknown",
		.steps = { { RUN, 10, 0, 0 },
			   { RUN, 50, 1, 0 },
			   { BREAK, 100, 0 },
			   { RUN, 200, 0, 0 } },
		.cpus = { { 800, 0, 0 }, { 950, 0, 0 } },
		.imbalance = { 800, 0, 0 },
	},
	{
		.name = "a task in an unknown state that is moved may have waited where it was",
		.steps = { { RUN, 10, 0, 0 },
			   { RUN, 20, 1, 0 },
			   { RUN, 100, 1, 1 },
			   { MOVE, 200, 2, 0, TAP_MIGRATE_BALANCE },
			   { MOVE, 300, 2, 1, TAP_MIGRATE_BALANCE } },
		.cpus = { { 700, 0, 0 }, { 980 - 80, 900, 1 } },
		.imbalance = { 700, 700, 1 },
	},
	{
		.name = "doubt about one CPU takes back the imbalance since before all were idle",
		.steps = { { RUN, 10, 0, 0 },
			   { RUN, 10, 1, 0 },
			   { WAKE, 100, 1, 0 },
			   { RUN, 110, 0, 1 },
			   { RUN, 200, 0, 0, SLEEP },
			   { WAKE, 300, 1, 1 },
			   { RUN, 310, 1, 1 },
			   { RUN, 400, 1, 0, SLEEP },
			   { RUN, 500, 0, 3 },
			   { RUN, 600, 0, 0, SLEEP } },
		.cpus = { { 190 + 500, 200, 1 }, { 990, 100, 1 } },
		.imbalance = { 190 + 500, 200, 1 },
	},
	{
		.name = "a task that waits on an unknown CPU may be in any queue",
		.steps = { { RUN, 10, 0, 0 },
			   { RUN, 20, 1, 0 },
			   { WAKE, 100, 1, 70000 },
			   { RUN, 150, 1, 1 },
			   { RUN, 200, 1, 0, SLEEP } },
		.cpus = { { 940, 0, 0 }, { 930, 50, 1 } },
		.imbalance = { 930, 50, 1 },
	},
};

static bool pick_cpu(void *ctx, int cpu)
{
	const struct balance_case *c = ctx;

	return !c->no_cpu || cpu != c->no_cpu;
}

/* Report all steps, and the end of the window. */
static void report_all(struct tap_balance *b, struct tap_timeline *t, const struct step *steps,
		       int only_task)
{
	*t = (struct tap_timeline){ 0 };
	for (int i = 0; i < NR_TASKS; i++) {
		t->tasks[i] = (struct tap_task){ .tid = i,
						 .index = (unsigned int)i,
						 .cpu = -1,
						 .selected = !only_task || i == only_task };
		t->list[i] = &t->tasks[i];
	}
	for (unsigned int i = 0; i < MAX_STEPS && steps[i].kind; i++)
		report_step(b, t, &steps[i]);
	for (int i = 0; i < NR_CPUS; i++)
		leave_cpu(b, t, i, END);
	for (int i = 1; i < NR_TASKS; i++)
		leave(b, t, i, t->tasks[i].state, END, -1);
	assert_int_equal(tap_balance_ops.end(b, t), 0);
}

static void check_cpus(const struct tap_cpus *got, const char *list)
{
	struct tap_cpus want = { 0 };

	assert_int_equal(tap_cpus_parse(&want, list), 0);
	for (unsigned int i = 0; i < NR_CPUS; i++)
		assert_int_equal(tap_cpus_has(got, i), tap_cpus_has(&want, i));
	tap_cpus_release(&want);
}

static void run_case(void **state)
{
	const struct balance_case *c = *state;
	struct tap_timeline timeline;
	const struct tap_balance_opts opts = {
		.cpu = pick_cpu,
		.ctx = (void *)c,
		.min_ns = c->min_ns,
		.nr_worst = MAX_FOUND,
	};
	struct tap_balance b;
	uint64_t sum_ns = 0;
	unsigned int i;

	assert_int_equal(tap_balance_init(&b, &opts), 0);
	report_all(&b, &timeline, c->steps, c->only_task);
	for (i = 0; i < MAX_FOUND && c->found[i].tid; i++) {
		assert_in_range(i, 0, (int)b.violations.nr_worst - 1);
		assert_int_equal(b.violations.worst[i].task->tid, c->found[i].tid);
		assert_int_equal(b.violations.worst[i].cpu, c->found[i].cpu);
		assert_int_equal(b.violations.worst[i].from_ns, c->found[i].from_ns);
		assert_int_equal(b.violations.worst[i].to_ns, c->found[i].to_ns);
		check_cpus(&b.violations.worst[i].idle, c->found[i].idle);
		sum_ns += c->found[i].to_ns - c->found[i].from_ns;
	}
	assert_int_equal(b.violations.nr_worst, i);
	assert_int_equal(b.violations.lengths.count, i);
	assert_int_equal((uint64_t)b.violations.lengths.sum, sum_ns);
	assert_int_equal(b.violations.state_ns[TAP_STATE_WAKING] +
				 b.violations.state_ns[TAP_STATE_PREEMPTED],
			 sum_ns);
	assert_int_equal(b.violations.exit_ns, c->exit_ns);
	assert_int_equal(b.violations.wait_ns, c->wait_ns);
	tap_balance_release(&b);
}

static void check_length(const struct tap_hist *got, const struct length *want)
{
	assert_int_equal(got->count, want->known_ns);
	assert_int_equal((uint64_t)got->sum, want->sum);
	assert_int_equal(got->max, want->max);
}

static void run_length_case(void **state)
{
	const struct length_case *c = *state;
	struct tap_timeline timeline;
	const struct tap_balance_opts opts = { 0 };
	struct tap_balance b;

	assert_int_equal(tap_balance_init(&b, &opts), 0);
	report_all(&b, &timeline, c->steps, 0);
	assert_int_equal(b.nr_cpus, NR_CPUS);
	for (int i = 0; i < NR_CPUS; i++)
		check_length(&b.lengths.cpus[i].length, &c->cpus[i]);
	check_length(&b.lengths.imbalance, &c->imbalance);
	tap_balance_release(&b);
}

#define NR_CASES (sizeof(cases) / sizeof(*cases))
#define NR_LENGTHS (sizeof(length_cases) / sizeof(*length_cases))

int main(void)
{
	struct CMUnitTest tests[NR_CASES + NR_LENGTHS];

	for (size_t i = 0; i < NR_CASES; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = (void *)&cases[i] };
	for (size_t i = 0; i < NR_LENGTHS; i++)
		tests[NR_CASES + i] =
			(struct CMUnitTest){ .name = length_cases[i].name,
					     .test_func = run_length_case,
					     .initial_state = (void *)&length_cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
