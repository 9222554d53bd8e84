/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/*
 * What an event header can have, in code of which no compiler has anything to say (warnings.t):
 * what is said all the same is of our macros.
 */
/* clang-format off: TRACE_EVENT() is no call */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM warnings

#if !defined(WARNINGS_H) || defined(TRACE_HEADER_MULTI_READ)
#define WARNINGS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include <schedtap/tracepoint.h>

#ifndef WARNINGS_ONCE
#define WARNINGS_ONCE
#ifdef __cplusplus
#define WIDE(x) static_cast<long long>(x)
#define REAL(x) static_cast<double>(x)
#else
#define WIDE(x) (long long)(x)
#define REAL(x) (double)(x)
#endif
enum color { RED = 1, GREEN = 2 };
struct pair {
	int a, b;
};
TAP_C_BEGIN
int switch_on(void);
void switch_off(void);
TAP_C_END
#endif

TRACE_DEFINE_ENUM(RED);
TRACE_DEFINE_ENUM(GREEN);
TRACE_DEFINE_SIZEOF(struct pair);

TRACE_EVENT(fields,
	TP_PROTO(int x, bool flag, enum color color, const void *p, double d, struct pair pair),
	TP_ARGS(x, flag, color, p, d, pair),
	TP_STRUCT__entry(
		__field(int, x)
		__field(unsigned char, byte)
		__field(int8_t, small)
		__field(uint16_t, half)
		__field(int64_t, wide)
		__field(unsigned long, word)
		__field(char, letter)
		__field(bool, flag)
		__field(enum color, color)
		__field(const void *, p)
		__field(const char *, text)
		__field(float, f)
		__field(double, d)
		__field(int, errno)
		__field_ext(int, ext, FILTER_OTHER)
		__field_struct(struct pair, pair)
		__field_struct_ext(struct pair, other, FILTER_OTHER)
		__array(char, letters, 8)
		__array(int, numbers, 3)
	),
	TP_fast_assign(
		__entry->x = x;
		__entry->byte = 200;
		__entry->small = -3;
		__entry->half = 4;
		__entry->wide = -5;
		__entry->word = 6;
		__entry->letter = 'a';
		__entry->flag = flag;
		__entry->color = color;
		__entry->p = p;
		__entry->text = "text";
		__entry->f = 0.5f;
		__entry->d = d;
		__entry->errno = errno;
		__entry->ext = x;
		__entry->pair = pair;
		__entry->other = pair;
		memcpy(__entry->letters, "letters", 8);
		__entry->numbers[0] = x;
	),
	TP_printk("%d %u %d %u %lld %lu %c %d %s %p %s %f %f %d %s %d %s %s", __entry->x, __entry->byte, __entry->small, __entry->half,
		  WIDE(__entry->wide), __entry->word, __entry->letter, __entry->flag,
		  __print_symbolic(__entry->color, { RED, "red" }, { GREEN, "green" }), __entry->p, tracepoint_string(__entry->text),
		  REAL(__entry->f), __entry->d, __entry->errno,
		  __print_flags(__entry->x, "|", { 1, "one" }, { 2, "two" }), __entry->pair.a, __entry->letters,
		  __print_array(__entry->numbers, 3, 4))
);

TRACE_EVENT(texts,
	TP_PROTO(const char *s, const int *list, unsigned int list_nr, const char *fmt, va_list *args),
	TP_ARGS(s, list, list_nr, fmt, args),
	TP_STRUCT__entry(
		__string(s, s)
		__string_len(part, s, 2)
		__vstring(message, fmt, args)
		__dynamic_array(int, list, list_nr)
		__bitmask(bits, 64)
		__cpumask(cpus)
		__sockaddr(address, sizeof(struct sockaddr))
		__rel_string(rel_s, s)
		__rel_string_len(rel_part, s, 2)
		__rel_dynamic_array(int, rel_list, list_nr)
		__rel_bitmask(rel_bits, 64)
		__rel_cpumask(rel_cpus)
		__rel_sockaddr(rel_address, sizeof(struct sockaddr))
	),
	TP_fast_assign(
		static const unsigned long bits[64] = { 5 };
		static const struct sockaddr address = { AF_UNIX, "" };

		__assign_str(s);
		__assign_str_len(part, s, 2);
		__assign_vstr(message, fmt, args);
		memcpy(__get_dynamic_array(list), list, list_nr * sizeof(*list));
		__assign_bitmask(bits, bits, 64);
		__assign_cpumask(cpus, bits);
		__assign_sockaddr(address, &address, sizeof(address));
		__assign_rel_str(rel_s, s);
		__assign_rel_str_len(rel_part, s, 2);
		memcpy(__get_rel_dynamic_array(rel_list), list, list_nr * sizeof(*list));
		__assign_rel_bitmask(rel_bits, bits, 64);
		__assign_rel_cpumask(rel_cpus, bits);
		__assign_rel_sockaddr(rel_address, &address, sizeof(address));
	),
	TP_printk("%s %s %s %s %s %s %s %s %s %s %s %s %s %s %u %llu.%u", __get_str(s), __get_str(part), __get_str(message),
		  __print_hex(__get_dynamic_array(list), 4), __print_hex_str(__get_dynamic_array(list), 4),
		  __print_hex_dump("p", DUMP_PREFIX_NONE, 16, 1, __get_dynamic_array(list), 4, true),
		  __print_dynamic_array(list, 4), __get_bitmask(bits), __get_cpumask(cpus), __get_rel_str(rel_s),
		  __get_rel_str(rel_part), __print_hex(__get_rel_dynamic_array(rel_list), 4), __get_rel_bitmask(rel_bits),
		  __get_rel_cpumask(rel_cpus), __get_dynamic_array_len(list), __print_ns_to_secs(1500000000),
		  __print_ns_without_secs(1500000000))
);

DECLARE_EVENT_CLASS(some_class, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)), TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x));
DEFINE_EVENT(some_class, some_one, TP_PROTO(int x), TP_ARGS(x));
DEFINE_EVENT_PRINT(some_class, some_print, TP_PROTO(int x), TP_ARGS(x), TP_printk("<%d>", __entry->x));
DEFINE_EVENT_CONDITION(some_class, some_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1));
DEFINE_EVENT_FN(some_class, some_fn, TP_PROTO(int x), TP_ARGS(x), switch_on, switch_off);
DEFINE_EVENT_NOP(some_class, some_nop, TP_PROTO(int x), TP_ARGS(x));
TRACE_EVENT_FN_COND(some_fn_odd, TP_PROTO(int x), TP_ARGS(x), TP_CONDITION(x & 1), TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;), TP_printk("%d", __entry->x), switch_on, switch_off);
TRACE_EVENT(some_none, TP_PROTO(void), TP_ARGS(), TP_STRUCT__entry(), TP_fast_assign(), TP_printk("nothing"));
DECLARE_TRACE(some_bare, TP_PROTO(int x), TP_ARGS(x));
TRACE_CUSTOM_EVENT(some_bare, TP_PROTO(int x), TP_ARGS(x), TP_STRUCT__entry(__field(int, x)), TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x));

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE warnings
#include <schedtap/define_trace.h>
