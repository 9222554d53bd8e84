/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Moments that a user marks while a recording runs. The recorder writes this event; no tracepoint
 * fires it.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM schedtap
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE mark

#if !defined(_SCHEDTAP_EVENTS_MARK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHEDTAP_EVENTS_MARK_H

#include <linux/tracepoint.h>

/*
 * mark: at the record's time stamp (CLOCK_MONOTONIC), `schedtap mark TEXT` was called or the
 * recorder got SIGUSR1. pid and comm identify the process that ran the command or sent the signal;
 * 0 and "" if unknown.
 */
TRACE_EVENT(mark,
	TP_PROTO(int pid, const char *comm, const char *text),
	TP_ARGS(pid, comm, text),

	TP_STRUCT__entry(
		__field(s32, pid)
		__string(comm, comm)
		__string(text, text)
	),

	TP_fast_assign(
		__entry->pid = pid;
		__assign_str(comm, comm);
		__assign_str(text, text);
	),

	TP_printk("pid=%d comm=%s text=%s", __entry->pid, __get_str(comm), __get_str(text))
);

#endif
#include <trace/define_trace.h>
