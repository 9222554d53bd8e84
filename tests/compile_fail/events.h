/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The event header that a case (CASE) is made into; the event that most cases are about is here. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM fail

#if !defined(EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define EVENTS_H

#include <schedtap/tracepoint.h>

#define EVENTS
#include CASE
#undef EVENTS

#ifndef OWN_REQUEST
TRACE_EVENT(request,
	TP_PROTO(int id, const char *name),
	TP_ARGS(id, name),
	TP_STRUCT__entry(
		__field(int, id)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->id = id;
		__assign_str(name);
	),
	TP_printk("id=%d name=%s", __entry->id, __get_str(name))
);
#endif

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE events
#include <schedtap/define_trace.h>
