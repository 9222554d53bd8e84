// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/own.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "record/bpf/stacks.h"
#include "record/program/functions.h"
#include "record/program/recorder.h"

int tap_bpf_find_functions(const struct bpf_object *obj, struct tap_functions *functions,
			   struct tap_err *err)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "tap_own_functions");

	if (!prog || tap_functions_find(functions, prog))
		return tap_err_set(err, -EINVAL,
				   "the embedded BPF object does not match this build of schedtap");
	return 0;
}

static void release_program(struct tap_bpf_own_program *own)
{
	tap_attach_undo(&own->links);
	if (own->prog >= 0)
		close(own->prog);
	tap_feed_release(&own->feed);
}

static int load_program(struct tap_bpf_own_program *own, struct tap_plan_event *ev,
			const struct tap_recorder_env *env, const struct tap_kernel *kernel,
			struct tap_err *err)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	struct tap_err bad = { 0 };
	const char *at;
	int ret;

	tap_kernel_absent(kernel, ev->def, absent);
	ret = own->prog = tap_recorder_load(env, ev->def, &own->feed, absent, &at, &bad);
	if (ret >= 0)
		return 0;
	if (ret == -EINVAL && at)
		return tap_defs_fail(ev->def, at, err, "%s", bad.text);
	tap_plan_outcome(ev, TAP_EVENT_FAILED, "%s", bad.text);
	return ret == -EPERM || ret == -ENOMEM ? tap_err_set(err, ret, "%s", bad.text) : 0;
}

static int load_event(struct tap_bpf_own *own, struct tap_plan_event *ev,
		      const struct tap_recorder_env *env, const struct tap_kernel *kernel,
		      struct tap_err *err)
{
	struct tap_buf why = { 0 };
	const struct tap_hook *hook = tap_kernel_hook(kernel, ev->def, &why);
	struct tap_bpf_own_program *next;
	int ret;

	tap_buf_release(&why);
	if (tap_array_grow(&own->v, own->nr, &own->cap, sizeof(*own->v)))
		return tap_err_nomem(err);
	next = &own->v[own->nr];
	*next = (struct tap_bpf_own_program){ .def = ev->def, .prog = -1 };
	ret = tap_feed_open(&next->feed, hook, err);
	if (ret)
		return ret;
	ret = load_program(next, ev, env, kernel, err);
	if (next->prog >= 0)
		own->nr++;
	else
		release_program(next);
	return ret;
}

int tap_bpf_own_load(struct tap_bpf_own *own, const struct bpf_object *obj, struct tap_plan *plan,
		     const struct tap_kernel *kernel, struct tap_err *err)
{
	struct tap_functions functions;
	struct tap_recorder_env env = {
		.btf = tap_kernel_btf(kernel),
		.functions = &functions,
		.nr_cpus = plan->nr_cpus,
		.by_cpu = plan->select->by & TAP_SELECT_CPUS,
		.by_task = plan->select->by & TAP_SELECT_TASKS,
	};
	int ret = tap_bpf_has_own(plan) ? tap_bpf_find_functions(obj, &functions, err) : 0;

	for (unsigned int i = 0; i < plan->nr_events && !ret; i++) {
		struct tap_plan_event *ev = &plan->events[i];

		if (!tap_bpf_is_planned(ev) || tap_def_is_built_in(ev->def))
			continue;
		env.stacks = tap_bpf_stacks_constant(&ev->stacks);
		ret = load_event(own, ev, &env, kernel, err);
	}
	return ret;
}

void tap_bpf_own_detach(struct tap_bpf_own *own)
{
	for (unsigned int i = 0; i < own->nr; i++)
		tap_attach_undo(&own->v[i].links);
}

void tap_bpf_own_release(struct tap_bpf_own *own)
{
	while (own->nr)
		release_program(&own->v[--own->nr]);
	free(own->v);
	own->v = NULL;
}
