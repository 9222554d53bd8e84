// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/planned.h"

#include "record/object/object.h"

bool tap_bpf_has_own(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (tap_bpf_is_planned(&plan->events[i]) &&
		    !tap_def_is_built_in(plan->events[i].def))
			return true;
	return false;
}

struct tap_plan_event *tap_bpf_event_of(struct tap_plan *plan, const char *program)
{
	const char *end = strstr(program, "__");

	for (unsigned int i = 0; end && i < plan->nr_events; i++) {
		struct tap_plan_event *ev = &plan->events[i];

		if (ev->backend->kind == TAP_BY_BPF && tap_def_is_built_in(ev->def) &&
		    strlen(ev->def->name) == (size_t)(end - program) &&
		    !strncmp(ev->def->name, program, (size_t)(end - program)))
			return ev;
	}
	return NULL;
}

const char *tap_bpf_tracepoint_of(const char *program)
{
	const char *end = strstr(program, "__");

	return end ? end + strlen("__") : NULL;
}

bool tap_bpf_records(const struct bpf_program *prog)
{
	return bpf_program__autoload(prog) && tap_bpf_kind(prog) == TAP_BPF_RECORDS;
}
