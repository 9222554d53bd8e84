// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Headers of events, read at run time: what is built in is what reading events/ gives, and errors
 * point. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event/define/define.h"
#include "tmp_dir.h"

/* In the order of tests/unit/define/all.h, with which this test's defs.o is built. */
static const char *const headers[] = {
	"events/throttle.h",	 "events/pick.h",   "events/sched.h",	 "events/task.h",
	"events/idle.h",	 "events/freq.h",   "events/irq.h",	 "events/cpuhp.h",
	"events/sched_ext.h",	 "events/pelt.h",   "events/util_est.h", "events/capacity.h",
	"events/nr_running.h",	 "events/energy.h", "events/uclamp.h",	 "events/resched.h",
	"events/dl.h",		 "events/scx.h",    "events/lost.h",	 "events/mark.h",
	"events/stack.h",	 "events/cgroup.h", "events/rename.h",	 "tests/unit/define/odd.h",
	"examples/own_events.h",
};

/* ---- the built-in events ---- */

static void check_text(const struct tap_def *read, const struct tap_def *built_in)
{
	struct tap_buf a = { 0 }, b = { 0 };
	struct tap_def same_id = *read;

	same_id.id = built_in->id;
	tap_def_format(&same_id, NULL, NULL, &a);
	tap_def_format(built_in, NULL, NULL, &b);
	assert_string_equal(tap_buf_str(&a), tap_buf_str(&b));
	tap_buf_release(&a);
	tap_buf_release(&b);
}

static void check_field(const struct tap_field *read, const struct tap_field *built_in)
{
	assert_string_equal(read->name, built_in->name);
	assert_string_equal(read->type, built_in->type);
	assert_int_equal(read->kind, built_in->kind);
	assert_int_equal(read->offset, built_in->offset);
	assert_int_equal(read->size, built_in->size);
	assert_int_equal(read->elem_size, built_in->elem_size);
	assert_int_equal(read->is_signed, built_in->is_signed);
}

static void check_same(const struct tap_def *read, const struct tap_def *built_in)
{
	assert_string_equal(read->system, built_in->system);
	assert_string_equal(read->name, built_in->name);
	assert_string_equal(read->group, built_in->group);
	assert_string_equal(read->print_fmt, built_in->print_fmt);
	assert_string_equal(read->params, built_in->params);
	assert_string_equal(read->assign, built_in->assign);
	assert_int_equal(!read->condition, !built_in->condition);
	if (read->condition)
		assert_string_equal(read->condition, built_in->condition);
	assert_int_equal(read->size, built_in->size);
	assert_int_equal(read->nr_fields, built_in->nr_fields);
	for (unsigned int i = 0; i < read->nr_fields; i++)
		check_field(&read->fields[i], &built_in->fields[i]);
	assert_int_equal(read->nr_hooks, built_in->nr_hooks);
	for (unsigned int i = 0; i < read->nr_hooks; i++) {
		assert_string_equal(read->hooks[i].tracepoint, built_in->hooks[i].tracepoint);
		assert_int_equal(read->hooks[i].nr_args, built_in->hooks[i].nr_args);
	}
	assert_int_equal(read->nr_needs, built_in->nr_needs);
	for (unsigned int i = 0; i < read->nr_needs; i++) {
		assert_string_equal(read->needs[i].field, built_in->needs[i].field);
		assert_string_equal(read->needs[i].spec, built_in->needs[i].spec);
	}
	check_text(read, built_in);
}

static void what_is_built_in_is_what_is_read(void **state)
{
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };
	const struct tap_def *def;
	unsigned int nr = 0, nr_built_in = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (tap_defs_read(&d, headers[i], &err))
			fail_msg("%s", err.text);
	for (; (def = tap_def_at(nr_built_in)); nr_built_in++) {
		if (def->form_of) /* headers of users have no short forms */
			continue;
		assert_non_null(tap_defs_at(&d, nr));
		check_same(tap_defs_at(&d, nr++), def);
	}
	assert_null(tap_defs_at(&d, nr));
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(tap_defs_at(&d, i)->id, TAP_DEF_ID_BASE + nr_built_in + i);
	tap_defs_release(&d);
}

/* ---- layouts ---- */

#define HEAD "#define TRACE_SYSTEM mine\n"
#define EVENT_OF(fields, assign, print)                                                            \
	"TRACE_EVENT(e,\n\tTP_PROTO(struct rq *rq),\n\tTP_ARGS(rq),\n\tTP_STRUCT__entry(" fields   \
	"),\n"                                                                                     \
	"\tTP_fast_assign(" assign "),\n\tTP_printk(" print ")\n);\n"
#define HOOK "TRACE_HOOK(e, tp, TP_PROTO(struct rq *rq), TP_ARGS(rq));\n"

static int read_text(struct tap_defs *d, const char *text, struct tap_err *err)
{
	return tap_defs_read_text(d, "own.h", text, strlen(text), err);
}

/* Records that the kernel laid out, as tracefs of v6.18 describes them. */
static const struct {
	const char *name, *fields, *want;
	uint32_t size;
} layouts[] = {
	{
		.name = "timer:hrtimer_start: pointers, an enum, a bool",
		.fields =
			"__field(void *, hrtimer) __field(void *, function) __field(s64, expires)\n"
			"__field(s64, softexpires) __field(enum hrtimer_mode, mode) __field(bool, "
			"was_armed)",
		.want = "\tfield:void * hrtimer;\toffset:8;\tsize:8;\tsigned:0;\n"
			"\tfield:void * function;\toffset:16;\tsize:8;\tsigned:0;\n"
			"\tfield:s64 expires;\toffset:24;\tsize:8;\tsigned:1;\n"
			"\tfield:s64 softexpires;\toffset:32;\tsize:8;\tsigned:1;\n"
			"\tfield:enum hrtimer_mode mode;\toffset:40;\tsize:4;\tsigned:0;\n"
			"\tfield:bool was_armed;\toffset:44;\tsize:1;\tsigned:0;\n",
		.size = 48,
	},
	{
		.name = "block:block_rq_issue: arrays of char that end anywhere",
		.fields = "__field(dev_t, dev) __field(sector_t, sector) __field(unsigned int, "
			  "nr_sector)\n"
			  "__field(unsigned int, bytes) __field(unsigned short, ioprio) "
			  "__array(char, rwbs, 10)\n"
			  "__array(char, comm, 16) __string(cmd, 1)",
		.want = "\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
			"\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n"
			"\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n"
			"\tfield:unsigned int bytes;\toffset:28;\tsize:4;\tsigned:0;\n"
			"\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;\n"
			"\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n"
			"\tfield:char comm[16];\toffset:44;\tsize:16;\tsigned:0;\n"
			"\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n",
		.size = 64,
	},
	{
		.name = "lengths are constant expressions of the header's own macros",
		.fields = "__array(s16, a, LONGS * (sizes + 1)) __array(u64, b, 0x2) "
			  "__field(signed char, c)",
		.want = "\tfield:s16 a[9];\toffset:8;\tsize:18;\tsigned:1;\n"
			"\tfield:u64 b[2];\toffset:32;\tsize:16;\tsigned:0;\n"
			"\tfield:signed char c;\toffset:48;\tsize:1;\tsigned:1;\n",
		.size = 56,
	},
	{ .name = "no field at all", .fields = "", .want = "", .size = 8 },
};

static void check_layout(const char *name, const char *fields, const char *want, uint32_t size)
{
	struct tap_buf text = { 0 }, format = { 0 };
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };
	const char *at;

	tap_buf_printf(&text,
		       HEAD "#define LONGS 3\n#define sizes 2\n" EVENT_OF("%s", "", "\"\"") HOOK,
		       fields);
	if (read_text(&d, tap_buf_str(&text), &err))
		fail_msg("%s: %s", name, err.text);
	tap_def_format(tap_defs_at(&d, 0), NULL, NULL, &format);
	at = strstr(tap_buf_str(&format), "\n\n") + 2;
	if (strlen(want) != (size_t)(strstr(at, "\nprint fmt: ") - at) ||
	    strncmp(at, want, strlen(want)))
		fail_msg("%s: %s", name, at);
	assert_int_equal(tap_defs_at(&d, 0)->size, size);
	tap_buf_release(&text);
	tap_buf_release(&format);
	tap_defs_release(&d);
}

static void records_are_laid_out_as_the_kernels(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		check_layout(layouts[i].name, layouts[i].fields, layouts[i].want, layouts[i].size);
}

/* ---- the preprocessor ---- */

/* What gcc's # makes of the text, with these macros. */
static const struct {
	const char *macros, *text, *want;
} expansions[] = {
	{ "#define F(x) x", "a =F( b ) ;", "a =b ;" },
	{ "#define F(x) -x", "a=-F(b);", "a=--b;" },
	{ "#define F(x, y) x y", "a=F(b,c);F(,c);F(b,);F(,);", "a=b c; c;b ; ;" },
	{ "#define F(x) #x", "F( b  +  c ) F(\"q\\n\" '\"')",
	  "\"b + c\" \"\\\"q\\\\n\\\" '\\\"'\"" },
	{ "#define F(x, y) x ## y ## _z", "F(b,c) F(,c) F(b,) F(,) z", "bc_z c_z b_z _z z" },
	{ "#define F(a, x...) f(a, ##x)", "F(1) F(1,2) F(1, 2, 3) F(1,)",
	  "f(1) f(1,2) f(1, 2, 3) f(1,)" },
	{ "#define F(...) f(0, ##__VA_ARGS__)", "F() F(1)", "f(0) f(0,1)" },
	{ "#define A B\n#define B A", "A B A+B", "A B A+B" },
	{ "#define F(x) x F(x)", "F(1) F(F(2))", "1 F(1) 2 F(2) F(2 F(2))" },
	{ "#define F(x) G\n#define G(y) <y>", "F(1)(2) F(1) (2) G (3) G", "<2> <2> <3> G" },
	{ "#define E", "a E b;aE;(E)E;E -E-E", "a b;aE;(); --" },
	{ "#define E\n#define F(x) x", "a F(E) b F( E)c F(E )-d F(E x E)y", "a b c -d x y" },
	{ "", "x tp_if(p, y,) z;f(tp_if(p,)q);w tp_if(p, , z)", "x y, z;f(q);w , z" },
	{ "#define f(a) a*g\n#define g(a) f(a)", "f(2)(9)", "2*9*g" },
	{ "#define CAT(a, b) CAT_(a, b)\n#define CAT_(a, b) a##b\n#define X y",
	  "CAT(X,1) CAT_(X, X)", "y1 XX" },
	{ "#define S(x) #x\n#define T(x) S(x)\n#define V 4 + 5", "S(V) T(V) S()",
	  "\"V\" \"4 + 5\" \"\"" },
	{ "#define P ( 1\n#define F(x) [x]", "F P ) F\n(2)", "F ( 1 ) [2]" },
	{ "#define L(a) a \\\n  + a", "q L(b)/**/r // s\n t", "q b + b r t" },
	{ "#define z z[0]\n#define f(a) <a>", "f(z)", "<z[0]>" },
	{ "#define F(x) x\n#define G  a b", "q F(1)F( 1 ) G;G", "q 11 a b;a b" },
	{ "#define x 2\n#undef x\n#undef y", "x", "x" },
	{ "#if 1 + 2 * 3 == 7 && !0 && (defined A || !defined(A)) && -1 >> 70 == ~0 && 8 - 4 - 2 "
	  "== 2\n#define a 1\n#elif 1\n"
	  "#define a 2\n#else\n#define a 3\n#endif",
	  "a", "1" },
	{ "#ifdef A\n#error A's\n/* # */ #define a 1\n#elif 0x10 / 3 % 4 ^ 1 ? 0 : 010 - "
	  "8\n#else\n#define a 3\n#endif",
	  "a", "3" },
	{ "#ifndef A\n#if 0\n#if 1\n#define a 1\n#else\n#define a 4\n#endif\n#endif\n#define "
	  "A\n#endif\n#ifndef A\n"
	  "#define a 2\n#endif",
	  "a", "a" },
	{ "#include <linux/tracepoint.h>\n#pragma once\n#", "__entry->z9", "REC->z9" },
	{ "#define F(x) x", "F(1\n#define F(a, b, c, d, e, f, g, h) b\n)", "1" },
	{ "#define F(x) x", "F(\n#ifdef F\n1\n#else\n2\n#endif\n)", "1" },
};

static void texts_are_what_gcc_makes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(expansions) / sizeof(*expansions); i++) {
		struct tap_buf text = { 0 };
		struct tap_defs d = { 0 };
		struct tap_err err = { 0 };

		tap_buf_printf(&text, HEAD "%s\n" EVENT_OF("__field(u8, z9)", "%s", "\"\"") HOOK,
			       expansions[i].macros, expansions[i].text);
		if (read_text(&d, tap_buf_str(&text), &err))
			fail_msg("%s: %s", expansions[i].text, err.text);
		assert_string_equal(tap_defs_at(&d, 0)->assign, expansions[i].want);
		tap_defs_release(&d);
		tap_buf_release(&text);
	}
}

/* ---- errors ---- */

#define GOOD EVENT_OF("__field(u32, util)", "__entry->util = rq->util;", "\"%u\", __entry->util")

static const struct {
	const char *text, *want;
} errors[] = {
	/* of words */
	{ HEAD GOOD HOOK "TRACE_EVNT(e);",
	  "own.h:10: expected an event, TRACE_HOOK() or TRACE_NEEDS(), not 'TRACE_EVNT': did you "
	  "mean 'TRACE_EVENT'?\n TRACE_EVNT(e);\n ^" },
	{ HEAD GOOD HOOK "int x;",
	  "own.h:10: expected an event, TRACE_HOOK() or TRACE_NEEDS(), not 'int'\n int x;\n ^" },
	{ HEAD "TRACE_EVENT e;", "own.h:2: 'TRACE_EVENT' has no '('\n TRACE_EVENT e;\n ^" },
	{ HEAD "TRACE_EVENT(e, TP_PROTO(int a)\n",
	  "own.h:2: a ')' is missing\n TRACE_EVENT(e, TP_PROTO(int a)\n ^" },
	{ HEAD ");",
	  "own.h:2: expected an event, TRACE_HOOK() or TRACE_NEEDS(), not ')'\n );\n ^" },
	{ HEAD "TRACE_EVENT(e) f;",
	  "own.h:2: a ';' is missing before this\n TRACE_EVENT(e) f;\n                ^" },
	{ HEAD "TRACE_EVENT(e)",
	  "own.h:2: a ';' is missing after this\n TRACE_EVENT(e)\n              ^" },
	{ HEAD "TRACE_HOOK(e, t);", "own.h:2: TRACE_HOOK(event, tracepoint, TP_PROTO(), TP_ARGS()) "
				    "has 4 arguments, not 2\n TRACE_HOOK(e, t);\n ^" },
	{ HEAD "TRACE_EVENT(e, TP_PROTO(int a), TP_ARG(a), 3, 4, 5);",
	  "own.h:2: TP_ARGS() is missing here\n"
	  " TRACE_EVENT(e, TP_PROTO(int a), TP_ARG(a), 3, 4, 5);\n                                 "
	  "^" },
	{ HEAD "TRACE_EVENT(e, TP_PROTO(int a) TP_ARGS(a), 3, 4, 5, 6);",
	  "own.h:2: a comma is missing after TP_PROTO()\n TRACE_EVENT(e, TP_PROTO(int a) "
	  "TP_ARGS(a), 3, 4, 5, 6);\n                                ^" },
	{ HEAD "TRACE_EVENT(e, TP_PROTO(int a), TP_ARGS(a, b), 3, 4, 5);",
	  "own.h:2: wrong number of arguments: TP_PROTO() has 1, TP_ARGS() has 2\n"
	  " TRACE_EVENT(e, TP_PROTO(int a), TP_ARGS(a, b), 3, 4, 5);\n                             "
	  "    ^" },
	/* of names */
	{ HEAD "TRACE_EVENT(9e, 1, 2, 3, 4, 5);",
	  "own.h:2: not a name: an event's name is a word of up to 100 letters, digits and _\n "
	  "TRACE_EVENT(9e, 1, 2, 3, 4, 5);\n             ^" },
	{ HEAD "TRACE_EVENT(, 1, 2, 3, 4, 5);",
	  "own.h:2: an event's name is missing\n TRACE_EVENT(, 1, 2, 3, 4, 5);\n"
	  " ^" },
	{ GOOD HOOK,
	  "own.h:1: no system: '#define TRACE_SYSTEM name' is missing above\n TRACE_EVENT(e,\n"
	  "             ^" },
	{ HEAD GOOD HOOK GOOD,
	  "own.h:10: 'e' is already defined in own.h:2\n TRACE_EVENT(e,\n             ^" },
	{ HEAD "DEFINE_EVENT(c, e, TP_PROTO(int a), TP_ARGS(a));",
	  "own.h:2: there is no class 'c'\n"
	  " DEFINE_EVENT(c, e, TP_PROTO(int a), TP_ARGS(a));\n              ^" },
	{ HEAD GOOD HOOK "DEFINE_EVENT(e, f, TP_PROTO(), TP_ARGS());",
	  "own.h:10: wrong number of arguments: TP_ARGS() of 'e' has 1, not 0\n"
	  " DEFINE_EVENT(e, f, TP_PROTO(), TP_ARGS());\n                                ^" },
	/* of fields */
	{ HEAD EVENT_OF("__field(u31, a)", "", "\"\""),
	  "own.h:5: 'u31' is not a field type: use u8 to u64, s8 to s64, int, long, char, bool, "
	  "pid_t, enum or a pointer\n TP_STRUCT__entry(__field(u31, a)),\n"
	  "                          ^" },
	{ HEAD EVENT_OF("__field(u8 *;, a)", "", "\"\""),
	  "own.h:5: 'u8 *;' is not a field type: use u8 to u64, s8 to s64, int, long, char, bool, "
	  "pid_t, enum or a pointer\n TP_STRUCT__entry(__field(u8 *;, a)),\n"
	  "                          ^" },
	{ HEAD EVENT_OF("__field(struct rq, a)", "", "\"\""),
	  "own.h:5: 'struct rq' is not a field type: use u8 to u64, s8 to s64, int, long, char, "
	  "bool, pid_t, enum or a pointer\n TP_STRUCT__entry(__field(struct rq, a)),\n"
	  "                          ^" },
	{ HEAD EVENT_OF("__field(, a)", "", "\"\""),
	  "own.h:5: the field's type is missing\n"
	  " TP_STRUCT__entry(__field(, a)),\n                  ^" },
	{ HEAD EVENT_OF("__field(u8, int)", "", "\"\""),
	  "own.h:5: 'int' is a C keyword, so it cannot be a field's name\n"
	  " TP_STRUCT__entry(__field(u8, int)),\n                              ^" },
	{ HEAD GOOD HOOK HOOK, "own.h:10: 'e' already has TRACE_HOOK() for 'tp'\n "
			       "TRACE_HOOK(e, tp, TP_PROTO(struct rq *rq), TP_ARGS(rq));\n"
			       "               ^" },
	{ HEAD EVENT_OF("__field(u8, a[2])", "", "\"\""),
	  "own.h:5: not a name: a field's name is a word of up to 100 letters, digits and _\n "
	  "TP_STRUCT__entry(__field(u8, a[2])),\n                              ^" },
	{ HEAD EVENT_OF("__field(u8, a) __field(u8, a)", "", "\"\""),
	  "own.h:5: duplicate field 'a'\n"
	  " TP_STRUCT__entry(__field(u8, a) __field(u8, a)),\n                                     "
	  "        ^" },
	{ HEAD EVENT_OF("__field(u8, common_a)", "", "\"\""),
	  "own.h:5: 'common_a': names that begin with common_ are reserved\n "
	  "TP_STRUCT__entry(__field(u8, common_a)),\n                              ^" },
	{ HEAD EVENT_OF("__array(u8, a, 65536)", "", "\"\""),
	  "own.h:5: 65536 elements: an array of this type can have 1 to 4000\n "
	  "TP_STRUCT__entry(__array(u8, a, 65536)),\n                                 ^" },
	{ HEAD EVENT_OF("__array(u8, a, N)", "", "\"\""),
	  "own.h:5: not a constant that the header defines\n"
	  " TP_STRUCT__entry(__array(u8, a, N)),\n                                 ^" },
	{ HEAD EVENT_OF("__array(u8, a, 3800) __string(b, 1)", "", "\"\""),
	  "own.h:5: with 'b' a record takes 4068 bytes: the limit is 4000, counting 256 per "
	  "__string and 128 per __bitmask\n"
	  " TP_STRUCT__entry(__array(u8, a, 3800) __string(b, 1)),\n"
	  "                                                ^" },
	{ HEAD EVENT_OF("__dynamic_array(u8, a, 3)", "", "\"\""),
	  "own.h:5: '__dynamic_array' is not supported here: use __field, __array, __string or "
	  "__bitmask\n TP_STRUCT__entry(__dynamic_array(u8, a, 3)),\n"
	  "                  ^" },
	{ HEAD EVENT_OF("u8 a;", "", "\"\""),
	  "own.h:5: expected a field: __field, __array, __string or __bitmask\n"
	  " TP_STRUCT__entry(u8 a;),\n                  ^" },
	{ HEAD EVENT_OF("__field(u8, util)", "__entry->utl = 1;", "\"\""),
	  "own.h:6: unknown field 'utl': did you mean 'util'?\n TP_fast_assign(__entry->utl = "
	  "1;),\n                         ^" },
	{ HEAD EVENT_OF("__field(u8, util)", "", "\"%u\", __entry->utl"),
	  "own.h:7: unknown field 'utl': did you mean 'util'?\n TP_printk(\"%u\", __entry->utl)\n  "
	  "                        ^" },
	{ HEAD EVENT_OF("__string(name, 1)", "", "\"%s\", __get_str(nam)"),
	  "own.h:7: unknown field 'nam': did you mean 'name'?\n TP_printk(\"%s\", "
	  "__get_str(nam))\n                           ^" },
	{ HEAD EVENT_OF("", "", "FMT, 1"),
	  "own.h:7: the print format must be a string constant\n TP_printk(FMT, 1)\n"
	  "           ^" },
	/* of what feeds them */
	{ HEAD GOOD, "own.h:2: this event has no tracepoint: add TRACE_HOOK(e, TRACEPOINT, "
		     "TP_PROTO(struct rq *rq), TP_ARGS(rq));\n"
		     " TRACE_EVENT(e,\n             ^" },
	{ HEAD "TRACE_HOOK(e, t, TP_PROTO(int a), TP_ARGS(a));",
	  "own.h:2: this file defines no event 'e'\n"
	  " TRACE_HOOK(e, t, TP_PROTO(int a), TP_ARGS(a));\n            ^" },
	{ HEAD GOOD "TRACE_HOOK(e, t, TP_PROTO(int a, int b), TP_ARGS(a, b));",
	  "own.h:9: wrong number of arguments: TP_ARGS() of 'e' has 1, not 2\n TRACE_HOOK(e, t, "
	  "TP_PROTO(int a, int b), TP_ARGS(a, b));\n"
	  "                                          ^" },
	{ HEAD GOOD HOOK "TRACE_NEEDS(e, utl, \"a.b\");",
	  "own.h:10: unknown field 'utl': did you mean 'util'?\n"
	  " TRACE_NEEDS(e, utl, \"a.b\");\n                ^" },
	{ HEAD GOOD HOOK "TRACE_NEEDS(e, , \"ab\");",
	  "own.h:10: expected a string: \"struct.member\", or several separated by |\n "
	  "TRACE_NEEDS(e, , \"ab\");\n                  ^" },
	{ HEAD GOOD HOOK "TRACE_NEEDS(e, , \"a.b|c\");",
	  "own.h:10: expected a string: \"struct.member\", or several separated by |\n "
	  "TRACE_NEEDS(e, , \"a.b|c\");\n                  ^" },
	{ HEAD GOOD HOOK "TRACE_NEEDS(e, util x, \"a.b\");",
	  "own.h:10: not a name: a field's name is a word of up to 100 letters, digits and _\n "
	  "TRACE_NEEDS(e, util x, \"a.b\");\n                ^" },
	{ HEAD "TRACE_EVENT_CONDITION(e, TP_PROTO(int a), TP_ARGS(a), TP_CONDITION(__entry->b), 3, "
	       "4, 5);",
	  "own.h:2: a condition can use only the arguments: the record does not exist yet\n"
	  " VENT_CONDITION(e, TP_PROTO(int a), TP_ARGS(a), TP_CONDITION(__entry->b), 3, \n"
	  "                                                             ^" },
	/* of the preprocessor */
	{ "#if 1\n", "own.h:1: #if without #endif\n #if 1\n  ^" },
	{ "#if 0\n#else\n#else\n", "own.h:3: #else without #if\n #else\n  ^" },
	{ "#endif\n", "own.h:1: #endif without #if\n #endif\n  ^" },
	{ "#if 1 +\n#endif\n", "own.h:1: a number is missing\n #if 1 +\n  ^" },
	{ "#if (1\n#endif\n", "own.h:1: ')' is missing\n #if (1\n  ^" },
	{ "#if 1 / 0\n#endif\n", "own.h:1: division by zero\n #if 1 / 0\n  ^" },
	{ "#if 1.5\n#endif\n", "own.h:1: not a whole number\n #if 1.5\n     ^" },
	{ "#defin X\n",
	  "own.h:1: unknown directive '#defin': did you mean '#define'?\n #defin X\n  ^" },
	{ "#define\n", "own.h:1: #define has no name\n #define\n        ^" },
	{ "#define F(a b\n", "own.h:1: expected macro parameters: names separated by commas, then "
			     "')'\n #define F(a b\n"
			     "             ^" },
	{ "#define F(a) #b\n",
	  "own.h:1: '#' must be before a parameter\n #define F(a) #b\n              ^" },
	{ "#define F ## b\n",
	  "own.h:1: '##' must be between two tokens\n #define F ## b\n           ^" },
	{ "#define F(a) a\n F(1, 2)", "own.h:2: 'F' takes 1 argument\n F(1, 2)\n ^" },
	{ "#define F(a) a\nF(1", "own.h:2: the call of macro 'F' has no ')'\n F(1\n ^" },
	{ "#define G(a, b) a ## b\nG(+, /)", "own.h:2: '+/' is not a token\n G(+, /)\n   ^" },
	{ "#error not here\n", "own.h:1: #error not here\n #error not here\n  ^" },
	{ "#include <a.h>\n#include a.h\n",
	  "own.h:2: #include has no \"file\"\n #include a.h\n          ^" },
	{ "#include \"/none.h\"\n",
	  "own.h:1: cannot read '/none.h': No such file or directory\n #include \"/none.h\"\n"
	  "          ^" },
	{ "a\n/* b\n", "own.h:2: unterminated comment\n /* b\n ^" },
	{ "\"a\n", "own.h:1: unterminated quote\n \"a\n ^" },
	/* the line is the file's, whatever was joined, and in a macro's text where that stands */
	{ HEAD "#define FIELDS \\\n\t__field(u8, a) \\\n\t__field(u8, a)\n" EVENT_OF("FIELDS", "",
										     "\"\""),
	  "own.h:4: duplicate field 'a'\n __field(u8, a)\n             ^" },
};

static void errors_point(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct tap_defs d = { 0 };
		struct tap_err err = { 0 };

		assert_int_equal(read_text(&d, errors[i].text, &err), -EINVAL);
		assert_string_equal(err.text, errors[i].want);
		tap_defs_release(&d);
	}
}

/* ---- files and limits ---- */

static void check_refused(const char *path, int want_ret, const char *want)
{
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };

	assert_int_equal(tap_defs_read(&d, path, &err), want_ret);
	assert_string_equal(err.text, want);
	tap_defs_release(&d);
}

static void what_is_no_header_is_refused(void **state)
{
	(void)state;
	check_refused("/none.h", -ENOENT, "cannot read '/none.h': No such file or directory");
	check_refused("/", -EISDIR, "cannot read '/': Is a directory");
	check_refused("/dev/zero", -EFBIG,
		      "definition file '/dev/zero' is larger than the limit of 1024 KiB");
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void includes_are_where_the_file_is(void **state)
{
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };
	struct tmp_dir dir;
	char *want;

	(void)state;
	tmp_make(&dir);
	write_file(tmp_at(&dir, "a.h"), "#include \"b.h\"\n" GOOD HOOK);
	write_file(tmp_at(&dir, "b.h"),
		   HEAD "#ifdef SECOND\n#include \"./b.h\"\n#endif\n#define SECOND\n");
	assert_int_equal(tap_defs_read(&d, tmp_at(&dir, "a.h"), &err), 0);
	assert_string_equal(tap_defs_at(&d, 0)->system, "mine");
	tap_defs_release(&d);
	write_file(tmp_at(&dir, "c.h"), "#define SECOND\n#include \"b.h\"\n");
	assert_int_equal(tap_defs_read(&d, tmp_at(&dir, "c.h"), &err), -EINVAL);
	assert_true(asprintf(&want,
			     "%s/b.h:3: include cycle: %s/b.h includes %s/./b.h\n #include "
			     "\"./b.h\"\n          ^",
			     dir.path, dir.path, dir.path) > 0);
	assert_string_equal(err.text, want);
	free(want);
	tap_defs_release(&d);
	tmp_remove(&dir);
}

/* Texts that grow when they are read: all are refused at once. */
static void what_grows_is_bounded(void **state)
{
	struct tap_buf text = { 0 };
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 60; i++)
		tap_buf_printf(&text, "#define m%u m%u m%u\n", i, i + 1, i + 1);
	tap_buf_puts(&text, "m0");
	assert_int_equal(read_text(&d, tap_buf_str(&text), &err), -EINVAL);
	assert_non_null(strstr(err.text, ": more than 1048576 tokens after macro expansion\n"));
	tap_defs_release(&d);
	tap_buf_clear(&text);
	tap_buf_printf(&text,
		       HEAD "#define l %01000d\n#define m l l l l l l l l l l l l l l l l\n#define "
			    "n m m m m m m m m\n" EVENT_OF("", "n n n n n n n n n n", "\"\"") HOOK,
		       1);
	assert_int_equal(read_text(&d, tap_buf_str(&text), &err), -EINVAL);
	assert_non_null(
		strstr(err.text, "own.h:9: text is longer than 1024 KiB\n TP_fast_assign(n n"));
	tap_defs_release(&d);
	for (unsigned int kind = 0; kind < 3; kind++) {
		static const char *const begins[] = { "#define f(x) x\n", "#if ", "#if 1" },
					 *const opens[] = { "f(", "(", "?1:1" };

		tap_buf_clear(&text);
		tap_buf_puts(&text, begins[kind]);
		for (unsigned int i = 0; i < 100000; i++)
			tap_buf_puts(&text, opens[kind]);
		for (unsigned int i = 0; i < 100000 && kind < 2; i++)
			tap_buf_char(&text, ')');
		assert_int_equal(read_text(&d, tap_buf_str(&text), &err), -EINVAL);
		tap_defs_release(&d);
	}
	tap_buf_release(&text);
}

static void add_events(struct tap_buf *text, unsigned int nr)
{
	tap_buf_puts(text, HEAD "DECLARE_EVENT_CLASS(c, TP_PROTO(int a), TP_ARGS(a), "
				"TP_STRUCT__entry(), TP_fast_assign(), TP_printk(\"\"));\n");
	for (unsigned int i = 0; i < nr; i++)
		tap_buf_printf(text,
			       "DEFINE_EVENT(c, e%u, TP_PROTO(int a), TP_ARGS(a));\n"
			       "TRACE_HOOK(e%u, t, TP_PROTO(int a), TP_ARGS(a));\n",
			       i, i);
}

static void numbers_have_limits(void **state)
{
	struct tap_buf text = { 0 };
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };

	(void)state;
	add_events(&text, TAP_DEFS_MAX);
	assert_int_equal(read_text(&d, tap_buf_str(&text), &err), 0);
	assert_int_equal(tap_defs_at(&d, TAP_DEFS_MAX - 1)->id,
			 tap_defs_at(&d, 0)->id + TAP_DEFS_MAX - 1);
	assert_true(tap_defs_at(&d, TAP_DEFS_MAX - 1)->id < 0x8000);
	tap_defs_release(&d);
	tap_buf_clear(&text);
	add_events(&text, TAP_DEFS_MAX + 1);
	assert_int_equal(read_text(&d, tap_buf_str(&text), &err), -EINVAL);
	assert_non_null(strstr(err.text, ": more than 256 definitions\n"));
	tap_defs_release(&d);
	tap_buf_clear(&text);
	add_events(&text, 1);
	for (unsigned int i = 0; i < TAP_DEF_MAX_HOOKS; i++)
		tap_buf_printf(&text, "TRACE_HOOK(e0, t%u, TP_PROTO(int a), TP_ARGS(a));\n", i);
	assert_int_equal(read_text(&d, tap_buf_str(&text), &err), -EINVAL);
	assert_non_null(strstr(err.text, ": more than 4 TRACE_HOOK() for 'e0'\n"));
	tap_defs_release(&d);
	tap_buf_release(&text);
}

/* ---- events of one's own ---- */

static void two_files_are_one_set(void **state)
{
	static const char yours[] = "#define TRACE_SYSTEM yours\n" GOOD HOOK;
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };

	(void)state;
	assert_int_equal(
		tap_defs_read_text(&d, "a.h", HEAD GOOD HOOK, strlen(HEAD GOOD HOOK), &err), 0);
	assert_int_equal(tap_defs_read_text(&d, "b.h", yours, strlen(yours), &err), 0);
	assert_int_equal(d.nr, 2);
	assert_int_equal(read_text(&d, HEAD HOOK, &err), -EINVAL);
	assert_string_equal(err.text, "own.h:2: this file defines no event 'e'\n TRACE_HOOK(e, tp, "
				      "TP_PROTO(struct rq *rq), TP_ARGS(rq));\n            ^");
	assert_int_equal(
		tap_defs_read_text(&d, "b.h", HEAD GOOD HOOK, strlen(HEAD GOOD HOOK), &err),
		-EINVAL);
	assert_string_equal(
		err.text,
		"b.h:2: 'mine:e' is already defined in a.h:2\n TRACE_EVENT(e,\n             ^");
	tap_defs_release(&d);
}

static void check_place(const struct tap_def *def, const char *text, const char *what,
			const char *want)
{
	struct tap_err err = { 0 };
	const char *at = strstr(text, what);

	assert_non_null(at);
	assert_int_equal(tap_defs_fail(def, at, &err, "no"), -EINVAL);
	assert_string_equal(err.text, want);
}

static void own_events_are_read_and_point_back(void **state)
{
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };
	const struct tap_def *def;

	(void)state;
	if (tap_defs_read(&d, "examples/own_events.h", &err))
		fail_msg("%s", err.text);
	assert_int_equal(d.nr, 2);
	def = tap_defs_at(&d, 0);
	assert_string_equal(def->system, "own");
	assert_string_equal(def->group, "own_events");
	assert_string_equal(def->condition, "tp_se_is_task(se)");
	assert_string_equal(
		def->assign,
		"unsigned long util = se->avg.util_avg; unsigned long runnable = "
		"se->avg.runnable_avg; tp_se_comm(REC->comm, se); REC->pid = tp_se_pid(se); "
		"REC->util = util; REC->waiting = 0; REC->is_squeezed = 0; if (runnable > util) { "
		"REC->waiting = runnable - util; REC->is_squeezed = runnable - util > util / 4; }");
	assert_string_equal(def->hooks[0].tracepoint, "pelt_se_tp");
	assert_int_equal(def->size, 40);
	check_place(def, def->assign, "util_avg",
		    "examples/own_events.h:39: no\n unsigned long util = se->avg.util_avg;\n"
		    "                              ^");
	check_place(def, def->assign, "4;",
		    "examples/own_events.h:49: no\n"
		    " __entry->is_squeezed = runnable - util > util / 4;\n"
		    "                                                 ^");
	check_place(def, def->condition, "se)",
		    "examples/own_events.h:28: no\n TP_CONDITION(tp_se_is_task(se)),\n"
		    "                            ^");
	check_place(def, "elsewhere", "",
		    "examples/own_events.h:25: no\n TRACE_EVENT_CONDITION(task_demand,\n"
		    "                       ^");
	tap_defs_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_built_in_is_what_is_read),
		cmocka_unit_test(records_are_laid_out_as_the_kernels),
		cmocka_unit_test(texts_are_what_gcc_makes),
		cmocka_unit_test(errors_point),
		cmocka_unit_test(what_is_no_header_is_refused),
		cmocka_unit_test(includes_are_where_the_file_is),
		cmocka_unit_test(what_grows_is_bounded),
		cmocka_unit_test(numbers_have_limits),
		cmocka_unit_test(two_files_are_one_set),
		cmocka_unit_test(own_events_are_read_and_point_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
