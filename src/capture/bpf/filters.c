// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/bpf/filters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "capture/backend.h"
#include "object/object.h"

/* The filter over the fields that this kernel has. */
static int read_filter(const struct tap_plan_event *ev, const struct tap_kernel *kernel,
		       struct tap_format **fmt, struct tap_filter **filter, struct tap_err *err)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	int ret;

	tap_kernel_absent(kernel, ev->def, absent);
	ret = tap_def_parse(ev->def, absent, fmt, err);
	if (ret)
		return ret;
	ret = tap_filter_new(*fmt, ev->filter, filter, err);
	if (ret)
		tap_format_free(*fmt);
	return ret;
}

static int load(struct tap_bpf_filters *f, int recorder, const struct tap_feed *feed,
		const struct tap_plan_event *ev, const struct tap_kernel *kernel,
		struct tap_err *err)
{
	struct tap_filter_program program;
	struct tap_filter *filter;
	struct tap_format *fmt;
	int ret;

	if (tap_array_grow(&f->v, f->nr, &f->cap, sizeof(*f->v)))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = read_filter(ev, kernel, &fmt, &filter, err);
	if (ret)
		return ret;
	ret = tap_filter_program_load(&program, tap_kernel_btf(kernel), ev->def,
				      feed, filter, recorder, err);
	if (!ret)
		f->v[f->nr++] = (struct tap_bpf_filter){ recorder, ev->def, program };
	tap_filter_free(filter);
	tap_format_free(fmt);
	return ret;
}

int tap_bpf_filters_load(struct tap_bpf_filters *f, const struct bpf_object *obj,
			 const struct tap_bpf_own *own, struct tap_plan *plan,
			 const struct tap_kernel *kernel, struct tap_err *err)
{
	struct bpf_program *prog;
	int ret = 0;

	bpf_object__for_each_program(prog, obj) {
		const struct tap_plan_event *ev = tap_bpf_event_of(plan, bpf_program__name(prog));

		if (!ret && ev && ev->filter && bpf_program__autoload(prog) &&
		    tap_bpf_kind(prog) == TAP_BPF_RECORDS)
			ret = load(f, bpf_program__fd(prog),
				   &(struct tap_feed){ strstr(bpf_program__name(prog), "__") + 2 }, ev, kernel, err);
	}
	for (unsigned int i = 0; i < own->nr && !ret; i++) {
		const struct tap_bpf_own_program *o = &own->v[i];
		const struct tap_plan_event *ev = tap_plan_find(plan, o->def->system, o->def->name);

		if (ev->filter)
			ret = load(f, o->prog, &o->feed, ev, kernel, err);
	}
	return ret;
}

/* Short of memory it is not told. */
void tap_bpf_filters_tell(const struct tap_bpf_filters *f, struct tap_plan *plan)
{
	for (unsigned int i = 0; i < f->nr; i++) {
		struct tap_plan_event *ev = tap_plan_find(plan, f->v[i].def->system, f->v[i].def->name);
		uint64_t nr = tap_filter_program_forgot(&f->v[i].program);

		if (nr && !ev->afterword &&
		    asprintf(&ev->afterword,
			     "-f '%.200s' of %s:%s forgot tasks, cgroups or CPUs up to %" PRIu64 " times, for it "
			     "remembers %u: their next event was recorded whatever it was",
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

struct tap_filter_program *tap_bpf_filter_of(struct tap_bpf_filters *f, int recorder)
{
	for (unsigned int i = 0; i < f->nr; i++)
		if (f->v[i].recorder == recorder)
			return &f->v[i].program;
	return NULL;
}
