/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What kind of task is made: the kernel's own event of the task system, field by field and word by word as
 * v6.18 has it.
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
 * task_newtask: the current task makes one; with CLONE_THREAD (0x10000) a thread of its own process, else
 * a process. Not yet runnable; sched_process_fork follows, but not for threads that the kernel makes in a process's name.
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
