/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/* Events of a library that is loaded and unloaded. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM provider

#if !defined(_TEST_PROVIDER_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TEST_PROVIDER_H

#include <schedtap/tracepoint.h>

TRACE_EVENT(loaded,
	TP_PROTO(int v),
	TP_ARGS(v),
	TP_STRUCT__entry(__field(int, v)),
	TP_fast_assign(__entry->v = v;),
	TP_printk("v=%d", __entry->v)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tracepoint
#include <schedtap/define_trace.h>
