// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All that can be done with the events of warnings.h, in C and C++. */
#define CREATE_TRACE_POINTS
#include "warnings.h"

static DEFINE_STATIC_KEY_FALSE(fast);
static DEFINE_STATIC_KEY_TRUE(slow);
EXPORT_TRACEPOINT_SYMBOL(some_one);
DECLARE_TRACEPOINT(some_one);

int switch_on(void)
{
	return 0;
}

void switch_off(void)
{
}

static int calls;

static void probe(void *data, int x)
{
	(void)data;
	calls += x;
}

static void none(void *data)
{
	(void)data;
	calls++;
}

static int one(int x)
{
	return x;
}

DEFINE_STATIC_CALL(call, one);

__attribute__((format(printf, 1, 2))) static void log_message(const char *fmt, ...)
{
	static const int list[2] = { 1, 2 };
	va_list args;

	va_start(args, fmt);
	trace_texts("text", list, 2, fmt, &args);
	va_end(args);
}

int main(void)
{
	struct pair pair = { 1, 2 };

	trace_fields(1, true, RED, &pair, 0.5, pair);
	log_message("%d", 1);
	if (register_trace_some_one(probe, &calls) ||
	    register_trace_prio_some_print(probe, &calls, 1) ||
	    register_trace_some_none(none, &calls))
		return 1;
	trace_some_one(1);
	trace_some_print(1);
	trace_some_odd(1);
	trace_some_fn(1);
	trace_some_nop(1);
	trace_some_fn_odd(1);
	trace_some_none();
	trace_some_bare(1);
	trace_some_one_rcuidle(1);
	if (trace_some_one_enabled() && tracepoint_enabled(some_one))
		calls++;
	if (unregister_trace_some_one(probe, &calls) ||
	    unregister_trace_some_print(probe, &calls) || unregister_trace_some_none(none, &calls))
		return 2;
	tracepoint_synchronize_unregister();
	static_branch_enable(&fast);
	if (static_branch_unlikely(&fast))
		calls++;
	static_branch_disable(&slow);
	if (static_branch_likely(&slow))
		return 3;
	static_call_update(call, one);
	calls += static_call(call)(1);
	return calls == 6 ? 0 : 4;
}
