/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Creation of tasks, and whether a thread or a process is created. This is the kernel's own event
 * of the task system, with the fields and the print format of v6.18.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM task
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE task

#if !defined(_SCHEDTAP_EVENTS_TASK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_TASK_H

#include <linux/tracepoint.h>

/*
 * task_newtask: the current task creates a task: a thread of its own process if clone_flags has
 * CLONE_THREAD (0x10000), else a process. The new task is not runnable yet. sched_process_fork
 * follows, except for threads that the kernel creates on behalf of a process (such as io_uring's).
 *
 * Source: task:task_newtask, copy_process().
 */
TRACE_EVENT(task_newtask,
	TP_PROTO(struct task_struct *task, u64 clone_flags),
	TP_ARGS(task, clone_flags),

	TP_STRUCT__entry(
		__field(pid_t, pid)
		__array(char, comm, 16)
		__field(u64, clone_flags)
		__field(short, oom_score_adj)	/* -1000..1000 */
	),

	TP_fast_assign(
		__entry->pid = task->pid;
		tp_comm(__entry->comm, task);
		__entry->clone_flags = clone_flags;
		__entry->oom_score_adj = task->signal->oom_score_adj;
	),

	TP_printk("pid=%d comm=%s clone_flags=%llx oom_score_adj=%hd", __entry->pid, __entry->comm,
		  __entry->clone_flags, __entry->oom_score_adj)
);
TRACE_HOOK(task_newtask, task_newtask, TP_PROTO(struct task_struct *task, u64 clone_flags),
	TP_ARGS(task, clone_flags));

#endif
#include <trace/define_trace.h>
