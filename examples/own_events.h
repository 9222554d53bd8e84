/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/*
 * Own events at two bare tracepoints: schedtap record --define examples/own_events.h. If
 * events/all.h includes this file, schedtap has the events; kmod/families.h: its module too.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM own
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR own_own_events
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE own_events

#if !defined(_OWN_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define _OWN_EVENTS_H

#include <linux/tracepoint.h>

/*
 * task_demand: what a task asks of a CPU, and whether it asks for more than it can have there.
 *
 * Source: pelt_se_tp (v5.3).
 */
TRACE_EVENT_CONDITION(task_demand,
	TP_PROTO(struct sched_entity *se),
	TP_ARGS(se),
	TP_CONDITION(tp_se_is_task(se)),

	TP_STRUCT__entry(
		__array(char, comm, 16)
		__field(s32, pid)
		__field(u32, util)		/* 0..1024 */
		__field(u32, waiting)		/* 0..1024: runnable, without what it ran */
		__field(u8, is_squeezed)
	),

	TP_fast_assign(
		unsigned long util = se->avg.util_avg;
		unsigned long runnable = se->avg.runnable_avg;

		tp_se_comm(__entry->comm, se);
		__entry->pid = tp_se_pid(se);
		__entry->util = util;
		__entry->waiting = 0;
		__entry->is_squeezed = 0;
		if (runnable > util) {
			__entry->waiting = runnable - util;
			__entry->is_squeezed = runnable - util > util / 4;
		}
	),

	TP_printk("comm=%s pid=%d util=%u waiting=%u is_squeezed=%d", __entry->comm, __entry->pid,
		  __entry->util, __entry->waiting, __entry->is_squeezed)
);
TRACE_HOOK(task_demand, pelt_se_tp, TP_PROTO(struct sched_entity *se), TP_ARGS(se));

/*
 * queue_change: how many tasks a CPU has to run.
 *
 * Source: sched_update_nr_running_tp (v5.9).
 */
TRACE_EVENT(queue_change,
	TP_PROTO(struct rq *rq, int change),
	TP_ARGS(rq, change),

	TP_STRUCT__entry(
		__field(s32, cpu)
		__field(u32, before)
		__field(u32, after)
	),

	TP_fast_assign(
		__entry->cpu = rq->cpu;
		__entry->after = rq->nr_running;
		__entry->before = rq->nr_running - change;
	),

	TP_printk("cpu=%d %u -> %u", __entry->cpu, __entry->before, __entry->after)
);
TRACE_HOOK(queue_change, sched_update_nr_running_tp,
	TP_PROTO(struct rq *rq, int change), TP_ARGS(rq, change));

#endif
#include <trace/define_trace.h>
