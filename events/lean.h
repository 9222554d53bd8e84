/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of lean recordings (schedtap record --lean): short forms of events of other families.
 * Their records bear the names of those events.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lean

#if !defined(_SCHEDTAP_EVENTS_LEAN_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_LEAN_H

#include <linux/tracepoint.h>

/*
 * sched_switch_lean: a sched_switch (sched.h) in 36 bytes, that is recorded without wakeups. The
 * names of the tasks are missing: the recording has the list of tasks, task_newtask and
 * task_rename.
 *
 * prev_delayed: prev goes to sleep, but stays in its run queue (since v6.12, a delayed dequeue). If
 * it is moved to another CPU then, the kernel counts it as queued from the move on, although it
 * sleeps. For all other tasks, next_queued_ns begins with the wakeup, on any CPU.
 *
 * Source: sched:sched_switch, sched_info_enqueue(), dequeue_task_fair().
 */
TRACE_EVENT(sched_switch_lean,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state),

	TP_STRUCT__entry(
		__field(pid_t, prev_pid)
		__field(pid_t, next_pid)
		__field(u32, next_queued_ns)	/* U32_MAX: not known */
		__field(u32, next_delay_ns)	/* wraps around */
		__field(unsigned short, prev_state)
		__field(short, prev_prio)	/* 0..139: below 100 real-time; -1: deadline */
		__field(short, next_prio)
		__field(bool, prev_delayed)
		/* empty: without them trace-cmd hist and KernelShark crash */
		__array(char, prev_comm, 1)
		__array(char, next_comm, 1)
	),

	TP_fast_assign(
		__entry->prev_pid = prev->pid;
		__entry->next_pid = next->pid;
		__entry->next_queued_ns = tp_queued_ns(prev, next);
		__entry->next_delay_ns = tp_delay_ns(next);
		__entry->prev_state = tp_switch_state(preempt, prev_state, prev);
		__entry->prev_prio = prev->prio;
		__entry->next_prio = next->prio;
		__entry->prev_delayed = tp_se_delayed(&prev->se);
		__entry->prev_comm[0] = 0;
		__entry->next_comm[0] = 0;
	),

	TP_printk("prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_pid=%d next_prio=%d next_queued_ns=%u next_delay_ns=%u prev_delayed=%d",
		  __entry->prev_pid, __entry->prev_prio,
		  (__entry->prev_state & (TP_TASK_REPORT_MAX - 1)) ?
		  __print_flags(__entry->prev_state & (TP_TASK_REPORT_MAX - 1), "|",
				{ 0x00000001, "S" }, { 0x00000002, "D" }, { 0x00000004, "T" },
				{ 0x00000008, "t" }, { 0x00000010, "X" }, { 0x00000020, "Z" },
				{ 0x00000040, "P" }, { 0x00000080, "I" }) : "R",
		  __entry->prev_state & TP_TASK_REPORT_MAX ? "+" : "",
		  __entry->next_pid, __entry->next_prio, __entry->next_queued_ns,
		  __entry->next_delay_ns, __entry->prev_delayed)
);
TRACE_HOOK(sched_switch_lean, sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state));
TRACE_FORM_OF(sched_switch_lean, sched_switch);
TRACE_NEEDS(sched_switch_lean, , "sched_info.last_queued");
TRACE_NEEDS(sched_switch_lean, , "sched_info.run_delay");
TRACE_NEEDS(sched_switch_lean, , "cfs_rq.rq");

#endif
#include <trace/define_trace.h>
