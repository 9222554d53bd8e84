/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */ /* clang-format off */
/*
 * Every kind of field, event and print helper, in one header for a kernel module and for a program:
 * format texts and what is printed of a record must be the same (tests/vm/guests.t).
 *
 * PORTABLE_STR(): __assign_str() lost its second argument in 6.10; here both forms compile.
 */
/* clang-format off: TRACE_EVENT() is no call */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM portable

#if !defined(PORTABLE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PORTABLE_H

#include <linux/tracepoint.h>
#include <linux/socket.h>

#ifndef PORTABLE_ONCE
#define PORTABLE_ONCE
#ifdef PORTABLE_ASSIGN_TWO
#define PORTABLE_STR(field, src) __assign_str(field, src)
#define PORTABLE_REL_STR(field, src) __assign_rel_str(field, src)
#define PORTABLE_STR_LEN(field, src, len) __assign_str_len(field, src, len)
#define PORTABLE_REL_STR_LEN(field, src, len) __assign_rel_str_len(field, src, len)
#else
#define PORTABLE_STR(field, src) __assign_str(field)
#define PORTABLE_REL_STR(field, src) __assign_rel_str(field)
#define PORTABLE_STR_LEN(field, src, len) __assign_str(field)
#define PORTABLE_REL_STR_LEN(field, src, len) __assign_rel_str(field)
#endif

#define PORTABLE_MACRO_LEN 6

enum portable_color {
	PORTABLE_RED = 3,
	PORTABLE_REDDER,
	PORTABLE_NEGATIVE = -2,
	PORTABLE_UNDECLARED = 9,
	PORTABLE_LEN = 12,
};

typedef struct portable_pair {
	int a;
	u64 b;
} portable_pair_t;

struct portable_numbers {
	u8 a;
	s8 b;
	u16 c;
	s16 d;
	u32 e;
	s32 f;
	u64 g;
	s64 h;
};

int portable_reg(void);
void portable_unreg(void);
#endif

TRACE_DEFINE_ENUM(PORTABLE_RED);
TRACE_DEFINE_ENUM(PORTABLE_REDDER);
TRACE_DEFINE_ENUM(PORTABLE_NEGATIVE);
TRACE_DEFINE_ENUM(PORTABLE_LEN);
TRACE_DEFINE_SIZEOF(portable_pair_t);

TRACE_EVENT(p_fields,
	TP_PROTO(const struct portable_numbers *n, const void *p, const portable_pair_t *pair),
	TP_ARGS(n, p, pair),
	TP_STRUCT__entry(
		__field(u8, a)
		__field(s8, b)
		__field(u16, c)
		__field(s16, d)
		__field(u32, e)
		__field(s32, f)
		__field(u64, g)
		__field(s64, h)
		__field(char, plain)
		__field(unsigned char, uc)
		__field(signed char, sc)
		__field(short, sh)
		__field(unsigned int, ui)
		__field(	long,		spaced	)
		__field(unsigned long, ul)
		__field(long long, ll)
		__field(bool, flag)
		__field(size_t, size)
		__field(pid_t, pid)
		__field(enum portable_color, color)
		__field(const void *, p)
		__field(const char *, s)
		__field(struct portable_pair *, pp)
		__field_ext(int, ext, FILTER_OTHER)
		__field_struct(portable_pair_t, pair)
		__field_struct_ext(struct portable_pair, pair2, FILTER_OTHER)
		__field(int, PORTABLE_RED)
	),
	TP_fast_assign(
		__entry->a = n->a;
		__entry->b = n->b;
		__entry->c = n->c;
		__entry->d = n->d;
		__entry->e = n->e;
		__entry->f = n->f;
		__entry->g = n->g;
		__entry->h = n->h;
		__entry->plain = 'x';
		__entry->uc = 200;
		__entry->sc = -3;
		__entry->sh = -4;
		__entry->ui = 5;
		__entry->spaced = -6;
		__entry->ul = 7;
		__entry->ll = -8;
		__entry->flag = true;
		__entry->size = 9;
		__entry->pid = 10;
		__entry->color = PORTABLE_RED;
		__entry->p = p;
		__entry->s = NULL;
		__entry->pp = NULL;
		__entry->ext = 11;
		__entry->pair = *pair;
		__entry->pair2 = *pair;
		__entry->PORTABLE_RED = 12;
	),
	TP_printk("%u %d %hu %hd %08x %+d %llu %lld %c %u %hhd %d|%5u|%-5ld|%#lx %lld %d %zu %d %d %d %d %llu %d PORTABLE_RED %% %.3d",
		  __entry->a, __entry->b, __entry->c, __entry->d, __entry->e, __entry->f,
		  __entry->g, __entry->h, __entry->plain, __entry->uc, __entry->sc, __entry->sh,
		  __entry->ui, __entry->spaced, __entry->ul, __entry->ll, __entry->flag,
		  __entry->size, __entry->pid, __entry->color, __entry->ext, __entry->pair.a,
		  __entry->pair2.b, __entry->PORTABLE_RED + PORTABLE_RED, 7)
);

TRACE_EVENT(p_arrays,
	TP_PROTO(const char *name),
	TP_ARGS(name),
	TP_STRUCT__entry(
		__array(char, name, 16)
		__array(unsigned char, uname, 8)
		__array(u8, bytes, 6)
		__array(s32, words, 3)
		__array(long, longs, 2)
		__array(char, macro, PORTABLE_MACRO_LEN)
		__array(char, by_enum, PORTABLE_LEN)
	),
	TP_fast_assign(
		int i;

		memset(__entry->name, 0, sizeof(__entry->name));
		memcpy(__entry->name, name, strlen(name));
		memcpy(__entry->uname, "unsign", 7);
		memcpy(__entry->bytes, "\001\002\003\004\005\377", 6);
		for (i = 0; i < 3; i++)
			__entry->words[i] = i - 1;
		__entry->longs[0] = -1;
		__entry->longs[1] = 1;
		memcpy(__entry->macro, "macro", 6);
		memcpy(__entry->by_enum, "by_enum", 8);
	),
	TP_printk("%s|%16s|%-10s|%.3s|%s %s %s %s %s %pM", __entry->name, __entry->name,
		  __entry->name, __entry->name, __entry->uname, __entry->macro, __entry->by_enum,
		  __print_array(__entry->words, 3, 4),
		  __print_array(__entry->longs, 2, sizeof(long)),
		  __entry->bytes)
);

/* The kernel prints the number of elements, also where the source has an expression. */
TRACE_EVENT(p_lengths,
	TP_PROTO(int x),
	TP_ARGS(x),
	TP_STRUCT__entry(
		__array(u8, product, 2 * 4)
		__array(u8, by_size, sizeof(portable_pair_t))
		__array(u8, undeclared, PORTABLE_UNDECLARED)
	),
	TP_fast_assign(
		memset(__entry->product, x, 8);
		memset(__entry->by_size, x, sizeof(portable_pair_t));
		memset(__entry->undeclared, x, PORTABLE_UNDECLARED);
	),
	TP_printk("%d", __entry->product[1])
);

TRACE_EVENT(p_dynamic,
	TP_PROTO(const char *s, int len, const int *list, unsigned long *bits,
		 const struct cpumask *cpus, const struct sockaddr *sa, const char *fmt,
		 va_list *va),
	TP_ARGS(s, len, list, bits, cpus, sa, fmt, va),
	TP_STRUCT__entry(
		__field(int, len)
		__dynamic_array(int, list, len)
		__string(s, s)
		__string_len(cut, s, len)
		__vstring(v, fmt, va)
		__bitmask(bits, 70)
		__cpumask(cpus)
		__sockaddr(sa, sizeof(struct sockaddr))
		__dynamic_array(u8, none, 0)
	),
	TP_fast_assign(
		__entry->len = len;
		memcpy(__get_dynamic_array(list), list, len * sizeof(int));
		PORTABLE_STR(s, s);
		PORTABLE_STR_LEN(cut, s, len);
		__assign_vstr(v, fmt, va);
		__assign_bitmask(bits, bits, 70);
		__assign_cpumask(cpus, cpumask_bits(cpus));
		__assign_sockaddr(sa, sa, sizeof(struct sockaddr));
	),
	TP_printk("%d %s %s [%s] %s %s %s %*pbl %pISpc %d",
		  __entry->len, __print_dynamic_array(list, sizeof(int)), __get_str(s),
		  __get_str(cut), __get_str(v), __get_bitmask(bits), __get_cpumask(cpus), 70,
		  __get_dynamic_array(bits), __get_sockaddr(sa), __get_dynamic_array_len(none))
);

TRACE_EVENT(p_rel,
	TP_PROTO(const char *s, int len, const int *list, unsigned long *bits,
		 const struct cpumask *cpus, const struct sockaddr *sa),
	TP_ARGS(s, len, list, bits, cpus, sa),
	TP_STRUCT__entry(
		__rel_dynamic_array(int, list, len)
		__rel_string(s, s)
		__rel_string_len(cut, s, len)
		__rel_bitmask(bits, 64)
		__rel_cpumask(cpus)
		__rel_sockaddr(sa, sizeof(struct sockaddr))
		__field(int, len)
	),
	TP_fast_assign(
		memcpy(__get_rel_dynamic_array(list), list, len * sizeof(int));
		PORTABLE_REL_STR(s, s);
		PORTABLE_REL_STR_LEN(cut, s, len);
		__assign_rel_bitmask(bits, bits, 64);
		__assign_rel_cpumask(cpus, cpumask_bits(cpus));
		__assign_rel_sockaddr(sa, sa, sizeof(struct sockaddr));
		__entry->len = len;
	),
	TP_printk("%s %s %s %s %s %pIS %d",
		  __print_array(__get_rel_dynamic_array(list),
				__get_rel_dynamic_array_len(list) / sizeof(int), sizeof(int)),
		  __get_rel_str(s), __get_rel_str(cut), __get_rel_bitmask(bits),
		  __get_rel_cpumask(cpus), __get_rel_sockaddr(sa), __entry->len)
);

TRACE_EVENT(p_helpers,
	TP_PROTO(unsigned long flags, int color, u64 ns, const u8 *bytes),
	TP_ARGS(flags, color, ns, bytes),
	TP_STRUCT__entry(
		__field(unsigned long, flags)
		__field(int, color)
		__field(u64, ns)
		__array(u8, bytes, 36)
	),
	TP_fast_assign(
		__entry->flags = flags;
		__entry->color = color;
		__entry->ns = ns;
		memcpy(__entry->bytes, bytes, 36);
	),
	TP_printk("%s|%s|%s|%s|%s|%s|%s|%s|%s|%llu.%09u|%zu|%*phC|%pI4|%pI6|%pI6c|%pUb",
		  __print_flags(__entry->flags, "|", { 1, "ONE" }, { 2, "TWO" }, { 12, "TWELVE" }),
		  __print_flags(__entry->flags & 0x10, "", { 1, "ONE" }),
		  __print_flags_u64(__entry->flags, "+", { 1ULL, "u1" }, { 2ULL, "u2" }),
		  __print_symbolic(__entry->color,
				   { PORTABLE_RED, "PORTABLE_RED" }, { PORTABLE_REDDER, "redder" },
				   { PORTABLE_LEN , "len" }, { 99, "" }),
		  __print_symbolic_u64(__entry->ns, { 5ULL, "five" }),
		  __print_hex(__entry->bytes, 20), __print_hex_str(__entry->bytes, 20),
		  __print_hex_dump("pre ", DUMP_PREFIX_OFFSET, 16, 1, __entry->bytes, 36, true),
		  __print_hex_dump("", DUMP_PREFIX_NONE, 32, 4, __entry->bytes, 36, true),
		  __print_ns_to_secs(__entry->ns), __print_ns_without_secs(__entry->ns),
		  sizeof(portable_pair_t), 4, __entry->bytes, __entry->bytes, __entry->bytes,
		  __entry->bytes, __entry->bytes)
);

DECLARE_EVENT_CLASS(p_class,
	TP_PROTO(int x, const char *s),
	TP_ARGS(x, s),
	TP_STRUCT__entry(
		__field(int, x)
		__string(s, s)
	),
	TP_fast_assign(
		__entry->x = x;
		PORTABLE_STR(s, s);
	),
	TP_printk("x=%d s=%s", __entry->x, __get_str(s))
);

DEFINE_EVENT(p_class, p_event,
	TP_PROTO(int x, const char *s),
	TP_ARGS(x, s));

DEFINE_EVENT(p_class, p_renamed,
	TP_PROTO(int y, const char *t),
	TP_ARGS(y, t));

DEFINE_EVENT_PRINT(p_class, p_event_print,
	TP_PROTO(int x, const char *s),
	TP_ARGS(x, s),
	TP_printk("\"%s\" \\ is\t%d %d", __get_str(s), __entry->x, PORTABLE_NEGATIVE));

DEFINE_EVENT_FN(p_class, p_event_fn,
	TP_PROTO(int x, const char *s),
	TP_ARGS(x, s),
	portable_reg, portable_unreg);

DEFINE_EVENT_CONDITION(p_class, p_event_condition,
	TP_PROTO(int x, const char *s),
	TP_ARGS(x, s),
	TP_CONDITION(x > 1));

TRACE_EVENT_FN(p_fn,
	TP_PROTO(int x),
	TP_ARGS(x),
	TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x),
	portable_reg, portable_unreg);

TRACE_EVENT_CONDITION(p_condition,
	TP_PROTO(int x),
	TP_ARGS(x),
	TP_CONDITION(x & 1),
	TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x));

TRACE_EVENT_FN_COND(p_fn_cond,
	TP_PROTO(int x),
	TP_ARGS(x),
	TP_CONDITION(x & 1),
	TP_STRUCT__entry(__field(int, x)),
	TP_fast_assign(__entry->x = x;),
	TP_printk("%d", __entry->x),
	portable_reg, portable_unreg);

TRACE_EVENT(p_no_fields,
	TP_PROTO(void *unused),
	TP_ARGS(unused),
	TP_STRUCT__entry(),
	TP_fast_assign(),
	TP_printk("%s", "nothing"));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE portable
#include <trace/define_trace.h>
