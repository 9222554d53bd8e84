/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events in an unusual style: macros wherever they are allowed, and white space where it matters. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM odd
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE odd_ones

#include <linux/tracepoint.h>

#undef NUMBER
#define NUMBER u32
#undef LENGTH
#define LENGTH (4 * 4)
#undef named
#define named(x) __print_symbolic(x, {1, "a"}, \
	{ 2, "b, \"c)" })
#undef FIELDS
#define FIELDS(p, rest...) __field(NUMBER, p##_x) __array(s16, p##_array, LENGTH) rest

struct odd;

TRACE_EVENT(odd_one,
	TP_PROTO(struct odd *o, int  n,bool b),
	TP_ARGS(o,n, b),
	TP_STRUCT__entry(FIELDS(one, __field(void *, pointer) __field( const __u16 , small))
		__field( unsigned long long , wide )
		__array(char, c, 3) __field(signed char, sc) __field(bool, truth) __string(text, o->name)
		tp_if(mask, __bitmask(mask, 64))),
	TP_fast_assign(
		if (o != NULL && true) { __entry->one_x = named( o -> x )->y; }
		__entry->pointer=o;	/* comment */__assign_str(text,o->name);
	),
	TP_printk("x=%u \"q\" \\ %% " "array=%s"
		" p=%p\n", __entry->one_x, __print_array(__entry->one_array, LENGTH, 2)
		, __entry->pointer?named(__entry->small):"-")
);
TRACE_HOOK(odd_one, odd_tp, TP_PROTO(struct odd *o, int n, bool b), TP_ARGS(o, n, b));
TRACE_HOOK(odd_one, odder_tp, TP_PROTO(struct odd *o, int n, bool b), TP_ARGS(o, n, b));
TRACE_NEEDS(odd_one, one_x, "odd.x|bar.y");

TRACE_EVENT_CONDITION(odd_two, TP_PROTO(u8 a), TP_ARGS(a), TP_CONDITION(a > LENGTH &&a!=NULL),
	TP_STRUCT__entry(__field(u8, a)), TP_fast_assign(__entry->a = a;), TP_printk("none"));
TRACE_HOOK(odd_two, odd_tp, TP_PROTO(u8 a), TP_ARGS(a));

#include <trace/define_trace.h>
