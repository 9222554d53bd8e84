// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/filters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "record/backend.h"
#include "record/bpf/chain.h"
#include "record/object/object.h"

struct loader {
	struct tap_bpf_filters *f;
	struct tap_plan *plan;
	const struct tap_kernel *kernel;
	struct tap_functions functions; /* set if there are triggers */
};

/* Parse the event's fields, without those that this kernel lacks. */
static int read_format(const struct loader *l, const struct tap_plan_event *ev,
		       struct tap_format **fmt, struct tap_err *err)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };

	tap_kernel_absent(l->kernel, ev->def, absent);
	return tap_def_parse(ev->def, absent, fmt, err);
}

static void release_triggers(struct tap_gate_trigger *v, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		tap_filter_free((struct tap_filter *)v[i].filter);
	free(v);
}

/* Read the event's triggers. @v: set to an array, also on failure. */
static int read_triggers(const struct loader *l, const struct tap_plan_event *ev,
			 const struct tap_format *fmt, struct tap_gate_trigger **v,
			 unsigned int *nr, struct tap_err *err)
{
	const struct tap_plan *plan = l->plan;
	struct tap_err why = { 0 };

	*nr = 0;
	*v = calloc(plan->nr_triggers + 1, sizeof(**v));
	if (!*v)
		return tap_err_nomem(err);
	for (uint32_t i = 0; i < plan->nr_triggers; i++) {
		struct tap_filter *filter = NULL;
		int ret;

		if (tap_plan_event_of(plan, &plan->triggers[i]) != ev)
			continue;
		ret = plan->triggers[i].filter
			      ? tap_filter_new(fmt, plan->triggers[i].filter, &filter, &why)
			      : 0;
		if (ret)
			return tap_err_set(err, ret, "--trigger: %s", why.text);
		(*v)[(*nr)++] = (struct tap_gate_trigger){ i, filter };
	}
	return 0;
}

static int load_parts(const struct loader *l, const struct tap_filter_ways *ways,
		      const struct tap_feed *feed, const struct tap_plan_event *ev,
		      const struct tap_format *fmt, struct tap_err *err)
{
	struct tap_gate gate = { .functions = &l->functions,
				 .event = (uint32_t)(ev - l->plan->events) };
	struct tap_gate_trigger *triggers = NULL;
	struct tap_filter_program program;
	struct tap_filter *filter = NULL;
	int ret = ev->filter ? tap_filter_new(fmt, ev->filter, &filter, err) : 0;

	ret = ret ?: read_triggers(l, ev, fmt, &triggers, &gate.nr_triggers, err);
	gate.triggers = triggers;
	ret = ret
		      ?: tap_filter_program_load(&program, tap_kernel_btf(l->kernel), ev->def, feed,
						 filter, l->plan->nr_triggers ? &gate : NULL, ways,
						 err);
	if (!ret)
		l->f->v[l->f->nr++] = (struct tap_bpf_filter){ ways->recorder, ev->def, program };
	if (triggers)
		release_triggers(triggers, gate.nr_triggers);
	tap_filter_free(filter);
	return ret;
}

static int load_filter(const struct loader *l, const struct tap_filter_ways *ways,
		       const struct tap_feed *feed, const struct tap_plan_event *ev,
		       struct tap_err *err)
{
	struct tap_format *fmt;
	int ret;

	if (!ev->filter && !l->plan->nr_triggers)
		return 0;
	if (tap_array_grow(&l->f->v, l->f->nr, &l->f->cap, sizeof(*l->f->v)))
		return tap_err_nomem(err);
	ret = read_format(l, ev, &fmt, err);
	if (ret)
		return ret;
	ret = load_parts(l, ways, feed, ev, fmt, err);
	tap_format_free(fmt);
	return ret;
}

static int load_front(const struct loader *l, const struct bpf_object *obj,
		      const struct bpf_program *prog, const struct tap_plan_event *ev,
		      struct tap_err *err)
{
	const struct tap_filter_ways ways = {
		.recorder = bpf_program__fd(prog),
		.chain = tap_bpf_chain_array(obj, prog),
		.next = tap_bpf_chain_next(obj, prog),
	};

	return load_filter(l, &ways,
			   &(struct tap_feed){ tap_bpf_tracepoint_of(bpf_program__name(prog)) }, ev,
			   err);
}

int tap_bpf_filters_load(struct tap_bpf_filters *f, const struct bpf_object *obj,
			 const struct tap_bpf_own *own, struct tap_plan *plan,
			 const struct tap_kernel *kernel, struct tap_err *err)
{
	struct loader l = { .f = f, .plan = plan, .kernel = kernel };
	struct bpf_program *prog;
	int ret = plan->nr_triggers ? tap_bpf_find_functions(obj, &l.functions, err) : 0;

	bpf_object__for_each_program(prog, obj) {
		const struct tap_plan_event *ev = tap_bpf_event_of(plan, bpf_program__name(prog));

		if (!ret && ev && tap_bpf_records(prog))
			ret = load_front(&l, obj, prog, ev, err);
	}
	for (unsigned int i = 0; i < own->nr && !ret; i++) {
		const struct tap_bpf_own_program *o = &own->v[i];

		ret = load_filter(&l, &(struct tap_filter_ways){ o->prog }, &o->feed,
				  tap_plan_find(plan, o->def->system, o->def->name), err);
	}
	return ret;
}

/* If memory runs out, nothing is reported. */
void tap_bpf_filters_tell(const struct tap_bpf_filters *f, struct tap_plan *plan)
{
	for (unsigned int i = 0; i < f->nr; i++) {
		struct tap_plan_event *ev =
			tap_plan_find(plan, f->v[i].def->system, tap_def_record_name(f->v[i].def));
		uint64_t nr = tap_filter_program_forgot(&f->v[i].program);

		if (nr && !ev->afterword &&
		    asprintf(&ev->afterword,
			     "-f '%.200s' of %s:%s forgot the last values of tasks, cgroups or "
			     "CPUs up to %" PRIu64 " times (it remembers %u): the next event of "
			     "each was recorded unfiltered",
			     ev->filter, ev->system, ev->name, nr, TAP_FILTER_MAX_KEYS) < 0)
			ev->afterword = NULL;
	}
}

void tap_bpf_filters_release(struct tap_bpf_filters *f)
{
	while (f->nr)
		tap_filter_program_release(&f->v[--f->nr].program);
	free(f->v);
}

struct tap_filter_program *tap_bpf_filter_of(const struct tap_bpf_filters *f, int recorder)
{
	for (unsigned int i = 0; i < f->nr; i++)
		if (f->v[i].recorder == recorder)
			return &f->v[i].program;
	return NULL;
}

int tap_bpf_front_of(const struct tap_bpf_filters *f, int recorder)
{
	const struct tap_filter_program *front = tap_bpf_filter_of(f, recorder);

	return front ? front->prog : recorder;
}
