/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/* The events of test_ring.c. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ring_events

#if !defined(RING_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
#define RING_EVENTS_H

#include <schedtap/tracepoint.h>

TRACE_EVENT(step,
	TP_PROTO(uint32_t source, uint64_t nr, const char *text),
	TP_ARGS(source, nr, text),
	TP_STRUCT__entry(
		__field(uint32_t, source)
		__field(uint64_t, nr)		/* counts from 0 in each source */
		__string(text, text)
	),
	TP_fast_assign(
		__entry->source = source;
		__entry->nr = nr;
		__assign_str(text);
	),
	TP_printk("source=%u nr=%llu text=%s", __entry->source,
		  (unsigned long long)__entry->nr, __get_str(text))
);

TRACE_EVENT(array,
	TP_PROTO(const uint64_t *values, unsigned int values_nr),
	TP_ARGS(values, values_nr),
	TP_STRUCT__entry(
		__dynamic_array(uint64_t, values, values_nr)
	),
	TP_fast_assign(
		memcpy(__get_dynamic_array(values), values, __get_dynamic_array_len(values));
	),
	TP_printk("values=%s", __print_array(__get_dynamic_array(values),
		  __get_dynamic_array_len(values) / 8, 8))
);

/* Nothing is assigned. */
TRACE_EVENT(empty,
	TP_PROTO(const char *text),
	TP_ARGS(text),
	TP_STRUCT__entry(
		__string(text, text)
		__rel_string(again, text)
		__dynamic_array(uint64_t, values, 4)
		__bitmask(bits, 64)
		__string_len(part, text, 2)
	),
	TP_fast_assign(),
	TP_printk("text=%s again=%s part=%s", __get_str(text), __get_rel_str(again), __get_str(part))
);

#endif
#include <schedtap/define_trace.h>
