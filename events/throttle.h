/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tasks that could run but are throttled, because their cgroup's quota, their own budget (deadline
 * tasks) or the real-time tasks' share of the CPU is used up. The kernel has no tracepoint for
 * that: these events are recorded at other tracepoints, where the kernel's data says whether a task
 * is throttled.
 *
 *   by		what is used up: quota: cpu.max; deadline: the task's own budget; real-time:
 * 		sched_rt_runtime_us
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_throttle
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE throttle

#if !defined(_SCHEDTAP_EVENTS_THROTTLE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_THROTTLE_H

#include <linux/tracepoint.h>

/*
 * sched_throttle: a task is throttled from now on. Recorded just before the sched_switch at which
 * the task leaves its CPU. Before v6.18, where whole queues are throttled, also recorded for each
 * task that waits in a queue that was throttled.
 *
 * Source: sched_switch; throttle_cfs_rq_work() (throttle_cfs_rq() before v6.18) in
 * kernel/sched/fair.c, update_curr_dl_se() in kernel/sched/deadline.c, sched_rt_runtime_exceeded()
 * in kernel/sched/rt.c.
 */
TRACE_EVENT_CONDITION(sched_throttle,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state),
	TP_CONDITION((preempt || !prev_state) && tp_throttles(prev)),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(s32, pid)
		__field(u32, by)	/* 1: quota, 2: deadline, 3: real-time */
	),

	TP_fast_assign(
		tp_any_comm(__entry->comm, prev);
		__entry->pid = tp_any_pid(prev);
		__entry->by = tp_throttled_by(prev);
	),

	TP_printk("comm=%s pid=%d by=%s", __entry->comm, __entry->pid,
		  __print_symbolic(__entry->by, { 1, "quota" }, { 2, "deadline" }, { 3, "real-time" }))
);
TRACE_HOOK(sched_throttle, sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, tp_throttle_queue(prev, next), next, prev_state));
TRACE_NEEDS(sched_throttle, , "cfs_rq.throttle_count");
TRACE_NEEDS(sched_throttle, , "sched_entity.cfs_rq");

/*
 * sched_throttle_wakeup: a task is woken and is throttled from now on. Recorded for a fair task
 * woken into a throttled queue (before v6.18 only), for a deadline task woken before its next
 * period, and for a real-time task woken on a CPU whose real-time share is used up. Since v6.18 a
 * woken fair task runs until it returns to user space and is throttled there (sched_throttle).
 *
 * Source: sched_wakeup; enqueue_task_fair(), enqueue_task_dl().
 */
TRACE_EVENT_CONDITION(sched_throttle_wakeup,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p),
	TP_CONDITION(tp_throttles(p)),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(s32, pid)
		__field(u32, by)	/* 1: quota, 2: deadline, 3: real-time */
	),

	TP_fast_assign(
		tp_any_comm(__entry->comm, p);
		__entry->pid = tp_any_pid(p);
		__entry->by = tp_throttled_by(p);
	),

	TP_printk("comm=%s pid=%d by=%s", __entry->comm, __entry->pid,
		  __print_symbolic(__entry->by, { 1, "quota" }, { 2, "deadline" }, { 3, "real-time" }))
);
TRACE_HOOK(sched_throttle_wakeup, sched_wakeup, TP_PROTO(struct task_struct *p), TP_ARGS(p));
TRACE_NEEDS(sched_throttle_wakeup, , "cfs_rq.throttle_count");
TRACE_NEEDS(sched_throttle_wakeup, , "sched_entity.cfs_rq");

/*
 * sched_unthrottle: a task for which sched_throttle or sched_throttle_wakeup was recorded may run
 * again. Recorded when one of the timers that refill quotas and budgets has expired, on that
 * timer's CPU. If the task belongs to another CPU, an interrupt enqueues it there some microseconds
 * later.
 *
 * Source: hrtimer_expire_exit of sched_cfs_period_timer(), sched_cfs_slack_timer() and
 * dl_task_timer().
 */
TRACE_EVENT_CONDITION(sched_unthrottle,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p),
	TP_CONDITION(p),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(s32, pid)
		__field(s32, cpu)	/* CPU of the run queue in which the task waits */
	),

	TP_fast_assign(
		tp_any_comm(__entry->comm, p);
		__entry->pid = tp_any_pid(p);
		__entry->cpu = tp_any_cpu(p);
	),

	TP_printk("comm=%s pid=%d cpu=%d", __entry->comm, __entry->pid, __entry->cpu)
);
TRACE_HOOK(sched_unthrottle, hrtimer_expire_exit, TP_PROTO(void *timer), TP_ARGS(tp_each_unthrottled(timer)));
TRACE_NEEDS(sched_unthrottle, , "cfs_rq.throttle_count");
TRACE_NEEDS(sched_unthrottle, , "sched_entity.cfs_rq");

#endif
#include <trace/define_trace.h>
