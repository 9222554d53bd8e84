/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Deadline entities: SCHED_DEADLINE tasks, and the deadline servers that keep the fair and
 * sched_ext classes from being starved. The kernel has tracepoints for them since v7.2, in
 * kernel/sched/deadline.c. sched_dl_pick is available before that: it is recorded at sched_switch.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR schedtap_dl
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE dl

#if !defined(_SCHEDTAP_EVENTS_DL_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_DL_H

#include <linux/tracepoint.h>

DECLARE_EVENT_CLASS(sched_dl,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type),
	TP_ARGS(dl_se, cpu, type),

	TP_STRUCT__entry(
		__field(s64, runtime)		/* ns left of the budget; < 0: overrun */
		__field(u64, deadline)		/* absolute, ns on the run queue's clock */
		__array(char, comm, 16)		/* "" for a server */
		__field(s32, pid)		/* thread id; 0 for a server */
		__field(s32, cpu)
		__field(u8, type)		/* DL_TASK 1, DL_SERVER_FAIR 2, DL_SERVER_EXT 3 */
		__field(u8, server)		/* 1: a server of CPU `cpu`, 0: a task */
		__field(u8, dl_yielded)		/* 1: the entity gave up the rest of its budget */
	),

	TP_fast_assign(
		__entry->cpu = cpu;
		__entry->type = type;
		__entry->server = tp_dl_is_server(dl_se);
		__entry->pid = tp_dl_pid(dl_se);
		tp_dl_comm(__entry->comm, dl_se);
		__entry->runtime = dl_se->runtime;
		__entry->deadline = dl_se->deadline;
		__entry->dl_yielded = tp_dl_yielded(dl_se);
	),

	TP_printk("cpu=%d type=%s server=%u comm=%s pid=%d runtime=%lld deadline=%llu dl_yielded=%u",
		  __entry->cpu, __print_symbolic(__entry->type, { 1, "task" }, { 2, "fair_server" }, { 3, "ext_server" }),
		  __entry->server, __entry->comm, __entry->pid,
		  __entry->runtime, __entry->deadline, __entry->dl_yielded)
);

/*
 * sched_dl_throttle: the entity ran out of runtime and waits for its next period.
 *
 * Source: sched_dl_throttle_tp, update_curr_dl_se() and dl_check_constrained_dl().
 */
DEFINE_EVENT(sched_dl, sched_dl_throttle,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));
TRACE_HOOK(sched_dl_throttle, sched_dl_throttle_tp,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));

/*
 * sched_dl_replenish: the entity got a new period with a full budget.
 *
 * Source: sched_dl_replenish_tp, replenish_dl_entity().
 */
DEFINE_EVENT(sched_dl, sched_dl_replenish,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));
TRACE_HOOK(sched_dl_replenish, sched_dl_replenish_tp,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));

/*
 * sched_dl_update: the entity was charged for the time it ran.
 *
 * Source: sched_dl_update_tp, update_curr_dl_se().
 */
DEFINE_EVENT(sched_dl, sched_dl_update,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));
TRACE_HOOK(sched_dl_update, sched_dl_update_tp,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));

/*
 * sched_dl_server_start: the entity, a server, started to guard its class on this CPU.
 *
 * Source: sched_dl_server_start_tp, dl_server_start().
 */
DEFINE_EVENT(sched_dl, sched_dl_server_start,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));
TRACE_HOOK(sched_dl_server_start, sched_dl_server_start_tp,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));

/*
 * sched_dl_server_stop: the entity, a server, stopped guarding its class on this CPU.
 *
 * Source: sched_dl_server_stop_tp, dl_server_stop().
 */
DEFINE_EVENT(sched_dl, sched_dl_server_stop,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));
TRACE_HOOK(sched_dl_server_stop, sched_dl_server_stop_tp,
	TP_PROTO(struct sched_dl_entity *dl_se, int cpu, u8 type), TP_ARGS(dl_se, cpu, type));

/*
 * sched_dl_pick: recorded just before a sched_switch that involves a deadline task or a task picked
 * by a deadline server. It says how much budget and time the next task has left.
 *
 * next_left is relative to the run queue's clock, which was read when __schedule() began. So the
 * deadline is at the record's time stamp + next_left, minus the time that the switch took so far.
 * If next is not a deadline task, next_left and next_runtime are 0. If prev is not a deadline task,
 * prev_yielded is 0.
 *
 *   next_left		ns until next's absolute deadline; < 0: ns since it was missed
 *   next_runtime	ns left of next's budget
 *   next_deadline	1: next is a deadline task
 *   next_by_server	1: a deadline server (since v6.8) picked next, which real-time tasks kept
 * 			from running
 *   next_server	type of that server, numbered like sched_dl_*.type: DL_SERVER_FAIR (2),
 * 			DL_SERVER_EXT (3); 0: no server, or one of another type
 *   prev_yielded	1: prev gave up the rest of its budget (sched_yield(2)) and is done until
 * 			its next period
 *
 * Source: sched_switch; set_next_task_dl(), yield_task_dl() and __pick_task_dl() in
 * kernel/sched/deadline.c.
 */
TRACE_EVENT_CONDITION(sched_dl_pick,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state),
	TP_CONDITION(tp_is_dl(prev) || tp_is_dl(next) || tp_by_server(next)),

	TP_STRUCT__entry(
		__field(s64, next_left)
		__field(s64, next_runtime)
		__field(s32, prev_pid)
		__field(s32, next_pid)
		__field(bool, next_deadline)
		__field(bool, next_by_server)
		__field(bool, prev_yielded)
		tp_if(rq_fair_server, __field(u8, next_server))
	),

	TP_fast_assign(
		bool is_dl = tp_is_dl(next);

		__entry->next_left = is_dl ? tp_dl_left(next) : 0;
		__entry->next_runtime = is_dl ? next->dl.runtime : 0;
		__entry->prev_pid = prev->pid;
		__entry->next_pid = next->pid;
		__entry->next_deadline = is_dl;
		__entry->next_by_server = tp_by_server(next);
		__entry->prev_yielded = tp_is_dl(prev) && tp_task_yielded(prev);
		tp_if(rq_fair_server, __entry->next_server = tp_server_type(next);)
	),

	TP_printk("prev_pid=%d prev_yielded=%d next_pid=%d next_deadline=%d next_by_server=%d"
		  tp_if(rq_fair_server, " next_server=%s") " next_left=%lld next_runtime=%lld",
		  __entry->prev_pid, __entry->prev_yielded, __entry->next_pid, __entry->next_deadline,
		  __entry->next_by_server
		  tp_if(rq_fair_server, , __print_symbolic(__entry->next_server, { 0, "none" }, { 2, "fair_server" }, { 3, "ext_server" })),
		  __entry->next_left, __entry->next_runtime)
);
TRACE_HOOK(sched_dl_pick, sched_switch,
	TP_PROTO(bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state),
	TP_ARGS(preempt, prev, next, prev_state));
TRACE_NEEDS(sched_dl_pick, , "sched_entity.cfs_rq");
TRACE_NEEDS(sched_dl_pick, , "rq.clock");
TRACE_NEEDS(sched_dl_pick, next_server, "rq.fair_server");

#endif
#include <trace/define_trace.h>
