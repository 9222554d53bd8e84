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
#include "cast.h"
#include "cgroup.h"
#include "comm.h"
#include "tasks.h"

#define TAP_SCOPE_MAX_CGROUPS 16
#define TAP_CGROUP_CACHE_BITS 12

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
 * Says of each cgroup whether it is selected: the low 48 bits of the struct cgroup's address, then
 * 16 bits that are 1 or 0. An entry is one word, so that no CPU sees half of it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << TAP_CGROUP_CACHE_BITS);
	__type(key, u32);
	__type(value, u64);
} tap_cgroup_cache SEC(".maps");

static __always_inline bool tap_cgroup_in_scope(struct cgroup *cgrp)
{
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

static __always_inline u64 *tap_cached_cgroup(u64 address)
{
	u32 i = (u32)(address >> 6) * 0x9e3779b1u >> (32 - TAP_CGROUP_CACHE_BITS);

	return bpf_map_lookup_elem(&tap_cgroup_cache, &i);
}

static __always_inline bool tap_cgroup_wanted(u64 address)
{
	u64 *cached = tap_cached_cgroup(address), entry = cached ? *(volatile u64 *)cached : 0;
	bool wanted;

	if (!((entry ^ address << 16) >> 16))
		return entry & 1;
	wanted = tap_cgroup_in_scope((struct cgroup *)address);
	if (cached)
		*(volatile u64 *)cached = address << 16 | wanted;
	return wanted;
}

/*
 * A cgroup that is released has no tasks any more, and a later one may have the same address. No
 * program still looks at the old one: its tasks and their cgroup sets are gone, and an RCU grace
 * period was over before.
 */
SEC("tp_btf/cgroup_release")
int BPF_PROG(tap_cgroup_goes, struct cgroup *cgrp)
{
	u64 *cached = tap_cached_cgroup(tap_number_at(&cgrp->self.cgroup));

	if (cached)
		*(volatile u64 *)cached = 0;
	return 0;
}

static __always_inline bool tap_comm_wanted(struct task_struct *p)
{
	char comm[TAP_COMM_LEN];

	tp_comm(comm, p);
	return tap_glob_matches(&tap_comms, comm, TAP_COMM_LEN);
}

/* Generated programs leave 32 bytes of the stack to the functions that they call (own.h). */
static __always_inline bool tap_task_wanted(struct task_struct *p)
{
	return (!(tap_scope & TAP_BY_TASK) || tap_task_in_set(p)) &&
	       (!(tap_scope & TAP_BY_COMM) || tap_comm_wanted(p)) &&
	       (!(tap_scope & TAP_BY_CGROUP) || tap_cgroup_wanted(tap_number_at(tap_cgroup_at(p))));
}

/* ---- the same for a task that the verifier does not trust ---- */

static __always_inline bool tap_comm_wanted_probed(struct task_struct *p)
{
	char comm[TAP_COMM_LEN];

	bpf_core_read(comm, sizeof(comm), &p->comm);
	return tap_glob_matches(&tap_comms, comm, TAP_COMM_LEN);
}

static __always_inline u64 tap_cgroup_probed(struct task_struct *p)
{
	void *css = (void *)BPF_CORE_READ(p, cgroups) +
		    bpf_core_field_offset(struct css_set, subsys) +
		    bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id) * sizeof(void *);

	if (!tap_by_cpu_controller)
		return (u64)BPF_CORE_READ(p, cgroups, dfl_cgrp);
	bpf_probe_read_kernel(&css, sizeof(css), css);
	return (u64)BPF_CORE_READ((struct cgroup_subsys_state *)css, cgroup);
}

static __always_inline bool tap_task_wanted_probed(struct task_struct *p)
{
	return (!(tap_scope & TAP_BY_TASK) || tap_task_in_set(p)) &&
	       (!(tap_scope & TAP_BY_COMM) || tap_comm_wanted_probed(p)) &&
	       (!(tap_scope & TAP_BY_CGROUP) || tap_cgroup_wanted(tap_cgroup_probed(p)));
}

static __always_inline bool tap_se_wanted(struct sched_entity *se)
{
	return !se->my_q && (tap_has_cast ? tap_task_wanted(tap_cast_task(tap_se_task(se)))
					  : tap_task_wanted_probed(tap_se_task(se)));
}

/* Some tracepoints may pass NULL; since v6.13 the verifier knows which and demands a check. */
static __always_inline bool tap_task_arg_wanted(struct task_struct *p, struct task_struct *current)
{
	return p && p != current && tap_task_wanted(p);
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
		struct task_struct *: tap_task_arg_wanted(TAP_IF_TYPE(struct task_struct *, arg),  \
							  current),                                \
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

/* A variable "current" must be there: the current task. */
/* clang-format off */
#define TAP_WANTED(args...)                                                                        \
	(!tap_scope ||                                                                             \
	 ((!(tap_scope & TAP_BY_CPU) || tap_cpu_wanted()) &&                                       \
	  (!(tap_scope & ~TAP_BY_CPU) || tap_task_wanted(current) || (TAP_ANY(args)))))
/* clang-format on */

#endif
