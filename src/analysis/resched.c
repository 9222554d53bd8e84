// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/resched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "analysis/interrupts.h"

#define NOT_IDLE UINT32_MAX /* cpu_idle: PWR_EVENT_EXIT */

enum what { NONE, ASKED, ENTRY, SWITCH, EXIT, IDLE, IRQ_ENTRY, IRQ_EXIT };

struct kind {
	enum what what;
	/* the task that is asked to reschedule, is in __schedule(), or is switched in */
	struct tap_num tid;
	/* asked, idle: the CPU; switch: the task switched out; exit: whether there was a switch */
	struct tap_num other;
	struct tap_num value; /* asked: the flag; idle: the state */
};

/* The start of a stage. */
struct begin {
	bool is_open;
	int tid;
	uint64_t ns;
	uint64_t irq_ns; /* the CPU's .irq_ns at that time */
};

struct tap_resched_cpu {
	struct begin asked[2], idle_exit, entry, switched;
	uint64_t lost_to_ns; /* stages that began before this time are not certain */
	unsigned int irq_depth;
	uint64_t irq_since_ns, irq_ns;
};

/* ---- which events ---- */

static enum what irq_what(const struct tap_format *fmt)
{
	static const enum what whats[] = {
		[TAP_IRQ_NONE] = NONE, [TAP_IRQ_ENTRY] = IRQ_ENTRY, [TAP_IRQ_EXIT] = IRQ_EXIT
	};

	return whats[tap_irq_event(fmt)];
}

static const struct event_row {
	const char *system, *name;
	enum what what;
	const char *tid, *other, *value;
} event_rows[] = {
	{ "schedtap", "sched_set_need_resched", ASKED, "pid", "cpu", "tif" },
	{ "schedtap", "sched_entry", ENTRY, "pid", NULL, NULL },
	{ "sched", "sched_switch", SWITCH, "next_pid", "prev_pid", NULL },
	{ "schedtap", "sched_exit", EXIT, "pid", "is_switch", NULL },
	{ "power", "cpu_idle", IDLE, NULL, "cpu_id", "state" },
};

static void init_num(struct tap_num *n, const struct tap_format *fmt, const char *name)
{
	tap_num_init(n, name ? tap_number_field(fmt, name) : NULL);
}

static struct kind kind_of(const struct tap_format *fmt)
{
	struct kind k = { .what = irq_what(fmt) };

	for (size_t i = 0; i < sizeof(event_rows) / sizeof(*event_rows); i++) {
		const struct event_row *row = &event_rows[i];

		if (strcmp(fmt->system, row->system) || strcmp(fmt->name, row->name))
			continue;
		k.what = row->what;
		init_num(&k.tid, fmt, row->tid);
		init_num(&k.other, fmt, row->other);
		init_num(&k.value, fmt, row->value);
	}
	return k;
}

bool tap_resched_has_stages(const struct tap_format *fmt)
{
	enum what what = kind_of(fmt).what;

	return what == ASKED || what == ENTRY || what == IDLE;
}

/* Return: NULL when out of memory. */
static const struct kind *kind_get(struct tap_resched *r, const struct tap_format *fmt)
{
	uint64_t *place = tap_map_put(&r->kinds, (uintptr_t)fmt);
	struct kind *k;

	if (!place || *place)
		return place ? (const struct kind *)(uintptr_t)*place : NULL;
	k = malloc(sizeof(*k));
	if (k)
		*k = kind_of(fmt);
	*place = (uintptr_t)k;
	return k;
}

/* ---- stages ---- */

/* Return: NULL when out of memory. */
static struct tap_resched_cpu *cpu_get(struct tap_resched *r, unsigned int cpu)
{
	return tap_array_at(&r->cpus, &r->nr_cpus, cpu, sizeof(*r->cpus), NULL);
}

static uint64_t irq_ns(const struct tap_resched_cpu *c, uint64_t ns)
{
	return c->irq_ns + (c->irq_depth ? ns - c->irq_since_ns : 0);
}

static struct begin begin_stage(const struct tap_resched_cpu *c, int tid, uint64_t ns)
{
	return (struct begin){ .is_open = true, .tid = tid, .ns = ns, .irq_ns = irq_ns(c, ns) };
}

/*
 * End the stage that began with *@b. It counts if it is of task @tid and nothing was lost since.
 * Return: 0 or -ENOMEM.
 */
static int end_stage(struct tap_resched *r, enum tap_resched_stage stage,
		     const struct tap_event *ev, int tid, struct begin *b)
{
	const struct tap_resched_cpu *c = &r->cpus[ev->cpu];
	struct tap_resched_figures *f = &r->stages[stage];
	uint64_t ns = ev->ts_ns - b->ns, in_irqs = irq_ns(c, ev->ts_ns) - b->irq_ns;
	bool counts =
		b->is_open && b->tid == tid && b->ns >= c->lost_to_ns && b->ns >= r->lost_to_ns;

	b->is_open = false;
	if (!counts || (r->opts.want && !r->opts.want(r->opts.ctx, ev->cpu, tid)))
		return 0;
	if (!f->ns.count || ns > f->ns.max) {
		f->max_at_ns = ev->ts_ns;
		f->max_cpu = ev->cpu;
		f->max_irq_ns = in_irqs;
	}
	f->irq_ns += in_irqs;
	return tap_hist_add_weighted(&f->ns, ns, 1);
}

/* Return the index of a flag, 0 or 1; -1: an unknown third flag. */
static int flag_index(struct tap_resched *r, int flag)
{
	for (int i = 0; i < 2; i++) {
		if (r->flags[i] < 0)
			r->flags[i] = flag;
		if (r->flags[i] == flag)
			return i;
	}
	return -1;
}

/* The event may be recorded on another CPU than the one that is asked to reschedule. */
static int on_asked(struct tap_resched *r, const struct kind *k, const struct tap_event *ev)
{
	unsigned int cpu = (unsigned int)tap_num_int(&k->other, ev);
	int flag = flag_index(r, tap_num_int(&k->value, ev));
	struct tap_resched_cpu *c;

	if (cpu >= TAP_MAX_CPUS || flag < 0)
		return 0;
	c = cpu_get(r, cpu);
	if (c && !c->asked[flag].is_open)
		c->asked[flag] = begin_stage(c, tap_num_int(&k->tid, ev), ev->ts_ns);
	return c ? 0 : -ENOMEM;
}

static int on_sched_entry(struct tap_resched *r, struct tap_resched_cpu *c, int tid,
			  const struct tap_event *ev)
{
	int ret = end_stage(r, TAP_RESCHED_ASKED, ev, tid, &c->asked[0]);

	if (!ret)
		ret = end_stage(r, TAP_RESCHED_ASKED_LAZY, ev, tid, &c->asked[1]);
	c->entry = begin_stage(c, tid, ev->ts_ns);
	c->switched.is_open = false;
	return ret;
}

static int on_switch(struct tap_resched *r, struct tap_resched_cpu *c, const struct kind *k,
		     const struct tap_event *ev)
{
	int prev = tap_num_int(&k->other, ev), next = tap_num_int(&k->tid, ev);
	int ret = end_stage(r, TAP_RESCHED_PICK, ev, prev, &c->entry);

	if (!ret && !prev) {
		c->idle_exit.tid = next; /* the task for which the CPU left its idle state */
		ret = end_stage(r, TAP_RESCHED_IDLE_EXIT, ev, next, &c->idle_exit);
	}
	c->idle_exit.is_open = false;
	c->switched = begin_stage(c, next, ev->ts_ns);
	return ret;
}

static int on_sched_exit(struct tap_resched *r, struct tap_resched_cpu *c, const struct kind *k,
			 const struct tap_event *ev)
{
	int tid = tap_num_int(&k->tid, ev), ret;

	if (tap_num_get(&k->other, ev))
		ret = end_stage(r, TAP_RESCHED_SWITCH, ev, tid, &c->switched);
	else
		ret = end_stage(r, TAP_RESCHED_STAY, ev, tid, &c->entry);
	c->entry.is_open = c->switched.is_open = false;
	return ret;
}

static int on_idle(struct tap_resched *r, const struct kind *k, const struct tap_event *ev)
{
	unsigned int cpu = (unsigned int)tap_num_int(&k->other, ev);
	struct tap_resched_cpu *c;

	if (cpu >= TAP_MAX_CPUS)
		return 0;
	c = cpu_get(r, cpu);
	if (!c)
		return -ENOMEM;
	if ((uint32_t)tap_num_get(&k->value, ev) == NOT_IDLE)
		c->idle_exit = begin_stage(c, 0, ev->ts_ns);
	else
		c->idle_exit.is_open = false;
	return 0;
}

static void on_irq(struct tap_resched *r, struct tap_resched_cpu *c, bool begins, uint64_t ns)
{
	r->has_irqs = true;
	if (begins && !c->irq_depth++)
		c->irq_since_ns = ns;
	if (!begins && c->irq_depth && !--c->irq_depth)
		c->irq_ns += ns - c->irq_since_ns;
}

/* Take in losses that begin by @ns. Return: 0 or -ENOMEM. */
static int note_losses(struct tap_resched *r, uint64_t ns)
{
	const struct tap_survey *s = r->opts.survey;

	for (; r->next_loss < s->nr_kept_losses && s->losses[r->next_loss].from_ns <= ns;
	     r->next_loss++) {
		const struct tap_loss *l = &s->losses[r->next_loss];
		struct tap_resched_cpu *c = NULL;
		uint64_t *to_ns = &r->lost_to_ns;

		if ((unsigned int)l->cpu < TAP_MAX_CPUS) {
			c = cpu_get(r, (unsigned int)l->cpu);
			if (!c)
				return -ENOMEM;
			c->irq_depth = 0;
			to_ns = &c->lost_to_ns;
		}
		if (l->to_ns > *to_ns)
			*to_ns = l->to_ns;
	}
	return 0;
}

/* ---- the watcher ---- */

const char *tap_resched_stage_name(enum tap_resched_stage stage)
{
	static const char *const names[TAP_NR_RESCHED_STAGES] = {
		[TAP_RESCHED_ASKED] = "asked",	       [TAP_RESCHED_ASKED_LAZY] = "asked_lazy",
		[TAP_RESCHED_IDLE_EXIT] = "idle_exit", [TAP_RESCHED_PICK] = "pick",
		[TAP_RESCHED_SWITCH] = "switch",       [TAP_RESCHED_STAY] = "stay",
	};

	return names[stage];
}

void tap_resched_init(struct tap_resched *r, const struct tap_resched_opts *opts)
{
	*r = (struct tap_resched){ .opts = *opts, .flags = { -1, -1 } };
	for (int i = 0; i < TAP_NR_RESCHED_STAGES; i++)
		r->stages[i].ns = (struct tap_hist)TAP_HIST_INIT;
}

void tap_resched_release(struct tap_resched *r)
{
	for (int i = 0; i < TAP_NR_RESCHED_STAGES; i++)
		tap_hist_release(&r->stages[i].ns);
	tap_map_for_each(&r->kinds, s)
		free((void *)(uintptr_t)s->value);
	tap_map_release(&r->kinds);
	free(r->cpus);
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && kind_of(fmt).what != NONE;
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_resched *r = ctx;
	const struct kind *k = kind_get(r, ev->fmt);
	struct tap_resched_cpu *c;

	(void)t;
	if (!k || note_losses(r, ev->ts_ns))
		return -ENOMEM;
	if (k->what == ASKED)
		return on_asked(r, k, ev);
	if (k->what == IDLE)
		return on_idle(r, k, ev);
	c = cpu_get(r, (unsigned int)ev->cpu);
	if (!c)
		return -ENOMEM;
	switch (k->what) {
	case ENTRY:
		return on_sched_entry(r, c, tap_num_int(&k->tid, ev), ev);
	case SWITCH:
		return on_switch(r, c, k, ev);
	case EXIT:
		return on_sched_exit(r, c, k, ev);
	default:
		on_irq(r, c, k->what == IRQ_ENTRY, ev->ts_ns);
		return 0;
	}
}

/*
 * Assign the two flags: TIF_NEED_RESCHED_LAZY has the higher number on all architectures that have
 * it.
 */
static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_resched *r = ctx;
	struct tap_resched_figures *asked = &r->stages[TAP_RESCHED_ASKED], swap = asked[0];

	(void)t;
	if (r->flags[1] < 0 || r->flags[0] < r->flags[1])
		return 0;
	asked[0] = asked[1];
	asked[1] = swap;
	return 0;
}

const struct tap_watcher_ops tap_resched_ops = { .wants = wants_event,
						 .event = on_event,
						 .end = on_end };
