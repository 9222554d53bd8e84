// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Events other than the timeline's intervals that explain waits: sched_wakeup, cpu_idle,
 * interrupts, sched_pick, sched_dl_pick, sched_pi_setprio, sched_set_need_resched, sched_exit and
 * sched_scx_*.
 */
#include "analysis/explain/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "analysis/interrupts.h"

#define NOT_IDLE UINT32_MAX /* cpu_idle: PWR_EVENT_EXIT */

struct tap_explain_source {
	const struct tap_format *fmt;
	enum what { NONE, PLACED, IRQ, IDLE, RESCHED, PICKED, SERVED, EXITED, SCX, PRIO } what;
	bool begins, is_soft; /* only for IRQ */
	struct tap_num id; /* the task or the CPU */
	/*
	 * IDLE: the state; RESCHED: the TIF flag; SERVED: true if a server let it run; EXITED:
	 * is_switch; SCX: the dispatch queue; PRIO: the old priority
	 */
	struct tap_num state;
	struct tap_num held; /* only for SCX */
	struct tap_sched_pick_fields pick; /* only for PICKED */
};

static const struct {
	const char *system, *name, *id, *state;
	enum what what;
} events[] = {
	{ "sched", "sched_wakeup", "pid", "pid", PLACED },
	{ "sched", "sched_wakeup_new", "pid", "pid", PLACED },
	{ "power", "cpu_idle", "cpu_id", "state", IDLE },
	{ "schedtap", "sched_set_need_resched", "cpu", "tif", RESCHED },
	{ "schedtap", "sched_dl_pick", "next_pid", "next_by_server", SERVED },
	{ "sched", "sched_pi_setprio", "pid", "oldprio", PRIO },
	{ "schedtap", "sched_exit", "pid", "is_switch", EXITED },
	{ "schedtap", "sched_scx_wakeup", "pid", "dsq", SCX },
	{ "schedtap", "sched_scx_wakeup_new", "pid", "dsq", SCX },
	{ "schedtap", "sched_scx_switch", "prev_pid", "prev_dsq", SCX },
};

/* Return true if the format is one of these events. */
static bool source_init(struct tap_explain_source *s, const struct tap_format *fmt)
{
	enum tap_irq_event irq = tap_irq_event(fmt);

	*s = (struct tap_explain_source){ .fmt = fmt };
	if (irq != TAP_IRQ_NONE) {
		s->what = IRQ;
		s->begins = irq == TAP_IRQ_ENTRY;
		s->is_soft = tap_irq_is_soft(fmt);
		return true;
	}
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (strcmp(fmt->system, events[i].system) || strcmp(fmt->name, events[i].name))
			continue;
		tap_num_init(&s->id, tap_number_field(fmt, events[i].id));
		tap_num_init(&s->state, tap_number_field(fmt, events[i].state));
		tap_num_init(&s->held,
			     tap_number_field(fmt, "held") ?: tap_number_field(fmt, "prev_held"));
		s->what = s->id.size ? events[i].what : NONE;
	}
	if (tap_sched_pick_init(&s->pick, fmt))
		s->what = PICKED;
	return s->what != NONE;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	const struct tap_explain_waits *w = ctx;
	struct tap_explain_source s;

	if (!fmt || !source_init(&s, fmt))
		return false;
	return !w->opts.without_reasons ||
	       (s.what != PICKED && s.what != RESCHED && s.what != EXITED);
}

/* Return: NULL when out of memory. */
static const struct tap_explain_source *source_get(struct tap_explain_sources *s,
						   const struct tap_format *fmt)
{
	if (s->nr && s->v[s->last].fmt == fmt)
		return &s->v[s->last];
	for (s->last = 0; s->last < s->nr; s->last++)
		if (s->v[s->last].fmt == fmt)
			return &s->v[s->last];
	if (tap_array_grow(&s->v, s->nr, &s->cap, sizeof(*s->v))) {
		s->last = 0;
		return NULL;
	}
	source_init(&s->v[s->nr++], fmt);
	return &s->v[s->last];
}

static bool is_early(const struct tap_explain_waits *w, const struct tap_event *ev)
{
	return ev->ts_ns < tap_timeline_window(w->timeline).from_ns;
}

static int on_pick(const struct tap_explain_source *s, struct tap_explain_waits *waits,
		   const struct tap_event *ev)
{
	struct tap_pick_level levels[TAP_PICK_LEVELS];
	struct tap_sched_pick p;

	tap_sched_pick_read(&s->pick, ev, &p);
	tap_sched_pick_read_levels(&s->pick, ev, levels, &p);
	return tap_explain_waits_picked(waits, &p);
}

static int on_prio(const struct tap_explain_source *s, struct tap_explain_waits *waits,
		   const struct tap_event *ev)
{
	const struct tap_task *task = tap_timeline_task(waits->timeline, tap_num_int(&s->id, ev));

	if (!task || !s->state.size)
		return 0;
	return tap_explain_waits_prio(waits, task, ev->ts_ns, tap_num_int(&s->state, ev));
}

/*
 * The IDs of a CPU's own dispatch queues are "local" and those that contain a CPU number
 * (events/scx.h).
 */
static enum tap_scx_place place_in(uint64_t dsq, bool held)
{
	const uint64_t none = 1ull << 63, local = none | 2, local_of_cpu = 3ull << 62;

	if (held)
		return TAP_SCX_HELD;
	return dsq == none || dsq == local || (dsq & local_of_cpu) == local_of_cpu ? TAP_SCX_LOCAL
										   : TAP_SCX_SHARED;
}

/* A task of another class is in no dispatch queue. */
static int on_scx(const struct tap_explain_source *s, struct tap_explain_waits *waits,
		  const struct tap_event *ev)
{
	const struct tap_task *task = tap_timeline_task(waits->timeline, tap_num_int(&s->id, ev));
	enum tap_scx_place place =
		place_in((uint64_t)tap_num_get(&s->state, ev), tap_num_get(&s->held, ev));

	if (!task || place == TAP_SCX_LOCAL)
		return 0;
	return is_early(waits, ev) ? tap_explain_waits_scx_early(waits, task, place)
				   : tap_explain_waits_scx(waits, task, ev->ts_ns, place);
}

/*
 * The lazy flag has the greater number on all architectures that have one. Until both flags were
 * seen, the first is taken for the other one, which is not lazy.
 */
static enum tap_asked asked_by(struct tap_explain_sources *s, int tif)
{
	if (!s->tif || tif < s->tif)
		s->tif = tif;
	return tif > s->tif ? TAP_ASKED_LAZY : TAP_ASKED;
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_explain_waits *waits = ctx;
	struct tap_explain_sources *s = &waits->sources;
	const struct tap_explain_source *source = source_get(s, ev->fmt);
	const struct tap_task *task;
	int cpu;

	tap_explain_waits_follow(waits, t);
	if (!source)
		return -ENOMEM;
	switch (source->what) {
	case NONE:
		return 0;
	case PLACED:
		task = tap_timeline_task(waits->timeline, tap_num_int(&source->id, ev));
		return task ? tap_explain_waits_placed(waits, task, ev->ts_ns, ev->cpu) : 0;
	case IDLE:
		cpu = tap_num_int(&source->id, ev);
		if (cpu < 0 || cpu >= (int)TAP_MAX_CPUS)
			return 0;
		return tap_explain_waits_idle(waits, cpu, ev->ts_ns,
					      (uint32_t)tap_num_get(&source->state, ev) !=
						      NOT_IDLE);
	case RESCHED:
		cpu = tap_num_int(&source->id, ev);
		if (cpu < 0 || cpu >= (int)TAP_MAX_CPUS)
			return 0;
		return tap_explain_waits_asked(waits, cpu, ev->ts_ns,
					       asked_by(s, tap_num_int(&source->state, ev)));
	case SERVED:
		return tap_cpu_log_served(
			&waits->logs, ev->cpu,
			tap_num_get(&source->state, ev) ? tap_num_int(&source->id, ev) : 0);
	case EXITED:
		return tap_explain_waits_exited(waits, ev->cpu, ev->ts_ns,
						tap_num_get(&source->state, ev));
	case SCX:
		return on_scx(source, waits, ev);
	case PRIO:
		return on_prio(source, waits, ev);
	case PICKED:
		return on_pick(source, waits, ev);
	default:
		return tap_explain_waits_irq(waits, ev->cpu, ev->ts_ns, source->is_soft,
					     source->begins);
	}
}

const struct tap_watcher_ops tap_explain_waits_ops = {
	.states = TAP_EXPLAIN_STATES | TAP_STATE_BIT(TAP_STATE_RUNNING),
	.lost_states = TAP_EXPLAIN_STATES,
	.early = true,
	.early_tasks = true,
	.interval = tap_explain_waits_interval,
	.cpu = tap_explain_waits_cpu,
	.migration = tap_explain_waits_migration,
	.waits = tap_explain_waits_begin,
	.wants = wants_event,
	.event = on_event,
};
