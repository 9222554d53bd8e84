/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What else is a cause of waits, thrown by dice over a simulation that is over, for nothing of it
 * changes who runs when: tasks' classes, interrupts, idle states, reschedules that are asked for,
 * dispatch queues of sched_ext, and lists of the CPUs that tasks may use. Some simulations have one
 * of them alone, others several, one in the other.
 */
#ifndef TAP_TRUTH_CAUSES_H
#define TAP_TRUTH_CAUSES_H

#include <inttypes.h>

#include "base/buf.h"
#include "sim.h"

#define SCX_NONE (1ull << 63)
#define SCX_LOCAL (1ull << 63 | 2)
#define SCX_LOCAL_OF_CPU (3ull << 62)
#define TIF_HARD 3 /* x86's */
#define TIF_LAZY 4
#define NOT_IDLE UINT32_MAX
#define CPU_AWAY (-2)

enum cause {
	CLASSES = 1,
	IRQS = 2,
	SOFTIRQS = 4,
	IDLE_STATES = 8,
	ASKS = 16,
	LAZY_ASKS = 32,
	SCX = 64,
	ALL_CAUSES = 127
};

struct causes {
	const struct sim *s;
	struct sim dices;
	unsigned int with; /* enum cause, bits */
	struct event *events;
	unsigned int nr, cap;
	uint64_t end_ns; /* causes are added only before this; later events are protected from
			    damage */
	bool scx[SIM_TASKS];
	struct {
		uint64_t dsq;
		bool held;
	} place[SIM_TASKS];
};

static inline struct event *add_cause(struct causes *c, const struct event *e)
{
	c->events = grow(c->events, c->nr, &c->cap, sizeof(*e));
	c->events[c->nr] = *e;
	return &c->events[c->nr++];
}

/* ---- what CPUs did ---- */

static inline const struct event *next_switch(const struct sim *s, const struct event *e, int cpu)
{
	while (e < s->events + s->nr_events && (e->cpu != cpu || e->kind != SWITCH))
		e++;
	return e < s->events + s->nr_events ? e : NULL;
}

/* Which task runs between two switches of a CPU, either of which may be NULL; -1: none; CPU_AWAY.
 */
static inline int runs_between(const struct sim *s, int cpu, const struct event *from,
			       const struct event *to)
{
	bool stops = from && from->task == s->first_stopper + cpu;

	if (stops && (to ? to->current < 0 : s->cpus[cpu].offline))
		return CPU_AWAY;
	return from ? from->task : to ? to->current : -1;
}

static inline int runs_at(const struct sim *s, int cpu, uint64_t ns)
{
	const struct event *from = NULL, *to = next_switch(s, s->events, cpu);

	while (to && to->ts_ns <= ns) {
		from = to;
		to = next_switch(s, to + 1, cpu);
	}
	return runs_between(s, cpu, from, to);
}

/* ---- within an interval of a CPU ---- */

static inline struct event *add_at(struct causes *c, enum event_kind kind, int cpu, uint64_t ts_ns)
{
	int current = runs_at(c->s, cpu, ts_ns);
	struct event e = {
		.kind = kind, .ts_ns = ts_ns, .cpu = cpu, .current = current, .task = -1, .to = cpu
	};

	if (current >= 0)
		e.current_tid = c->s->tasks[current].tid;
	return add_cause(c, &e);
}

/* A handler, or an idle state: from somewhere after @at on. Return: its end; 0: there is no room.
 */
static inline uint64_t add_span(struct causes *c, enum event_kind first, int cpu, uint64_t at,
				uint64_t to_ns)
{
	uint64_t room = to_ns > at + 8 ? (to_ns - at) / 2 : 0, from, end;
	bool is_irq = first == IRQ_ENTRY;

	if (!room)
		return 0;
	from = at + 1 + dice(&c->dices, (uint32_t)room - 1);
	end = from + 1 + dice(&c->dices, (uint32_t)room - 1);
	if (first == CPU_IDLE) {
		add_at(c, first, cpu, from)->state = dice(&c->dices, 4);
		add_at(c, first, cpu, end)->state = NOT_IDLE;
		return end;
	}
	add_at(c, first, cpu, from);
	if (c->with & IRQS && !dice(&c->dices, is_irq ? 4 : 2))
		add_span(c, IRQ_ENTRY, cpu, from, end - 1);
	add_at(c, is_irq ? IRQ_EXIT : SOFTIRQ_EXIT, cpu, end);
	return end;
}

static inline void add_spans(struct causes *c, enum event_kind first, int cpu, uint64_t from_ns,
			     uint64_t to_ns)
{
	while (from_ns && dice(&c->dices, 3))
		from_ns = add_span(c, first, cpu, from_ns, to_ns);
}

/* Handlers of both kinds, one after the other. */
static inline void add_irqs(struct causes *c, int cpu, uint64_t from_ns, uint64_t to_ns)
{
	while (from_ns && dice(&c->dices, 3)) {
		bool is_soft = c->with & SOFTIRQS && (!(c->with & IRQS) || dice(&c->dices, 2));

		from_ns = add_span(c, is_soft ? SOFTIRQ_ENTRY : IRQ_ENTRY, cpu, from_ns, to_ns);
	}
}

/* Any CPU that is there may ask. */
static inline void add_asks(struct causes *c, int task, int cpu, uint64_t from_ns, uint64_t to_ns)
{
	while (to_ns > from_ns + 2 && !dice(&c->dices, 3)) {
		uint64_t ts_ns = from_ns + 1 + dice(&c->dices, (uint32_t)(to_ns - from_ns - 1));
		int by = (int)dice(&c->dices, c->s->nr_cpus);
		bool is_lazy = c->with & LAZY_ASKS && (!(c->with & ASKS) || dice(&c->dices, 2));
		struct event *e =
			add_at(c, RESCHED, runs_at(c->s, by, ts_ns) == CPU_AWAY ? cpu : by, ts_ns);

		e->to = cpu;
		e->task = task;
		e->tid = task < 0 ? 0 : c->s->tasks[task].tid;
		e->state = is_lazy ? TIF_LAZY : TIF_HARD;
	}
}

static inline void add_to_interval(struct causes *c, int task, int cpu, uint64_t from_ns,
				   uint64_t to_ns)
{
	if (task == CPU_AWAY)
		return;
	if (c->with & (IRQS | SOFTIRQS))
		add_irqs(c, cpu, from_ns, to_ns);
	if (c->with & IDLE_STATES && task < 0)
		add_spans(c, CPU_IDLE, cpu, from_ns, to_ns);
	if (c->with & (ASKS | LAZY_ASKS))
		add_asks(c, task, cpu, from_ns, to_ns);
}

static inline void add_to_cpu(struct causes *c, int cpu)
{
	const struct event *from = NULL, *to = next_switch(c->s, c->s->events, cpu);
	uint64_t from_ns = c->s->events->ts_ns;

	for (; from_ns < c->end_ns; from = to, to = next_switch(c->s, to + 1, cpu)) {
		uint64_t to_ns = to && to->ts_ns < c->end_ns ? to->ts_ns : c->end_ns;

		add_to_interval(c, runs_between(c->s, cpu, from, to), cpu, from_ns, to_ns);
		from_ns = to_ns;
		if (!to)
			break;
	}
}

/* ---- beside events ---- */

static inline void put_somewhere(struct causes *c, int task, struct event *e)
{
	static const uint64_t locals[] = { SCX_LOCAL, SCX_LOCAL_OF_CPU };
	uint32_t where = dice(&c->dices, 4);

	c->place[task].held = !where;
	c->place[task].dsq = !where	  ? SCX_NONE
			     : where == 1 ? locals[dice(&c->dices, 2)]
					  : dice(&c->dices, 3);
	e->dsq = c->place[task].dsq;
	e->held = c->place[task].held;
}

static inline void scx_wakeup(struct causes *c, const struct event *e)
{
	struct event *scx;

	if (!c->scx[e->task])
		return;
	scx = add_cause(c, e);
	scx->kind = e->kind == WAKEUP ? SCX_WAKEUP : SCX_WAKEUP_NEW;
	if (!e->awake) {
		put_somewhere(c, e->task, scx);
		return;
	}
	scx->dsq = c->place[e->task].dsq; /* where it stands already; none if it runs */
	scx->held = c->place[e->task].held;
}

static inline void put_nowhere(struct causes *c, int task)
{
	c->place[task].dsq = SCX_NONE;
	c->place[task].held = false;
}

static inline void scx_switch(struct causes *c, const struct event *e)
{
	bool of_prev = e->current >= 0 && c->scx[e->current],
	     of_next = e->task >= 0 && c->scx[e->task];
	struct event *scx;

	if (of_next)
		put_nowhere(c, e->task);
	if (!of_prev && !of_next)
		return;
	scx = add_cause(c, e);
	scx->kind = SCX_SWITCH;
	scx->dsq = SCX_NONE;
	if (of_prev && !(e->state & 0xff))
		put_somewhere(c, e->current, scx);
}

static inline void add_scx(struct causes *c)
{
	for (const struct event *e = c->s->events; e < c->s->events + c->s->nr_events; e++) {
		if (e->kind == SWITCH)
			scx_switch(c, e);
		else if (e->kind == WAKEUP || e->kind == WAKEUP_NEW)
			scx_wakeup(c, e);
		else if (e->kind == MIGRATE)
			put_nowhere(c, e->task);
	}
}

/* ---- of tasks ---- */

static inline void add_classes(struct causes *c, struct task *tasks)
{
	static const int prios[] = { 120, 120, 120, 100, 139, 98, 49, 49, 0, -1 };

	for (unsigned int i = 0; i < c->s->nr_tasks; i++) {
		struct task *t = &tasks[i];

		if (c->with & CLASSES)
			t->prio = !strncmp(t->comm, "migration/", 10) ? 0
				  : t->limited			      ? 120
								      : prios[dice(&c->dices, 10)];
		c->scx[i] = c->with & SCX && !t->pinned && !t->limited && t->prio >= 100 &&
			    dice(&c->dices, 4);
		put_nowhere(c, (int)i);
	}
}

static inline unsigned int cpus_used(const struct sim *s, int task)
{
	unsigned int used = 1u << s->tasks[task].cpu;

	for (const struct event *e = s->events; e < s->events + s->nr_events; e++) {
		if (e->kind == SWITCH && (e->task == task || e->current == task))
			used |= 1u << e->cpu;
		else if (e->task == task && (e->kind == MIGRATE || e->kind == WAKING ||
					     e->kind == WAKEUP || e->kind == WAKEUP_NEW))
			used |= 1u << e->to | (e->kind == MIGRATE ? 1u << e->from : 0);
	}
	return used;
}

static inline bool has_one_life(const struct sim *s, int task)
{
	for (unsigned int i = 0; i < s->nr_tasks; i++)
		if ((int)i != task && s->tasks[i].tid == s->tasks[task].tid)
			return false;
	return true;
}

static inline void put_row(struct tap_buf *meta, const struct task *t, const char *when,
			   unsigned int cpus)
{
	char text[4 * SIM_CPUS + 4] = "";

	for (unsigned int cpu = 0; cpu <= SIM_CPUS; cpu++)
		if (cpus & 1u << cpu)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u",
				 *text ? "," : "", cpu);
	tap_buf_printf(meta, "%s[%d,%d,\"%s\",null,\"%s\",",
		       meta->len > strlen("{\"tasks\":[") ? "," : "", t->tid, t->tid, t->comm,
		       when);
	if (cpus == UINT32_MAX)
		tap_buf_printf(meta, "null]");
	else
		tap_buf_printf(meta, "\"%s\"]", text);
}

/* Rows of those that were there when the lists were read. */
static inline void list_task(struct causes *c, int task, struct task *t, struct tap_buf *meta)
{
	unsigned int cpus = dice(&c->dices, 3)
				    ? cpus_used(c->s, task) | dice(&c->dices, 1 << SIM_CPUS)
				    : UINT32_MAX;
	bool began = !t->born_ns && dice(&c->dices, 4), ended = !t->died_ns && dice(&c->dices, 4),
	     differ = !dice(&c->dices, 4);

	if (!has_one_life(c->s, task) || (!began && !ended))
		return;
	t->listed = began && ended && differ ? 0 : cpus;
	if (began && ended && !differ && dice(&c->dices, 2)) {
		put_row(meta, t, "both", cpus);
		return;
	}
	if (began)
		put_row(meta, t, "began", cpus);
	if (ended)
		put_row(meta, t, "ended", began && differ ? cpus ^ 1u << SIM_CPUS : cpus);
}

/* ---- all ---- */

/* Merges the simulation's events with the causes by time; at equal times the causes come last. */
static inline void merge_causes(const struct causes *c, struct sim *out)
{
	const struct event *a = c->s->events, *b = c->events, *a_end = a + c->s->nr_events,
			   *b_end = b + c->nr;

	out->nr_events = out->cap_events = 0;
	out->events = NULL;
	while (a < a_end || b < b_end) {
		out->events =
			grow(out->events, out->nr_events, &out->cap_events, sizeof(*out->events));
		out->events[out->nr_events++] =
			b == b_end || (a < a_end && a->ts_ns <= b->ts_ns) ? *a++ : *b++;
	}
	for (struct event *e = out->events; e < out->events + out->nr_events; e++) {
		e->prio = e->task >= 0 ? out->tasks[e->task].prio : 120;
		e->is_scx = e->task >= 0 && c->scx[e->task];
		e->current_prio = e->current >= 0 ? out->tasks[e->current].prio : 120;
	}
}

static inline int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

/* Returns a copy of @s with random causes added. @meta: gets the description of its recordings. */
static inline struct sim with_causes(const struct sim *s, uint64_t seed, struct tap_buf *meta)
{
	struct causes c = { .s = s, .end_ns = s->events[s->nr_events - s->nr_protected].ts_ns };
	struct sim out = *s;

	c.dices.rng = (seed + 1) * 0xd6e8feb86659fd93ull | 1;
	for (int i = 0; i < 10; i++)
		dice(&c.dices, 2);
	c.with = dice(&c.dices, 3) ? dice(&c.dices, ALL_CAUSES + 1) : 1u << dice(&c.dices, 7);
	add_classes(&c, out.tasks);
	for (int cpu = 0; cpu < (int)s->nr_cpus; cpu++)
		add_to_cpu(&c, cpu);
	if (c.with & SCX)
		add_scx(&c);
	qsort(c.events, c.nr, sizeof(*c.events), by_time);
	merge_causes(&c, &out);
	out.nr_protected = 0;
	for (unsigned int i = 0; i < out.nr_events; i++)
		out.nr_protected += out.events[i].ts_ns >= c.end_ns;
	tap_buf_printf(meta, "{\"tasks\":[");
	for (int task = 0; task < (int)s->nr_tasks; task++)
		list_task(&c, task, &out.tasks[task], meta);
	tap_buf_printf(meta, "]}");
	free(c.events);
	return out;
}

#endif
