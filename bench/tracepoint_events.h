/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/* What bench/tracepoint records: an int, a u64 and a text of 15 characters. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tracepoint_events

#if !defined(TRACEPOINT_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACEPOINT_EVENTS_H

#include <schedtap/tracepoint.h>

TRACE_EVENT(request,
	TP_PROTO(int id, uint64_t bytes, const char *path),
	TP_ARGS(id, bytes, path),
	TP_STRUCT__entry(
		__field(int, id)
		__field(uint64_t, bytes)
		__string(path, path)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->bytes = bytes;
		__assign_str(path);
	),
	TP_printk("id=%d bytes=%llu path=%s", __entry->id, (unsigned long long)__entry->bytes,
		  __get_str(path))
);

#endif
#include <schedtap/define_trace.h>
