/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cgroup of a task that -g and the tally mean. */
#ifndef TAP_BPF_CGROUP_H
#define TAP_BPF_CGROUP_H

/* true: cgroups are those of a v1 cpu hierarchy */
const volatile bool tap_by_cpu_controller = false;

/*
 * Return where the address of a task's cgroup is. Not p->sched_task_group: for a task in the root
 * cgroup it may be the autogroup of the task's session (CONFIG_SCHED_AUTOGROUP).
 */
static __always_inline struct cgroup **tap_cgroup_at(struct task_struct *p)
{
	struct css_set *set = p->cgroups;
	struct cgroup_subsys_state **css;

	if (!tap_by_cpu_controller)
		return &set->dfl_cgrp;
	css = (void *)set + bpf_core_field_offset(struct css_set, subsys) +
	      bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id) * sizeof(void *);
	return &(*css)->cgroup;
}

#endif
