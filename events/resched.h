/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests to reschedule, and the beginning and end of __schedule(). */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_resched
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE resched

#if !defined(_SCHEDTAP_EVENTS_RESCHED_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_RESCHED_H

#include <linux/tracepoint.h>

/*
 * sched_entry: __schedule() begins.
 *
 * Source: sched_entry_tp (v6.14), __schedule() in kernel/sched/core.c.
 */
TRACE_EVENT(sched_entry,
	TP_PROTO(bool preempt),
	TP_ARGS(preempt),

	TP_STRUCT__entry(
		__array(char, comm, 16)		/* of the current task */
		__field(s32, pid)
		__field(s32, preempt)		/* 1: preempted, 0: called schedule() */
	),

	TP_fast_assign(
		tp_comm(__entry->comm, tp_current());
		__entry->pid = tp_current()->pid;
		__entry->preempt = preempt;
	),

	TP_printk("comm=%s pid=%d preempt=%d", __entry->comm, __entry->pid, __entry->preempt)
);
TRACE_HOOK(sched_entry, sched_entry_tp, TP_PROTO(bool preempt), TP_ARGS(preempt));

/*
 * sched_exit: __schedule() ends, in the context of the task that runs from now on.
 *
 * Source: sched_exit_tp (v6.14), __schedule() in kernel/sched/core.c.
 */
TRACE_EVENT(sched_exit,
	TP_PROTO(bool is_switch),
	TP_ARGS(is_switch),

	TP_STRUCT__entry(
		__array(char, comm, 16)		/* of the current task */
		__field(s32, pid)
		__field(s32, is_switch)		/* 1: another task runs now, 0: the same one */
	),

	TP_fast_assign(
		tp_comm(__entry->comm, tp_current());
		__entry->pid = tp_current()->pid;
		__entry->is_switch = is_switch;
	),

	TP_printk("comm=%s pid=%d is_switch=%d", __entry->comm, __entry->pid,
		  __entry->is_switch)
);
TRACE_HOOK(sched_exit, sched_exit_tp, TP_PROTO(bool is_switch), TP_ARGS(is_switch));

/*
 * sched_set_need_resched: the task that runs on `cpu` was asked to yield.
 *
 * Source: sched_set_need_resched_tp (v6.14), __resched_curr() in kernel/sched/core.c.
 */
TRACE_EVENT(sched_set_need_resched,
	TP_PROTO(struct task_struct *tsk, int cpu, int tif),
	TP_ARGS(tsk, cpu, tif),

	TP_STRUCT__entry(
		__array(char, comm, 16)		/* of the task asked to yield */
		__field(s32, pid)
		__field(s32, cpu)
		__field(s32, tif)		/* thread flag's bit: TIF_NEED_RESCHED or _LAZY */
	),

	TP_fast_assign(
		tp_comm(__entry->comm, tsk);
		__entry->pid = tsk->pid;
		__entry->cpu = cpu;
		__entry->tif = tif;
	),

	TP_printk("comm=%s pid=%d cpu=%d tif=%d", __entry->comm, __entry->pid, __entry->cpu,
		  __entry->tif)
);
TRACE_HOOK(sched_set_need_resched, sched_set_need_resched_tp,
	TP_PROTO(struct task_struct *tsk, int cpu, int tif), TP_ARGS(tsk, cpu, tif));

/*
 * sched_set_state: a task changed its own state. Only the kernel module can record it: the kernel
 * declares this tracepoint as a conditional one, and those are missing in BTF.
 *
 * Source: sched_set_state_tp (v6.14), set_current_state() and others in include/linux/sched.h.
 */
TRACE_EVENT(sched_set_state,
	TP_PROTO(struct task_struct *tsk, int state),
	TP_ARGS(tsk, state),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(s32, pid)
		__field(s32, state)		/* TASK_* bits of include/linux/sched.h */
	),

	TP_fast_assign(
		tp_comm(__entry->comm, tsk);
		__entry->pid = tsk->pid;
		__entry->state = state;
	),

	TP_printk("comm=%s pid=%d state=0x%x", __entry->comm, __entry->pid, __entry->state)
);
TRACE_HOOK(sched_set_state, sched_set_state_tp, TP_PROTO(struct task_struct *tsk, int state),
	TP_ARGS(tsk, state));

#endif
#include <trace/define_trace.h>
