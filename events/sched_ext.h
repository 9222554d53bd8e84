/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own events about the loaded BPF scheduler (sched_ext); fields and print format are
 * those of v7.3.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched_ext
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE sched_ext

#if !defined(_SCHEDTAP_EVENTS_SCHED_EXT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_SCHED_EXT_H

#include <linux/tracepoint.h>

/*
 * sched_ext_event: one of the occurrences that sched_ext counts (SCX_EV_*), such as a CPU that kept
 * its task, a refilled slice, or tasks queued while the scheduler was bypassed. delta is a number
 * of times, or ns for events that count time.
 *
 * Source: sched_ext:sched_ext_event (v6.15), scx_add_event() in kernel/sched/ext.
 */
TRACE_EVENT(sched_ext_event,
	TP_PROTO(const char *name, s64 delta),
	TP_ARGS(name, delta),

	TP_STRUCT__entry(
		__string(name, name)
		__field(__s64, delta)
	),

	TP_fast_assign(
		__assign_str(name, name);
		__entry->delta = delta;
	),

	TP_printk("name %s delta %lld", __get_str(name), __entry->delta)
);
TRACE_HOOK(sched_ext_event, sched_ext_event, TP_PROTO(const char *name, s64 delta), TP_ARGS(name, delta));

/*
 * sched_ext_bypass_lb: while the BPF scheduler was bypassed, the kernel moved tasks between a
 * node's CPUs.
 *
 * Source: sched_ext:sched_ext_bypass_lb (v6.19).
 */
TRACE_EVENT(sched_ext_bypass_lb,
	TP_PROTO(u32 node, u32 nr_cpus, u32 nr_tasks, u32 nr_balanced, u32 before_min, u32 before_max,
		 u32 after_min, u32 after_max),
	TP_ARGS(node, nr_cpus, nr_tasks, nr_balanced, before_min, before_max, after_min, after_max),

	TP_STRUCT__entry(
		__field(__u32, node)
		__field(__u32, nr_cpus)
		__field(__u32, nr_tasks)
		__field(__u32, nr_balanced)
		__field(__u32, before_min)
		__field(__u32, before_max)
		__field(__u32, after_min)
		__field(__u32, after_max)
	),

	TP_fast_assign(
		__entry->node = node;
		__entry->nr_cpus = nr_cpus;
		__entry->nr_tasks = nr_tasks;
		__entry->nr_balanced = nr_balanced;
		__entry->before_min = before_min;
		__entry->before_max = before_max;
		__entry->after_min = after_min;
		__entry->after_max = after_max;
	),

	TP_printk("node %u: nr_cpus=%u nr_tasks=%u nr_balanced=%u min=%u->%u max=%u->%u",
		  __entry->node, __entry->nr_cpus, __entry->nr_tasks, __entry->nr_balanced, __entry->before_min,
		  __entry->after_min, __entry->before_max, __entry->after_max)
);
TRACE_HOOK(sched_ext_bypass_lb, sched_ext_bypass_lb,
	TP_PROTO(u32 node, u32 nr_cpus, u32 nr_tasks, u32 nr_balanced, u32 before_min, u32 before_max,
		 u32 after_min, u32 after_max),
	TP_ARGS(node, nr_cpus, nr_tasks, nr_balanced, before_min, before_max, after_min, after_max));

/*
 * sched_ext_dump: one line of the text that sched_ext prints when the BPF scheduler failed.
 *
 * Source: sched_ext:sched_ext_dump (v6.12).
 */
TRACE_EVENT(sched_ext_dump,
	TP_PROTO(const char *line),
	TP_ARGS(line),

	TP_STRUCT__entry(
		__string(line, line)
	),

	TP_fast_assign(
		__assign_str(line, line);
	),

	TP_printk("%s", __get_str(line))
);
TRACE_HOOK(sched_ext_dump, sched_ext_dump, TP_PROTO(const char *line), TP_ARGS(line));

/*
 * sched_ext_exit: the BPF scheduler is unloaded or was ejected. kind is an enum scx_exit_kind:
 * 64..69 if unloading was requested, >= 1024 if the scheduler failed (1026: a runnable task was not
 * run for too long).
 *
 * Source: sched_ext:sched_ext_exit (v7.3).
 */
TRACE_EVENT(sched_ext_exit,
	TP_PROTO(struct scx_sched *sch, u32 kind),
	TP_ARGS(sch, kind),

	TP_STRUCT__entry(
		__string(name, sch->ops.name)
		__field(__s32, level)
		__field(__u64, sub_cgroup_id)
		__string(cgrp_path, sch->cgrp_path)	/* sub-scheduler's; empty: root scheduler */
		__field(__u32, kind)
	),

	TP_fast_assign(
		__assign_str(name, sch->ops.name);
		__entry->level = sch->level;
		__entry->sub_cgroup_id = sch->ops.sub_cgroup_id;
		__assign_str(cgrp_path, sch->cgrp_path);
		__entry->kind = kind;
	),

	TP_printk("sched %s level %d sub_cgroup_id %llu cgrp_path %s kind %u", __get_str(name), __entry->level,
		  __entry->sub_cgroup_id, __get_str(cgrp_path), __entry->kind)
);
TRACE_HOOK(sched_ext_exit, sched_ext_exit, TP_PROTO(struct scx_sched *sch, u32 kind), TP_ARGS(sch, kind));

#endif
#include <trace/define_trace.h>
