/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The event of tracepoint_events.h for LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoint_lttng.h"

#if !defined(TRACEPOINT_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRACEPOINT_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, request,
			   LTTNG_UST_TP_ARGS(int, id, uint64_t, bytes, const char *, path),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, id, id)
						       lttng_ust_field_integer(uint64_t, bytes,
									       bytes)
							       lttng_ust_field_string(path, path)))

#endif
#include <lttng/tracepoint-event.h>
