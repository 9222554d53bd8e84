// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/interrupts.h"
#include "base/array.h"

#define NOT_IDLE UINT32_MAX /* cpu_idle: PWR_EVENT_EXIT */

struct tap_explain_source {
	const struct tap_format *fmt;
	enum { PLACED, IRQ, IDLE } what;
	bool begins, is_soft; /* of IRQ */
	struct tap_num id;    /* the task's, the CPU's */
	struct tap_num state; /* of IDLE */
};

/* Return: whether it is one. */
static bool source_init(struct tap_explain_source *s, const struct tap_format *fmt)
{
	enum tap_irq_event irq = tap_irq_event(fmt);

	*s = (struct tap_explain_source){ .fmt = fmt, .what = IRQ, .begins = irq == TAP_IRQ_ENTRY };
	if (irq != TAP_IRQ_NONE) {
		s->is_soft = tap_irq_is_soft(fmt);
		return true;
	}
	if (!strcmp(fmt->system, "sched") && (!strcmp(fmt->name, "sched_wakeup") || !strcmp(fmt->name, "sched_wakeup_new"))) {
		s->what = PLACED;
		tap_num_init(&s->id, tap_number_field(fmt, "pid"));
	} else if (!strcmp(fmt->system, "power") && !strcmp(fmt->name, "cpu_idle")) {
		s->what = IDLE;
		tap_num_init(&s->id, tap_number_field(fmt, "cpu_id"));
		tap_num_init(&s->state, tap_number_field(fmt, "state"));
	}
	return s->what != IRQ && s->id.size;
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

int tap_explain_sources_event(struct tap_explain_sources *s, struct tap_explain_waits *waits, const struct tap_event *ev)
{
	const struct tap_explain_source *source = source_get(s, ev->fmt);
	const struct tap_task *task;
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
	default:
		return tap_explain_waits_irq(waits, ev->cpu, ev->ts_ns, source->is_soft, source->begins);
	}
}

void tap_explain_sources_release(struct tap_explain_sources *s)
{
	free(s->v);
}
