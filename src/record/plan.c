// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

void tap_plan_outcome(struct tap_plan_event *ev, enum tap_event_status status, const char *fmt, ...)
{
	va_list ap;

	ev->status = status;
	free(ev->reason);
	ev->reason = NULL;
	if (!fmt)
		return;
	va_start(ap, fmt);
	if (vasprintf(&ev->reason, fmt, ap) < 0)
		ev->reason = NULL;
	va_end(ap);
}

const char *tap_plan_reason(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].reason)
			return plan->events[i].reason;
	return "";
}

int tap_plan_note_whole(struct tap_plan_event *ev, const char *filter)
{
	free(ev->note);
	if (asprintf(&ev->note, "-f '%.200s' does not apply to %s:%s, all of which are recorded",
		     filter, ev->system, ev->name) >= 0)
		return 0;
	ev->note = NULL;
	return -ENOMEM;
}

void tap_plan_release(struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++) {
		free(plan->events[i].system);
		free(plan->events[i].name);
		free(plan->events[i].filter);
		free(plan->events[i].note);
		free(plan->events[i].afterword);
		free(plan->events[i].reason);
	}
	free(plan->events);
	for (unsigned int i = 0; i < plan->nr_patterns; i++)
		free(plan->patterns[i].note);
	free(plan->patterns);
	while (plan->nr_triggers)
		tap_trigger_release(&plan->triggers[--plan->nr_triggers]);
	free(plan->triggers);
	tap_pids_release(&plan->pids);
	*plan = (struct tap_plan){ 0 };
}

bool tap_plan_is_lean(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].def && plan->events[i].def->form_of)
			return true;
	return false;
}

const struct tap_def *tap_plan_def_at(const struct tap_plan *plan, unsigned int index)
{
	unsigned int nr_own = plan->own ? plan->own->nr : 0;
	const struct tap_def *def, *own;

	if (index < nr_own)
		return tap_defs_at(plan->own, index);
	def = tap_def_at(index - nr_own);
	for (unsigned int i = 0; def && i < nr_own; i++) {
		own = tap_defs_at(plan->own, i);
		if (!strcmp(own->name, def->name) && !strcmp(own->system, def->system))
			return own;
	}
	return def;
}

struct tap_plan_event *tap_plan_find(const struct tap_plan *plan, const char *system,
				     const char *name)
{
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (!strcmp(plan->events[i].name, name) && !strcmp(plan->events[i].system, system))
			return &plan->events[i];
	return NULL;
}

int tap_plan_add(struct tap_plan *plan, const char *system, const char *name,
		 const struct tap_def *def, const struct tap_backend_ops *backend,
		 const char *filter)
{
	struct tap_plan_event *ev = tap_plan_find(plan, system, name);

	if (ev && ev->filter)
		return 0;
	if (!ev) {
		if (tap_array_grow(&plan->events, plan->nr_events, &plan->cap_events, sizeof(*ev)))
			return -ENOMEM;
		ev = &plan->events[plan->nr_events];
		*ev = (struct tap_plan_event){ .system = strdup(system), .name = strdup(name) };
		if (!ev->system || !ev->name) {
			free(ev->system);
			free(ev->name);
			return -ENOMEM;
		}
		plan->nr_events++; /* the event is not added otherwise */
	}
	ev->def = def;
	ev->backend = backend;
	ev->filter = filter ? strdup(filter) : NULL;
	return filter && !ev->filter ? -ENOMEM : 0;
}
