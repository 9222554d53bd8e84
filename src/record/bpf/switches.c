// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/switches.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "record/backend.h"
#include "record/object/object.h"

static struct bpf_map *map_of(const struct bpf_object *obj, const char *name)
{
	return bpf_object__find_map_by_name(obj, name);
}

int tap_bpf_size_switches(const struct bpf_object *obj, const struct tap_plan *plan)
{
	int ret;

	if (!plan->nr_triggers)
		return 0;
	ret = bpf_map__set_max_entries(map_of(obj, "tap_switches"), plan->nr_events + 1);
	ret = ret ?: bpf_map__set_max_entries(map_of(obj, "tap_triggers"), plan->nr_triggers);
	return ret
		       ?: bpf_map__set_max_entries(map_of(obj, "tap_off"),
						   plan->nr_events * plan->nr_cpus);
}

static bool is_mine(const struct tap_plan_event *ev)
{
	return ev && ev->backend->kind == TAP_BY_BPF;
}

static int put_trigger(const struct bpf_object *obj, const struct tap_plan *plan, uint32_t i,
		       struct tap_err *err)
{
	const struct tap_trigger *t = &plan->triggers[i];
	const struct tap_plan_event *of = tap_plan_target_of(plan, t);
	const struct tap_trigger_state state = {
		.which = of ? (unsigned int)(of - plan->events) + 1 : 0,
		.to = tap_trigger_to(t),
		.left = t->count < 0 ? INT64_MAX : t->count,
	};

	if (t->action == TAP_TRIGGER_KERNELS)
		return tap_err_set(err, -EINVAL,
				   "--trigger '%.200s': %s:%s is recorded over BPF, which does not "
				   "support '%.*s': use --backend tracefs",
				   t->text, t->system, t->name, (int)strcspn(t->words, ":"),
				   t->words);
	if (bpf_map_update_elem(bpf_map__fd(map_of(obj, "tap_triggers")), &i, &state, BPF_ANY))
		return tap_err_set(err, -errno, "cannot set a trigger in the BPF programs: %m");
	return 0;
}

int tap_bpf_switches_open(struct tap_bpf_switches *s, const struct bpf_object *obj,
			  const struct tap_plan *plan, struct tap_err *err)
{
	int ret = 0;

	if (!plan->nr_triggers)
		return 0;
	s->switches_bytes =
		bpf_map__max_entries(map_of(obj, "tap_switches")) * sizeof(*s->switches);
	s->switches = tap_bpf_map_array(obj, "tap_switches", s->switches_bytes);
	s->off_bytes = bpf_map__max_entries(map_of(obj, "tap_off")) * sizeof(*s->off);
	s->off = tap_bpf_map_array(obj, "tap_off", s->off_bytes);
	if (!s->switches || !s->off)
		return tap_err_set(err, -errno,
				   "cannot map the BPF map that holds the triggers' state: %m");
	s->switches[0].on = 1;
	for (unsigned int i = 0; i < plan->nr_events; i++) {
		const struct tap_plan_event *ev = &plan->events[i];

		s->switches[1 + i].on = !ev->is_soft;
		if (is_mine(ev) && (!ev->is_soft || ev->is_switched))
			s->switches[1 + i].type = ev->def->id;
	}
	for (uint32_t i = 0; i < plan->nr_triggers && !ret; i++)
		if (is_mine(tap_plan_event_of(plan, &plan->triggers[i])))
			ret = put_trigger(obj, plan, i, err);
	return ret;
}

void tap_bpf_switches_release(struct tap_bpf_switches *s)
{
	if (s->switches)
		munmap(s->switches, s->switches_bytes);
	if (s->off)
		munmap(s->off, s->off_bytes);
	*s = (struct tap_bpf_switches){ 0 };
}
