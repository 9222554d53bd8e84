/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/* Events whose print formats are unlike the others' (test_decoded.c). */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM decoded

#if !defined(_TEST_DECODED_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TEST_DECODED_H

#include <schedtap/tracepoint.h>

#ifndef TEST_POINT
#define TEST_POINT
struct test_point {
	int x;
	struct {
		short low, high;
	} y;
};
#endif

TRACE_EVENT(literal,
	TP_PROTO(int v),
	TP_ARGS(v),
	TP_STRUCT__entry(__field(int, v)),
	TP_fast_assign(__entry->v = v;),
	TP_printk("100%% text")
);

TRACE_EVENT(nothing,
	TP_PROTO(void),
	TP_ARGS(),
	TP_STRUCT__entry(),
	TP_fast_assign(),
	TP_printk("no fields")
);

TRACE_EVENT(constant,
	TP_PROTO(void),
	TP_ARGS(),
	TP_STRUCT__entry(
		__field(int, v)
		__string(text, "a text")
	),
	TP_fast_assign(
		__entry->v = 8;
		__assign_str(text);
	),
	TP_printk("%d %s", __entry->v, __get_str(text))
);

/* libc has a macro of that name; both are meant here. */
TRACE_EVENT(failed,
	TP_PROTO(int was),
	TP_ARGS(was),
	TP_STRUCT__entry(
		__field(int, errno)
		__field(int, was)
		__string(text, errno == 2 ? "none" : "other")
	),
	TP_fast_assign(
		__entry->errno = was;
		__entry->was = errno;
		__assign_str(text);
	),
	TP_printk("%d %d %s", __entry->errno, __entry->was, __get_str(text))
);

TRACE_EVENT(reals,
	TP_PROTO(double x, float f),
	TP_ARGS(x, f),
	TP_STRUCT__entry(
		__field(float, f)
		__field(double, x)
		__array(double, few, 2)
		__dynamic_array(float, more, 2)
	),
	TP_fast_assign(
		float *more = (float *)__get_dynamic_array(more);

		__entry->f = f;
		__entry->x = x;
		__entry->few[0] = x;
		__entry->few[1] = -x;
		more[0] = f;
		more[1] = -f;
	),
	TP_printk("%f %g %e %.3f|%g|%10.2f|%-+10g|%s|%g %g",
		  __entry->x, __entry->x, __entry->x, __entry->x, (double)__entry->f, __entry->few[1], __entry->few[0],
		  __print_array(__entry->few, 1, 8), ((float *)__get_dynamic_array(more))[0],
		  ((float *)__get_dynamic_array(more))[1])
);

TRACE_EVENT(dump,
	TP_PROTO(const unsigned char *bytes, int len),
	TP_ARGS(bytes, len),
	TP_STRUCT__entry(
		__dynamic_array(unsigned char, bytes, len)
		__array(unsigned int, words, 3)
	),
	TP_fast_assign(
		memcpy(__get_dynamic_array(bytes), bytes, (size_t)len);
		memcpy(__entry->words, bytes, sizeof(__entry->words));
	),
	TP_printk("len=%d%s%s%s", __get_dynamic_array_len(bytes),
		  __print_hex_dump("p: ", DUMP_PREFIX_OFFSET, 16, 1, __get_dynamic_array(bytes),
				   __get_dynamic_array_len(bytes), true),
		  __print_hex_dump("", DUMP_PREFIX_NONE, 32, 8, __get_dynamic_array(bytes), 20, false),
		  __print_hex_dump("w ", DUMP_PREFIX_OFFSET, 16, 4, __entry->words, sizeof(__entry->words), true))
);

/* trace-cmd's parser knows no sizeof(): in the format text these are numbers. */
TRACE_EVENT(sized,
	TP_PROTO(u32 v),
	TP_ARGS(v),
	TP_STRUCT__entry(
		__array(u16, list, 3)
		__dynamic_array(u32, more, 2)
	),
	TP_fast_assign(
		u32 *more = (u32 *)__get_dynamic_array(more);

		__entry->list[0] = __entry->list[1] = __entry->list[2] = (u16)v;
		more[0] = more[1] = v;
	),
	TP_printk("%d %s %s", (int)sizeof(u64),
		  __print_array(__entry->list, sizeof(__entry->list) / sizeof(__entry->list[0]), sizeof(u16)),
		  __print_array(__get_dynamic_array(more), __get_dynamic_array_len(more) / sizeof(u32), sizeof(u32)))
);

TRACE_EVENT(address,
	TP_PROTO(void *p),
	TP_ARGS(p),
	TP_STRUCT__entry(__field(void *, p)),
	TP_fast_assign(__entry->p = p;),
	TP_printk("%pS %ps %pB %pF %pf %px", __entry->p, __entry->p, __entry->p, __entry->p, __entry->p, __entry->p)
);

/* Only the program knows where its members lie: the decoder prints the fields. */
TRACE_EVENT(members,
	TP_PROTO(int id, struct test_point point),
	TP_ARGS(id, point),
	TP_STRUCT__entry(
		__field(int, id)
		__field_struct(struct test_point, point)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->point = point;
	),
	TP_printk("%d: %d %d", __entry->id, __entry->point.x, __entry->point.y.high)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH tracepoint
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE decoded
#include <schedtap/define_trace.h>
