// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/load.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cap.h"
#include "base/proc.h"
#include "base/refusal.h"
#include "record/bpf/chain.h"
#include "record/bpf/load_log.h"
#include "record/bpf/stacks.h"
#include "record/bpf/switches.h"
#include "record/machine.h"
#include "record/object/object.h"

/* Return: whether the program records a planned event from the tracepoint that this kernel has. */
static bool is_wanted(const char *program, struct tap_plan *plan, const struct tap_kernel *kernel)
{
	const struct tap_plan_event *ev = tap_bpf_event_of(plan, program);
	const struct tap_hook *hook = NULL;
	struct tap_buf why = { 0 };

	if (ev && tap_bpf_is_planned(ev))
		hook = tap_kernel_hook(kernel, ev->def, &why);
	tap_buf_release(&why);
	return hook && !strcmp(tap_bpf_tracepoint_of(program), hook->tracepoint);
}

/* Return: whether the program, which records no event, is needed by the options that select. */
static bool keeps_scope(const struct bpf_program *prog, const struct tap_select *select)
{
	return tap_bpf_kind(prog) == TAP_BPF_KEEPS_CGROUPS ? select->by & TAP_SELECT_CGROUPS
							   : tap_bpf_by_task(select);
}

/* Return: whether there is an event to record. */
static bool choose_programs(struct bpf_object *obj, struct tap_plan *plan,
			    const struct tap_kernel *kernel)
{
	bool any, own = tap_bpf_has_own(plan), functions = own || plan->nr_triggers;
	struct bpf_program *prog;

	any = own;
	bpf_object__for_each_program(prog, obj) {
		bool wanted = is_wanted(bpf_program__name(prog), plan, kernel);

		any |= wanted;
		if (tap_bpf_kind(prog) == TAP_BPF_HAS_FUNCTIONS)
			wanted = functions;
		else if (tap_bpf_kind(prog) != TAP_BPF_RECORDS)
			wanted = keeps_scope(prog, plan->select);
		bpf_program__set_autoload(prog, wanted);
	}
	return any;
}

size_t tap_bpf_stride(const struct tap_bpf_object *o)
{
	return TAP_RING_DATA + (o->ringbuf ? 0 : o->ring_bytes) + TAP_RING_SLACK;
}

/*
 * Return: the maximum number of tasks. The set also contains tasks that have ended, until an RCU
 * grace period is over; the number includes no extra room for them.
 */
static uint32_t max_tasks(void)
{
	static const char *const limits[] = { "/proc/sys/kernel/pid_max",
					      "/proc/sys/kernel/threads-max" };
	uint32_t max = 1u << 22; /* PID_MAX_LIMIT */

	for (unsigned int i = 0; i < 2; i++) {
		int64_t limit = tap_proc_number(limits[i]);

		if (limit > 0 && limit < max)
			max = (uint32_t)limit;
	}
	return max;
}

static int size_sets(const struct bpf_object *obj, const struct tap_select *select)
{
	struct bpf_map *tgids = bpf_object__find_map_by_name(obj, "tap_tgids");
	struct bpf_map *tids = bpf_object__find_map_by_name(obj, "tap_tids");
	struct bpf_map *tasks = bpf_object__find_map_by_name(obj, "tap_tasks");
	int ret = select->tgids.nr ? bpf_map__set_max_entries(tgids, select->tgids.nr) : 0;

	if (!ret && select->tids.nr)
		ret = bpf_map__set_max_entries(tids, select->tids.nr);
	return ret || !tap_bpf_by_task(select) ? ret : bpf_map__set_max_entries(tasks, max_tasks());
}

static int size_maps(struct tap_bpf_object *o, const struct tap_plan *plan)
{
	struct bpf_map *rings = bpf_object__find_map_by_name(o->obj, "tap_rings");
	struct bpf_map *ringbuf = bpf_object__find_map_by_name(o->obj, "tap_ringbuf");
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE), nr_cpus = plan->nr_cpus;
	uint64_t bytes = page;
	int ret;

	while (bytes < plan->buffer_bytes && bytes < 1u << 28)
		bytes *= 2;
	o->ring_bytes = bytes;
	if (o->ringbuf)
		while (o->ring_bytes < bytes * nr_cpus && o->ring_bytes < 1u << 30)
			o->ring_bytes *= 2;
	ret = bpf_map__set_max_entries(rings, nr_cpus);
	ret = ret ?: bpf_map__set_value_size(rings, (uint32_t)tap_bpf_stride(o));
	ret = ret ?: bpf_map__set_max_entries(ringbuf, o->ringbuf ? (uint32_t)o->ring_bytes : page);
	return ret ?: tap_bpf_size_switches(o->obj, plan) ?: tap_bpf_stacks_size(o->obj, plan) ?:
	       size_sets(o->obj, plan->select);
}

/* Set the CPUs' capacities from /sys (bpf/vocabulary.h has the reason). */
static int set_capacities(struct bpf_object *obj, unsigned int nr_cpus)
{
	uint16_t scale[8192] = { 0 };

	for (unsigned int cpu = 0; cpu < nr_cpus && cpu < 8192; cpu++) {
		int capacity = tap_machine_capacity(cpu);

		scale[cpu] = capacity > 0 ? (uint16_t)capacity : 0;
	}
	return tap_bpf_set(obj, "tap_cpu_scale", scale, sizeof(scale));
}

static int set_constants(struct tap_bpf_object *o, const struct tap_plan *plan,
			 const struct tap_kernel *kernel, struct tap_err *err)
{
	/* not used with the fallback, but no constant may point outside the map */
	uint64_t bytes = o->ringbuf ? 8 : o->ring_bytes;
	bool has_cast = tap_kernel_has_cast(kernel), is_lean = tap_plan_is_lean(plan);
	uint32_t nr_cpus = plan->nr_cpus;
	int ret;

	ret = tap_bpf_set(o->obj, "tap_ring_bytes", &bytes, sizeof(bytes));
	ret = ret ?: tap_bpf_set(o->obj, "tap_use_ringbuf", &o->ringbuf, sizeof(o->ringbuf));
	ret = ret ?: tap_bpf_set(o->obj, "tap_nr_cpu_ids", &nr_cpus, sizeof(nr_cpus));
	ret = ret ?: tap_bpf_set(o->obj, "tap_has_cast", &has_cast, sizeof(has_cast));
	ret = ret ?: tap_bpf_set(o->obj, "tap_is_lean", &is_lean, sizeof(is_lean));
	ret = ret ?: set_capacities(o->obj, nr_cpus);
	if (ret)
		return tap_err_set(err, ret,
				   "the embedded BPF object does not match this build of schedtap");
	return tap_bpf_scope_constants(o->obj, plan, err);
}

/*
 * Try to load once. Return: 0; 1 if a program was refused and its event was removed from the plan;
 * -errno.
 */
static int try_load(struct tap_bpf_object *o, struct tap_plan *plan,
		    const struct tap_kernel *kernel, struct tap_err *err)
{
	const char *reason = tap_plan_reason(plan);
	struct tap_load_log log;
	struct tap_plan_event *ev;
	int ret;

	o->obj = tap_bpf_open();
	if (!o->obj)
		return tap_err_set(err, -errno, "cannot read the embedded BPF object: %m");
	if (!choose_programs(o->obj, plan, kernel))
		return tap_err_set(
			err, -ENOENT,
			"none of the selected events can be recorded over BPF on this machine%s%s",
			*reason ? ": " : "", reason);
	ret = size_maps(o, plan) ?: tap_bpf_chain_prepare(o->obj, plan);
	if (ret)
		return tap_err_set(err, ret, "cannot set the sizes of the BPF maps: %s",
				   strerror(-ret));
	ret = set_constants(o, plan, kernel, err);
	if (ret)
		return ret;
	ret = tap_bpf_load_logged(o->obj, &log);
	ev = ret && log.program[0] ? tap_bpf_event_of(plan, log.program) : NULL;
	if (!ret || !ev || ret == -EPERM)
		return ret ? tap_err_set(err, ret, "cannot load the BPF programs: %s%s%s",
					 tap_refusal(TAP_STEP_BPF, ret).text,
					 log.reason[0] ? ": " : "", log.reason)
			   : 0;
	tap_plan_outcome(ev, TAP_EVENT_FAILED, "the kernel refused its BPF program: %s",
			 log.reason);
	return 1;
}

int tap_bpf_load(struct tap_bpf_object *o, struct tap_plan *plan, const struct tap_kernel *kernel,
		 struct tap_err *err)
{
	int ret;

	if (!tap_cap_for_bpf())
		return tap_err_set(err, -EPERM, "%s", tap_refusal_why(TAP_STEP_BPF, EPERM));
	*o = (struct tap_bpf_object){ 0 };
	do {
		ret = try_load(o, plan, kernel, err);
		/* the rings' map is one contiguous allocation; a BPF ring buffer may still fit */
		if ((ret == -ENOMEM || ret == -E2BIG) && !o->ringbuf) {
			o->ringbuf = true;
			ret = 1;
		}
		if (ret) {
			bpf_object__close(o->obj);
			o->obj = NULL;
		}
	} while (ret > 0);
	return ret;
}
