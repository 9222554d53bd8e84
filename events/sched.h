/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Context switches, wakeups, migrations, and the beginning and end of tasks. These are the kernel's
 * own events of the sched system; fields and print format are those of v6.18, except that
 * sched_switch has two more fields at its end.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE sched

#if !defined(_SCHEDTAP_EVENTS_SCHED_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_SCHED_H

#include <linux/tracepoint.h>

/*
 * sched_switch: the CPU switches from task prev to task next.
 *
 * prev_state is one of the bits named in the print format, or 0 (R) if prev could run on. Bit 0x100
 * ("+") means that prev was preempted.
 *
 * next_queued_ns is the time from when next was put into this CPU's run queue until the switch, by
 * the run queue's clock: rq->clock - next->sched_info.last_queued. 4294967295 (U32_MAX): not known,
 * because the kernel stored no time of queueing (next is the idle task, or was preempted on its way
 * to sleep), or because it is 4.29 s or longer. The number is a lower bound: the kernel does not
 * update rq->clock if a wakeup has just asked for the switch (rq_clock_skip_update()), so it is 0
 * for nearly all wakeups of an idle CPU.
 *
 * next_delay_ns has the low 32 bits of next->sched_info.run_delay: the time, ns, that next spent in
 * run queues before, without next_queued_ns. The two numbers of a switch add up to next_delay_ns of
 * the task's next switch-in, except if the task is moved while the kernel counts it as queued:
 * while it waits, or (since v6.12) while it sleeps and its dequeue is delayed.
 *
 * Both are absent in kernels without CONFIG_SCHED_INFO, and next_queued_ns also in kernels without
 * CONFIG_FAIR_GROUP_SCHED. The kernel's own sched_switch has neither of them.
 *
 * Source: sched:sched_switch, __trace_sched_switch_state(); sched_info_arrive(), which updates
 * sched_info after the tracepoint.
 */
#define TP_TASK_REPORT (0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040)
#define TP_TASK_REPORT_MAX ((TP_TASK_REPORT + 1) << 1)

TRACE_EVENT(sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state),

	TP_STRUCT__entry(
		__array(char, prev_comm, 16)
		__field(pid_t, prev_pid)
		__field(int, prev_prio)		/* 0..139: below 100 real-time; -1: deadline */
		__field(long, prev_state)
		__array(char, next_comm, 16)
		__field(pid_t, next_pid)
		__field(int, next_prio)
		__field(u32, next_queued_ns)	/* U32_MAX: not known */
		__field(u32, next_delay_ns)	/* wraps around */
	),

	TP_fast_assign(
		tp_comm(__entry->prev_comm, prev);
		__entry->prev_pid = prev->pid;
		__entry->prev_prio = prev->prio;
		__entry->prev_state = tp_switch_state(preempt, prev_state, prev);
		tp_comm(__entry->next_comm, next);
		__entry->next_pid = next->pid;
		__entry->next_prio = next->prio;
		__entry->next_queued_ns = tp_queued_ns(prev, next);
		__entry->next_delay_ns = tp_delay_ns(next);
	),

	TP_printk("prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d next_queued_ns=%u next_delay_ns=%u",
		  __entry->prev_comm, __entry->prev_pid, __entry->prev_prio,
		  (__entry->prev_state & (TP_TASK_REPORT_MAX - 1)) ?
		  __print_flags(__entry->prev_state & (TP_TASK_REPORT_MAX - 1), "|",
				{ 0x00000001, "S" }, { 0x00000002, "D" }, { 0x00000004, "T" },
				{ 0x00000008, "t" }, { 0x00000010, "X" }, { 0x00000020, "Z" },
				{ 0x00000040, "P" }, { 0x00000080, "I" }) : "R",
		  __entry->prev_state & TP_TASK_REPORT_MAX ? "+" : "",
		  __entry->next_comm, __entry->next_pid, __entry->next_prio,
		  __entry->next_queued_ns, __entry->next_delay_ns)
);
TRACE_HOOK(sched_switch, sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state));
TRACE_NEEDS(sched_switch, next_queued_ns, "sched_info.last_queued");
TRACE_NEEDS(sched_switch, next_queued_ns, "sched_entity.cfs_rq");
TRACE_NEEDS(sched_switch, next_delay_ns, "sched_info.run_delay");

DECLARE_EVENT_CLASS(sched_wakeup_template,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(pid_t, pid)
		__field(int, prio)
		__field(int, target_cpu)	/* sched_waking: the CPU where the task ran last */
	),

	TP_fast_assign(
		tp_comm(__entry->comm, p);
		__entry->pid = p->pid;
		__entry->prio = p->prio;
		__entry->target_cpu = tp_task_cpu(p);
	),

	TP_printk("comm=%s pid=%d prio=%d target_cpu=%03d", __entry->comm, __entry->pid,
		  __entry->prio, __entry->target_cpu)
);

/* sched_waking: a wakeup begins, in the waker's context. Source: sched:sched_waking. */
DEFINE_EVENT(sched_wakeup_template, sched_waking, TP_PROTO(struct task_struct *p), TP_ARGS(p));
TRACE_HOOK(sched_waking, sched_waking, TP_PROTO(struct task_struct *p), TP_ARGS(p));
/* sched_wakeup_new: a new task becomes runnable. Source: sched:sched_wakeup_new. */
DEFINE_EVENT(sched_wakeup_template, sched_wakeup_new, TP_PROTO(struct task_struct *p),
	TP_ARGS(p));
TRACE_HOOK(sched_wakeup_new, sched_wakeup_new, TP_PROTO(struct task_struct *p), TP_ARGS(p));

/* sched_migrate_task: a task moves to another CPU. Source: sched:sched_migrate_task. */
TRACE_EVENT(sched_migrate_task,
	TP_PROTO(struct task_struct *p, int dest_cpu),
	TP_ARGS(p, dest_cpu),

	TP_STRUCT__entry(
		__string(comm, p->comm)
		__field(pid_t, pid)
		__field(int, prio)
		__field(int, orig_cpu)
		__field(int, dest_cpu)
	),

	TP_fast_assign(
		__assign_str(comm, p->comm);
		__entry->pid = p->pid;
		__entry->prio = p->prio;
		__entry->orig_cpu = tp_task_cpu(p);
		__entry->dest_cpu = dest_cpu;
	),

	TP_printk("comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d", __get_str(comm),
		  __entry->pid, __entry->prio, __entry->orig_cpu, __entry->dest_cpu)
);
TRACE_HOOK(sched_migrate_task, sched_migrate_task,
	TP_PROTO(struct task_struct *p, int dest_cpu), TP_ARGS(p, dest_cpu));

/*
 * sched_process_fork: a task was created; it is not runnable yet. Source: sched:sched_process_fork.
 */
TRACE_EVENT(sched_process_fork,
	TP_PROTO(struct task_struct *parent, struct task_struct *child),
	TP_ARGS(parent, child),

	TP_STRUCT__entry(
		__string(parent_comm, parent->comm)
		__field(pid_t, parent_pid)
		__string(child_comm, child->comm)
		__field(pid_t, child_pid)
	),

	TP_fast_assign(
		__assign_str(parent_comm, parent->comm);
		__entry->parent_pid = parent->pid;
		__assign_str(child_comm, child->comm);
		__entry->child_pid = child->pid;
	),

	TP_printk("comm=%s pid=%d child_comm=%s child_pid=%d", __get_str(parent_comm),
		  __entry->parent_pid, __get_str(child_comm), __entry->child_pid)
);
TRACE_HOOK(sched_process_fork, sched_process_fork,
	TP_PROTO(struct task_struct *parent, struct task_struct *child), TP_ARGS(parent, child));

/*
 * sched_process_exec: a task executed a new program; filename is truncated to 255 bytes.
 *
 * Source: sched:sched_process_exec.
 */
TRACE_EVENT(sched_process_exec,
	TP_PROTO(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm),
	TP_ARGS(p, old_pid, bprm),

	TP_STRUCT__entry(
		__string(filename, bprm->filename)
		__field(pid_t, pid)
		__field(pid_t, old_pid)		/* differs if a non-leader thread called exec */
	),

	TP_fast_assign(
		__assign_str(filename, bprm->filename);
		__entry->pid = p->pid;
		__entry->old_pid = old_pid;
	),

	TP_printk("filename=%s pid=%d old_pid=%d", __get_str(filename), __entry->pid,
		  __entry->old_pid)
);
TRACE_HOOK(sched_process_exec, sched_process_exec,
	TP_PROTO(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm),
	TP_ARGS(p, old_pid, bprm));

/*
 * sched_process_exit: a task exits. group_dead: it is the last thread of its process. This is
 * computed from signal->live, because the tracepoint does not pass it before v6.16.
 *
 * Source: sched:sched_process_exit.
 */
TRACE_EVENT(sched_process_exit,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(pid_t, pid)
		__field(int, prio)
		__field(bool, group_dead)
	),

	TP_fast_assign(
		tp_comm(__entry->comm, p);
		__entry->pid = p->pid;
		__entry->prio = p->prio;
		__entry->group_dead = tp_task_group_dead(p);
	),

	TP_printk("comm=%s pid=%d prio=%d group_dead=%s", __entry->comm, __entry->pid,
		  __entry->prio, __entry->group_dead ? "true" : "false")
);
TRACE_HOOK(sched_process_exit, sched_process_exit, TP_PROTO(struct task_struct *p), TP_ARGS(p));

/*
 * sched_pi_setprio: priority inheritance changes a task's priority, because of the tasks that wait
 * for a mutex which it owns: it gets the priority of the first waiter if that is higher than its
 * own, or else its own back. Recorded before the change.
 *
 * Source: sched:sched_pi_setprio, rt_mutex_setprio().
 */
TRACE_EVENT(sched_pi_setprio,
	TP_PROTO(struct task_struct *tsk, struct task_struct *pi_task),
	TP_ARGS(tsk, pi_task),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(pid_t, pid)
		__field(int, oldprio)		/* 0..139: below 100 real-time; -1: deadline */
		__field(int, newprio)
	),

	TP_fast_assign(
		tp_comm(__entry->comm, tsk);
		__entry->pid = tsk->pid;
		__entry->oldprio = tsk->prio;
		__entry->newprio = pi_task && pi_task->prio < tsk->normal_prio ? pi_task->prio : tsk->normal_prio;
	),

	TP_printk("comm=%s pid=%d oldprio=%d newprio=%d", __entry->comm, __entry->pid, __entry->oldprio, __entry->newprio)
);
TRACE_HOOK(sched_pi_setprio, sched_pi_setprio, TP_PROTO(struct task_struct *tsk, struct task_struct *pi_task), TP_ARGS(tsk, pi_task));

#endif
#include <trace/define_trace.h>
