/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters by CPU, task, command and cgroup, applied before a record is taken. An event is recorded
 * if its CPU is selected and if the current task or any task among the tracepoint's arguments is
 * selected. Each test depends on a constant, so the verifier removes all of them from an unfiltered
 * recording.
 */
#ifndef TAP_BPF_SCOPE_H
#define TAP_BPF_SCOPE_H

#include "base/glob.h"
#include "tasks.h"

#define TAP_SCOPE_MAX_CGROUPS 16

/* true: cgroups are those of a v1 cpu hierarchy */
const volatile bool tap_by_cpu_controller = false;

const volatile u64 tap_cpu_bits[128]; /* selected CPUs, up to 8192 */

#define TAP_COMM_LEN 16
const volatile struct tap_glob tap_comms;

struct tap_cgroup_level {
	u64 id;
	u32 level;
};
const volatile struct tap_cgroup_level tap_cgroup_scope[TAP_SCOPE_MAX_CGROUPS];
const volatile u32 tap_nr_cgroups;

/*
 * Return the task's cgroup in the v1 cpu hierarchy. p->sched_task_group does not do: for a task in
 * the root cgroup it may be the autogroup of the task's session (CONFIG_SCHED_AUTOGROUP).
 */
static __always_inline struct cgroup *tap_cpu_cgroup(struct task_struct *p)
{
	void *css = (void *)BPF_CORE_READ(p, cgroups) +
		    bpf_core_field_offset(struct css_set, subsys) +
		    bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id) * sizeof(void *);

	bpf_probe_read_kernel(&css, sizeof(css), css);
	return BPF_CORE_READ((struct cgroup_subsys_state *)css, cgroup);
}

static __always_inline bool tap_cgroup_wanted(struct task_struct *p)
{
	struct cgroup *cgrp =
		tap_by_cpu_controller ? tap_cpu_cgroup(p) : BPF_CORE_READ(p, cgroups, dfl_cgrp);

	for (u32 i = 0; i < TAP_SCOPE_MAX_CGROUPS && i < tap_nr_cgroups; i++) {
		u32 level = tap_cgroup_scope[i].level;
		struct cgroup *ancestor = NULL;

		if (BPF_CORE_READ(cgrp, level) < (int)level)
			continue;
		bpf_core_read(&ancestor, sizeof(ancestor), &cgrp->ancestors[level]);
		if (BPF_CORE_READ(ancestor, kn, id) == tap_cgroup_scope[i].id)
			return true;
	}
	return false;
}

/* @p may be any task pointer, even one that the verifier does not trust. */
static __always_inline bool tap_task_wanted(struct task_struct *p)
{
	if ((tap_scope & TAP_BY_TASK) && !tap_task_in_set(p))
		return false;
	if (tap_scope & TAP_BY_COMM) {
		char comm[TAP_COMM_LEN] = {};

		bpf_core_read(comm, sizeof(comm), &p->comm);
		if (!tap_glob_matches(&tap_comms, comm, TAP_COMM_LEN))
			return false;
	}
	return !(tap_scope & TAP_BY_CGROUP) || tap_cgroup_wanted(p);
}

static __always_inline bool tap_se_wanted(struct sched_entity *se)
{
	return !se->my_q &&
	       tap_task_wanted((void *)se - bpf_core_field_offset(struct task_struct, se));
}

/* Some tracepoints may pass NULL; since v6.13 the verifier knows which and demands a check. */
static __always_inline bool tap_task_arg_wanted(struct task_struct *p)
{
	return p && tap_task_wanted(p);
}

static __always_inline bool tap_cpu_wanted(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return tap_cpu_bits[cpu / 64 % 128] >> (cpu % 64) & 1;
}

#define TAP_IF_TYPE(T, arg) _Generic((arg), T : (arg), default : (T)0)
/* clang-format off */
#define TAP_ARG_WANTED(arg)                                                                        \
	_Generic((arg),                                                                            \
		struct task_struct *: tap_task_arg_wanted(TAP_IF_TYPE(struct task_struct *, arg)), \
		struct sched_entity *: tap_se_wanted(TAP_IF_TYPE(struct sched_entity *, arg)),     \
		struct cgroup *: true, /* cgroup events pass every task filter */                  \
		default: false)
/* clang-format on */

#define TAP_ANY_1(a) TAP_ARG_WANTED(a)
#define TAP_ANY_2(a, b...) TAP_ARG_WANTED(a) || TAP_ANY_1(b)
#define TAP_ANY_3(a, b...) TAP_ARG_WANTED(a) || TAP_ANY_2(b)
#define TAP_ANY_4(a, b...) TAP_ARG_WANTED(a) || TAP_ANY_3(b)
#define TAP_ANY_5(a, b...) TAP_ARG_WANTED(a) || TAP_ANY_4(b)
#define TAP_ANY_6(a, b...) TAP_ARG_WANTED(a) || TAP_ANY_5(b)
#define TAP_ANY_7(a, b...) TAP_ARG_WANTED(a) || TAP_ANY_6(b)
#define TAP_ANY_8(a, b...) TAP_ARG_WANTED(a) || TAP_ANY_7(b)
#define TAP_ANY_N(a, b, c, d, e, f, g, h, n, ...) TAP_ANY_##n
#define TAP_ANY(args...) TAP_ANY_N(args, 8, 7, 6, 5, 4, 3, 2, 1)(args)

/* clang-format off */
#define TAP_WANTED(args...)                                                                        \
	(!tap_scope ||                                                                             \
	 ((!(tap_scope & TAP_BY_CPU) || tap_cpu_wanted()) &&                                       \
	  (!(tap_scope & ~TAP_BY_CPU) || tap_task_wanted(bpf_get_current_task_btf()) ||            \
	   (TAP_ANY(args)))))
/* clang-format on */

#endif
