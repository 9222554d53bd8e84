/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/*
 * Events for tests of what probes may expect (test_probes.c), of life (test_life.c) and of
 * torture.c.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rules

#if !defined(_TEST_RULES_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TEST_RULES_H

#include <schedtap/tracepoint.h>

int rules_reg(void);
void rules_unreg(void);

DECLARE_TRACE(bare, TP_PROTO(int v), TP_ARGS(v));
TRACE_CUSTOM_EVENT(bare,
	TP_PROTO(int v),
	TP_ARGS(v),
	TP_STRUCT__entry(__field(int, v)),
	TP_fast_assign(__entry->v = v;),
	TP_printk("v=%d", __entry->v)
);

TRACE_EVENT(plain,
	TP_PROTO(int v, const char *text),
	TP_ARGS(v, text),
	TP_STRUCT__entry(
		__field(int, v)
		__string(text, text)
	),
	TP_fast_assign(
		__entry->v = v;
		__assign_str(text);
	),
	TP_printk("v=%d text=%s", __entry->v, __get_str(text))
);

TRACE_EVENT_FN(guarded,
	TP_PROTO(int v),
	TP_ARGS(v),
	TP_STRUCT__entry(__field(int, v)),
	TP_fast_assign(__entry->v = v;),
	TP_printk("v=%d", __entry->v),
	rules_reg, rules_unreg
);

TRACE_EVENT_CONDITION(even,
	TP_PROTO(int v),
	TP_ARGS(v),
	TP_CONDITION(v % 2 == 0),
	TP_STRUCT__entry(__field(int, v)),
	TP_fast_assign(__entry->v = v;),
	TP_printk("v=%d", __entry->v)
);

/* A record says of itself whether it is whole: sum is of the words. */
TRACE_EVENT(summed,
	TP_PROTO(uint64_t seed, unsigned int nr),
	TP_ARGS(seed, nr),
	TP_STRUCT__entry(
		__field(uint64_t, sum)
		__dynamic_array(uint64_t, words, nr)
	),
	TP_fast_assign(
		uint64_t *words = (uint64_t *)__get_dynamic_array(words);
		uint64_t sum = nr;

		for (unsigned int i = 0; i < nr; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			memcpy(&words[i], &seed, sizeof(seed));
			sum += seed;
		}
		__entry->sum = sum;
	),
	TP_printk("sum=%llx", (unsigned long long)__entry->sum)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tracepoint
#include <schedtap/define_trace.h>
