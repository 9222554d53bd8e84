/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * New names of tasks. This is the kernel's own event of the task system, with the fields and the
 * print format of v6.18.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM task
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE rename

#if !defined(_SCHEDTAP_EVENTS_RENAME_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_RENAME_H

#include <linux/tracepoint.h>

/*
 * task_rename: a task gets a new name (comm): it executes a program, or someone sets the name, with
 * prctl(PR_SET_NAME) or through /proc/PID/comm.
 *
 * Source: task:task_rename, __set_task_comm().
 */
TRACE_EVENT(task_rename,
	TP_PROTO(struct task_struct *task, const char *comm),
	TP_ARGS(task, comm),

	TP_STRUCT__entry(
		__field(pid_t, pid)
		__array(char, oldcomm, 16)
		__array(char, newcomm, 16)
		__field(short, oom_score_adj)	/* -1000..1000 */
	),

	TP_fast_assign(
		__entry->pid = task->pid;
		tp_comm(__entry->oldcomm, task);
		strscpy(__entry->newcomm, comm, 16);
		__entry->oom_score_adj = task->signal->oom_score_adj;
	),

	TP_printk("pid=%d oldcomm=%s newcomm=%s oom_score_adj=%hd", __entry->pid, __entry->oldcomm,
		  __entry->newcomm, __entry->oom_score_adj)
);
TRACE_HOOK(task_rename, task_rename, TP_PROTO(struct task_struct *task, const char *comm),
	TP_ARGS(task, comm));

#endif
#include <trace/define_trace.h>
