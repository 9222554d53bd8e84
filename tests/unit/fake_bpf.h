/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpf/scope.h and what it includes as user space: a kernel of a few structs, helpers that a test
 * answers, maps that are lists, and constants that can be set.
 */
#ifndef FAKE_BPF_H
#define FAKE_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/glob.h"

#define __ksym
#define __weak

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

struct kernfs_node {
	u64 id;
};
struct cgroup_subsys_state {
	struct cgroup *cgroup;
};
struct cgroup {
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[4];
	struct cgroup_subsys_state self;
};
enum cgroup_subsys_id { cpu_cgrp_id = 1 };
struct css_set {
	struct cgroup *dfl_cgrp;
	struct cgroup_subsys_state *subsys[2];
};
struct cfs_rq {
	int nr;
};
struct sched_entity {
	struct cfs_rq *my_q;
};
struct upid {
	int nr;
};
struct pid {
	unsigned int level;
	struct upid numbers[2];
};
struct task_struct {
	int pid, tgid;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	char comm[16] __attribute__((aligned(8)));
	struct sched_entity se;
	struct css_set *cgroups;
};
struct bpf_iter__task {
	struct {
		void *seq;
	} * meta;
	struct task_struct *task;
};

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name
#define BPF_PROG(name, args...) name(args)
#define BPF_CORE_READ_1(p, a) (p)->a
#define BPF_CORE_READ_2(p, a, b) (p)->a->b
#define BPF_CORE_READ_N(a, b, n, ...) BPF_CORE_READ_##n
#define BPF_CORE_READ(p, members...) BPF_CORE_READ_N(members, 2, 1)(p, members)
#define bpf_core_field_offset(type, member) offsetof(type, member)
#define bpf_core_enum_value(type, value) value
#define bpf_probe_read_kernel(to, size, from) memcpy(to, from, size)
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_type_id_kernel(type) 0
#define bpf_core_read(to, size, from) memcpy(to, from, size)
#define bpf_map_lookup_elem(map, key) fake_value(map, *(key))
#define bpf_map_update_elem(map, key, value, flags) fake_add(map, *(key), *(const u8 *)(value))
#define bpf_map_delete_elem(map, key) fake_remove(map, *(key))
#define bpf_get_smp_processor_id() fake_cpu
#define bpf_get_current_task_btf() fake_current
#define bpf_seq_write(seq, from, size) ((void)(seq), memcpy(&fake_row, from, size))

static u32 fake_cpu;
static struct task_struct *fake_current;
static struct {
	long no_task;
} tap_missed;

static struct fake_entry {
	const void *map; /* NULL: free */
	u64 key;
	u8 value;
} fake_entries[16];

static struct fake_entry *fake_find(const void *map, u64 key)
{
	for (size_t i = 0; i < sizeof(fake_entries) / sizeof(*fake_entries); i++)
		if (fake_entries[i].map == map && (!map || fake_entries[i].key == key))
			return &fake_entries[i];
	return NULL;
}

/* The only array. */
static const void *fake_array_map;
static u64 fake_array[1 << 12];

static void *fake_value(const void *map, u64 key)
{
	struct fake_entry *e = fake_find(map, key);

	return map == fake_array_map ? &fake_array[key] : e ? (void *)&e->value : NULL;
}

/* Return: as the kernel's: below 0 where there is no room. */
static int fake_add(const void *map, u64 key, u8 value)
{
	struct fake_entry *e = fake_find(map, key) ?: fake_find(NULL, 0);

	if (e)
		*e = (struct fake_entry){ map, key, value };
	return e ? 0 : -1;
}

static void fake_remove(const void *map, u64 key)
{
	struct fake_entry *e = fake_find(map, key);

	if (e)
		e->map = NULL;
}

#include "task_row.h"
static struct tap_task_row fake_row; /* the last that the iterator wrote */

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* programs have no prototypes */
#define const /* what is constant to the programs is set by their loader */
#include "scope.h"
void *bpf_rdonly_cast(const void *address, u32 btf_type)
{
	(void)btf_type;
	return address;
}
#undef const

#endif
