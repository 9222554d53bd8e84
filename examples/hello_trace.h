/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/* The program's events: with schedtap's library, or where it is missing with a copy of its stub. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hello

#if !defined(_HELLO_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _HELLO_TRACE_H

#if __has_include(<schedtap/tracepoint.h>)
#include <schedtap/tracepoint.h>
#else
#include "tracepoint_stub.h"
#endif

TRACE_EVENT(hello_said,
	TP_PROTO(int nr, const char *to),
	TP_ARGS(nr, to),
	TP_STRUCT__entry(
		__field(int, nr)
		__string(to, to)
	),
	TP_fast_assign(
		__entry->nr = nr;
		__assign_str(to);
	),
	TP_printk("nr=%d to=%s", __entry->nr, __get_str(to))
);

#endif

#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE hello_trace
#if __has_include(<schedtap/define_trace.h>)
#include <schedtap/define_trace.h>
#endif
