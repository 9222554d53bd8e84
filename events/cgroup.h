/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Creation of cgroups, and tasks that move between them. These are the kernel's own events; fields
 * and print format are those of v6.18 unless noted. They are rare and are added to every recording
 * that has sched_switch, because the filter -g means the cgroup that a task was in at that time.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cgroup
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE cgroup

#if !defined(_SCHEDTAP_EVENTS_CGROUP_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_CGROUP_H

#include <linux/tracepoint.h>

/*
 * cgroup_attach_task: the task pid moved to cgroup dst_id; if threadgroup is 1, all threads of its
 * process moved.
 *
 * Source: cgroup:cgroup_attach_task, cgroup_attach_task() in kernel/cgroup/cgroup.c. The kernel's
 * record does not say whether all threads moved; the field `threadgroup` is added here.
 */
TRACE_EVENT(cgroup_attach_task,
	TP_PROTO(struct cgroup *dst_cgrp, const char *path, struct task_struct *task, bool threadgroup),
	TP_ARGS(dst_cgrp, path, task, threadgroup),

	TP_STRUCT__entry(
		__field(int, dst_root)		/* hierarchy id (/proc/PID/cgroup); 0: cgroup v2 */
		__field(int, dst_level)		/* 0: the hierarchy's root */
		__field(u64, dst_id)		/* kernfs id */
		__field(int, pid)		/* thread id */
		__string(dst_path, path)	/* below the hierarchy's root */
		__string(comm, task->comm)
		__field(u8, threadgroup)	/* 1: all threads of its process moved */
	),

	TP_fast_assign(
		__entry->dst_root = dst_cgrp->root->hierarchy_id;
		__entry->dst_level = dst_cgrp->level;
		__entry->dst_id = dst_cgrp->kn->id;
		__entry->pid = task->pid;
		__assign_str(dst_path, path);
		__assign_str(comm, task->comm);
		__entry->threadgroup = threadgroup;
	),

	TP_printk("dst_root=%d dst_id=%llu dst_level=%d dst_path=%s pid=%d comm=%s threadgroup=%u", __entry->dst_root,
		  __entry->dst_id, __entry->dst_level, __get_str(dst_path), __entry->pid, __get_str(comm),
		  __entry->threadgroup)
);
TRACE_HOOK(cgroup_attach_task, cgroup_attach_task,
	TP_PROTO(struct cgroup *dst_cgrp, const char *path, struct task_struct *task, bool threadgroup),
	TP_ARGS(dst_cgrp, path, task, threadgroup));

/*
 * cgroup_mkdir: a cgroup was created.
 *
 * Source: cgroup:cgroup_mkdir, cgroup_mkdir() in kernel/cgroup/cgroup.c.
 */
TRACE_EVENT(cgroup_mkdir,
	TP_PROTO(struct cgroup *cgrp, const char *path),
	TP_ARGS(cgrp, path),

	TP_STRUCT__entry(
		__field(int, root)		/* hierarchy id; 0: cgroup v2 */
		__field(int, level)		/* 1: directly below the hierarchy's root */
		__field(u64, id)		/* kernfs id */
		__string(path, path)		/* path relative to the hierarchy's root */
	),

	TP_fast_assign(
		__entry->root = cgrp->root->hierarchy_id;
		__entry->level = cgrp->level;
		__entry->id = cgrp->kn->id;
		__assign_str(path, path);
	),

	TP_printk("root=%d id=%llu level=%d path=%s", __entry->root, __entry->id, __entry->level, __get_str(path))
);
TRACE_HOOK(cgroup_mkdir, cgroup_mkdir, TP_PROTO(struct cgroup *cgrp, const char *path), TP_ARGS(cgrp, path));

#endif
#include <trace/define_trace.h>
