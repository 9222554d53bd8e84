/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The set of tasks selected by -p and -t. It cannot be a set of pids: a pid may be reused before
 * the task that had it was switched out for the last time, and a task has a different pid in each
 * pid namespace. So the set contains addresses of task_structs, which are unique until
 * sched_process_free. An iterator over the tasks that the recorder can see fills it once, using
 * their pids in the recorder's namespace.
 */
#ifndef TAP_BPF_TASKS_H
#define TAP_BPF_TASKS_H

#include "scope_bits.h"
#include "task_row.h"

/* All filters in one word, so that an unfiltered recording checks a single constant per event. */
const volatile u32 tap_scope = 0;
const volatile bool tap_follow = false;

enum tap_task_how { TAP_TASK_FOUND = 1, TAP_TASK_BORN };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* the loader sets it to the machine's maximum number of tasks */
	__type(key, u64);
	__type(value, u8);
} tap_tasks SEC(".maps");

/* Arguments of -p and -t, in the recorder's pid namespace. */
struct tap_id_set {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u8);
};
struct tap_id_set tap_tgids SEC(".maps");
struct tap_id_set tap_tids SEC(".maps");

static __always_inline bool tap_task_in_set(struct task_struct *p)
{
	u64 key = (u64)p;

	return bpf_map_lookup_elem(&tap_tasks, &key);
}

static __always_inline void tap_task_add(struct task_struct *p, u8 how)
{
	u64 key = (u64)p;

	if (bpf_map_update_elem(&tap_tasks, &key, &how, BPF_ANY))
		__sync_fetch_and_add(&tap_missed.no_task, 1);
}

static __always_inline void tap_task_remove(struct task_struct *p)
{
	u64 key = (u64)p;

	bpf_map_delete_elem(&tap_tasks, &key);
}

/*
 * Called for a new task that is not selected. If its address is in the set, it is that of an
 * earlier task whose sched_process_free was missed, so remove it. Entries that the iterator added
 * stay, because it may have found this very task.
 */
static __always_inline void tap_task_remove_last(struct task_struct *p)
{
	u64 key = (u64)p;
	u8 *how = bpf_map_lookup_elem(&tap_tasks, &key);

	if (how && *how == TAP_TASK_BORN)
		bpf_map_delete_elem(&tap_tasks, &key);
}

/* Return a task's pid in the pid namespace of that level; 0: the task has none there. */
static __always_inline u32 tap_task_nr(struct task_struct *p, u32 level)
{
	struct pid *pid = BPF_CORE_READ(p, thread_pid);
	struct upid *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	if (!pid || level > BPF_CORE_READ(pid, level))
		return 0;
	/*
	 * Not numbers[level].nr: the element's size would be that of the struct declared here, not
	 * the kernel's.
	 */
	return BPF_CORE_READ(
		(struct upid *)((void *)numbers + level * bpf_core_type_size(struct upid)), nr);
}

static __always_inline bool tap_row_wanted(const struct tap_task_row *row)
{
	if ((tap_scope & TAP_BY_TGID) && !bpf_map_lookup_elem(&tap_tgids, &row->own_tgid))
		return false;
	return !(tap_scope & TAP_BY_TID) || bpf_map_lookup_elem(&tap_tids, &row->own_pid);
}

/* The kernel's iterator visits only tasks in the recorder's pid namespace and its children. */
SEC("iter/task")
int tap_each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct tap_task_row row = {};
	u32 level;

	if (!p)
		return 0;
	level = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid, level);
	row.pid = p->pid;
	row.tgid = p->tgid;
	row.own_pid = tap_task_nr(p, level);
	row.own_tgid = tap_task_nr(BPF_CORE_READ(p, group_leader), level);
	bpf_core_read(row.comm, sizeof(row.comm), &p->comm);
	if ((tap_scope & TAP_BY_TASK) && tap_row_wanted(&row)) {
		tap_task_add(p, TAP_TASK_FOUND);
		/* Already released: sched_process_free may have fired before the task was added. */
		if (!BPF_CORE_READ(p, thread_pid))
			tap_task_remove(p);
	}
	bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}

/*
 * A new thread of a selected process is selected, and with --follow a new child too. Uses
 * task_newtask because the kernel also creates threads in a process (io_uring workers) without
 * sched_process_fork.
 */
SEC("tp_btf/task_newtask")
int BPF_PROG(tap_task_comes, struct task_struct *task)
{
	struct task_struct *parent = bpf_get_current_task_btf();

	if ((tap_follow || task->tgid == parent->tgid) && tap_task_in_set(parent))
		tap_task_add(task, TAP_TASK_BORN);
	else
		tap_task_remove_last(task);
	return 0;
}

/* Fires after the task's last context switch and after its pid was freed. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(tap_task_goes, struct task_struct *task)
{
	tap_task_remove(task);
	return 0;
}

#endif
