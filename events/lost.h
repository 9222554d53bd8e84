/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gaps in the recording, and times in which it was switched off. The recorder and its BPF programs
 * write these events; no tracepoint fires them.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lost

#if !defined(_SCHEDTAP_EVENTS_LOST_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_LOST_H

#include <linux/tracepoint.h>

/*
 * events_lost: the ring of CPU lost_cpu was full. Nothing was recorded there from first_ns to
 * last_ns (CLOCK_MONOTONIC); `count` events are missing. lost_cpu = -1: the CPU is unknown, so
 * every CPU may have a gap in that time.
 */
TRACE_EVENT(events_lost,
	TP_PROTO(int lost_cpu, u64 count, u64 first_ns, u64 last_ns),
	TP_ARGS(lost_cpu, count, first_ns, last_ns),

	TP_STRUCT__entry(
		__field(u64, count)
		__field(u64, first_ns)
		__field(u64, last_ns)
		__field(s32, lost_cpu)
	),

	TP_fast_assign(
		__entry->count = count;
		__entry->first_ns = first_ns;
		__entry->last_ns = last_ns;
		__entry->lost_cpu = lost_cpu;
	),

	TP_printk("lost_cpu=%d count=%llu first_ns=%llu last_ns=%llu", __entry->lost_cpu,
		  __entry->count, __entry->first_ns, __entry->last_ns)
);

/*
 * events_off: a trigger (`schedtap record --trigger`) had switched off the events of type
 * event_type (as numbered in the recording), or all events (event_type = 0). From first_ns to
 * last_ns (CLOCK_MONOTONIC) `count` of them were not recorded on CPU off_cpu; count = 0: their
 * number is unknown. off_cpu = -1: on any CPU.
 */
TRACE_EVENT(events_off,
	TP_PROTO(int off_cpu, u32 event_type, u64 count, u64 first_ns, u64 last_ns),
	TP_ARGS(off_cpu, event_type, count, first_ns, last_ns),

	TP_STRUCT__entry(
		__field(u64, count)
		__field(u64, first_ns)
		__field(u64, last_ns)
		__field(s32, off_cpu)
		__field(u32, event_type)
	),

	TP_fast_assign(
		__entry->count = count;
		__entry->first_ns = first_ns;
		__entry->last_ns = last_ns;
		__entry->off_cpu = off_cpu;
		__entry->event_type = event_type;
	),

	TP_printk("off_cpu=%d event_type=%u count=%llu first_ns=%llu last_ns=%llu", __entry->off_cpu,
		  __entry->event_type, __entry->count, __entry->first_ns, __entry->last_ns)
);

#endif
#include <trace/define_trace.h>
