// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/interrupts.h"
#include "base/array.h"

#define NOT_IDLE UINT32_MAX /* cpu_idle: PWR_EVENT_EXIT */
#define NICE_0_WEIGHT 1048576.0 /* NICE_0_LOAD in kernel/sched/sched.h, of a 64-bit machine */

struct tap_explain_source {
	const struct tap_format *fmt;
	enum what { NONE, PLACED, IRQ, IDLE, RESCHED, PICKED } what;
	bool begins, is_soft; /* of IRQ */
	struct tap_num id;    /* the task's, the CPU's */
	struct tap_num state; /* of IDLE */
	struct tap_num vtime, lag, deadline, vprot, weight, group; /* of PICKED; .vprot.size: 0 where the kernel has none */
};

static const struct {
	const char *system, *name, *id;
	enum what what;
} events[] = {
	{ "sched", "sched_wakeup", "pid", PLACED },
	{ "sched", "sched_wakeup_new", "pid", PLACED },
	{ "power", "cpu_idle", "cpu_id", IDLE },
	{ "schedtap", "sched_set_need_resched", "cpu", RESCHED },
	{ "schedtap", "sched_pick", "next_pid", PICKED },
};

static void find_numbers(struct tap_explain_source *s)
{
	const struct {
		struct tap_num *num;
		const char *name;
	} fields[] = {
		{ &s->state, "state" }, { &s->vtime, "vtime" }, { &s->lag, "next_lag" }, { &s->deadline, "next_deadline" },
		{ &s->vprot, "next_vprot" }, { &s->weight, "next_weight" }, { &s->group, "group" },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		tap_num_init(fields[i].num, tap_number_field(s->fmt, fields[i].name));
}

/* Return: whether it is one. */
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
		find_numbers(s);
		s->what = s->id.size ? events[i].what : NONE;
		if (s->what == PICKED && !(s->vtime.size && s->lag.size && s->deadline.size && s->weight.size && s->group.size))
			s->what = NONE;
	}
	return s->what != NONE;
}

bool tap_explain_source_wants(const struct tap_format *fmt)
{
	struct tap_explain_source s;

	return source_init(&s, fmt);
}

/* Return: NULL when out of memory. */
static const struct tap_explain_source *source_get(struct tap_explain_sources *s, const struct tap_format *fmt)
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

/* Of virtual time to time, of a task that runs. */
static uint64_t run_ns(int64_t virtual_ns, uint64_t weight)
{
	return virtual_ns > 0 ? (uint64_t)((double)virtual_ns * (double)weight / NICE_0_WEIGHT) : 0;
}

static struct tap_picked read_pick(const struct tap_explain_source *s, const struct tap_event *ev)
{
	uint64_t vtime = tap_num_get(&s->vtime, ev), v = vtime - tap_num_get(&s->lag, ev);
	uint64_t weight = tap_num_get(&s->weight, ev);
	int64_t deadline = (int64_t)tap_num_get(&s->deadline, ev);

	return (struct tap_picked){
		.tid = weight ? tap_num_int(&s->id, ev) : 0, /* else another class picked it */
		.group = tap_num_int(&s->group, ev), .ts_ns = ev->ts_ns,
		.vtime = (int64_t)vtime, .v = (int64_t)v, .deadline = (int64_t)(v + (uint64_t)deadline),
		.slice_ns = run_ns(deadline, weight),
		.protected_ns = s->vprot.size ? run_ns((int64_t)tap_num_get(&s->vprot, ev), weight) : 0,
	};
}

int tap_explain_sources_event(struct tap_explain_sources *s, struct tap_explain_waits *waits, const struct tap_event *ev)
{
	const struct tap_explain_source *source = source_get(s, ev->fmt);
	const struct tap_task *task;
	struct tap_picked picked;
	int cpu;

	if (!source)
		return -ENOMEM;
	switch (source->what) {
	case PLACED:
		task = tap_timeline_task(*waits->opts.timeline, tap_num_int(&source->id, ev));
		return task ? tap_explain_waits_placed(waits, task, ev->ts_ns) : 0;
	case IDLE:
		cpu = tap_num_int(&source->id, ev);
		if (cpu < 0 || cpu >= (int)TAP_MAX_CPUS)
			return 0;
		return tap_explain_waits_idle(waits, cpu, ev->ts_ns, (uint32_t)tap_num_get(&source->state, ev) != NOT_IDLE);
	case RESCHED:
		cpu = tap_num_int(&source->id, ev);
		return cpu < 0 || cpu >= (int)TAP_MAX_CPUS ? 0 : tap_explain_waits_resched(waits, cpu, ev->ts_ns);
	case PICKED:
		picked = read_pick(source, ev);
		return tap_explain_waits_picked(waits, ev->cpu, &picked);
	default:
		return tap_explain_waits_irq(waits, ev->cpu, ev->ts_ns, source->is_soft, source->begins);
	}
}

void tap_explain_sources_release(struct tap_explain_sources *s)
{
	free(s->v);
}
