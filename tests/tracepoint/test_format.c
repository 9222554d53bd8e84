// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Format texts, against what the kernel's trace_events.c (6.1) makes of the same event. */
#include <stdio.h>
#include <stdlib.h>

#include "tracepoint/check_text.h"
#include "tracepoint/internal.h"

static const struct trace_eval_map evals[] = {
	{ "here", "RED", 3 },
	{ "here", "REDDER", 4 },
	{ "here", "NEGATIVE", -2ul },
	{ "here", "HUGE", 1ul << (8 * sizeof(long) - 2) },
	{ "here", "sizeof(pair_t)", 16 },
	{ "here", "sizeof(s8)", 3 },
	{ "there", "BLUE", 5 },
};
static const struct trace_eval_map *eval_ptrs[TABLE(evals)];
static struct tap_object object;

/* The format text, from @from on. */
static char *format(const struct trace_event_info *info, const char *from)
{
	struct tap_text t = { 0 };
	char *text;

	tap_format_text(&t, "event", info, &object);
	tap_text_add(&t, "", 1);
	text = strdup(strstr(t.data, from));
	tap_text_release(&t);
	return text;
}

static void test_print_fmt(void)
{
	static const struct trace_event_field fields[] = { { 8, 12, 0, 6 }, { 24, 8, 0, 0 } };
	static const struct {
		const char *name, *fmt, *want;
	} cases[] = {
		{ "a name has its value", "\"%d\", RED", "\"%d\", 3" },
		{ "a negative one", "\"%d\", NEGATIVE", "\"%d\", -2" },
		{ "a long one", "HUGE + 1",
		  sizeof(long) == 8 ? "4611686018427387904 + 1" : "1073741824 + 1" },
		{ "the end of a name counts", "REDDER RED REDS RED_ RED2", "4 3 REDS RED_ RED2" },
		{ "its beginning, too", "XRED _RED 1RED", "XRED _RED 1RED" },
		{ "names side by side", "RED|REDDER,RED", "3|4,3" },
		{ "in quotes it stays", "\"RED\", RED", "\"RED\", 3" },
		{ "a quote with a backslash does not end a text", "\"\\\"RED\\\\\", RED",
		  "\"\\\"RED\\\\\", 3" },
		{ "a text without an end", "\"RED", "\"RED" },
		{ "a member of the same name stays", "REC->RED, RED", "REC->RED, 3" },
		{ "a member of a member", "REC->pair.RED, REC->pair->RED",
		  "REC->pair.RED, REC->pair->RED" },
		{ "a minus before it is none of these", "1-RED, 1 - RED, -RED", "1-3, 1 - 3, -3" },
		{ "another system's stays", "BLUE RED", "BLUE 3" },
		{ "sizeof of a type", "sizeof(pair_t) sizeof(other_t)", "16 sizeof(other_t)" },
		{ "sizeof of a common type",
		  "sizeof(u8) sizeof(u64) sizeof(uint16_t) sizeof(__s32) sizeof(unsigned int)",
		  "1 8 2 4 4" },
		{ "of a pointer", "sizeof(struct other *) sizeof(void*)",
		  sizeof(void *) == 8 ? "8 8" : "4 4" },
		{ "of a long", "sizeof(unsigned long) sizeof( long )",
		  sizeof(long) == 8 ? "8 8" : "4 4" },
		{ "blanks do not count", "sizeof (u32) sizeof( const u32 )", "4 4" },
		{ "of a field", "sizeof(REC->mac) sizeof(REC->mac[0]) sizeof(REC->id)", "12 2 8" },
		{ "of what is no array", "sizeof(REC->id[0])", "sizeof(REC->id[0])" },
		{ "of no field", "sizeof(REC->ids) sizeof(REC->i) sizeof(REC->) sizeof()",
		  "sizeof(REC->ids) sizeof(REC->i) sizeof(REC->) sizeof()" },
		{ "of a member", "sizeof(REC->mac.x)", "sizeof(REC->mac.x)" },
		{ "of an expression", "sizeof((u8)REC->id) sizeof REC->id",
		  "sizeof((u8)REC->id) sizeof REC->id" },
		{ "a program's own size comes first", "sizeof(s8)", "3" },
		{ "a name that begins so", "sizeof_it(u8) mysizeof(u8)",
		  "sizeof_it(u8) mysizeof(u8)" },
		{ "without an end", "sizeof(u8", "sizeof(u8" },
		{ "in quotes", "\"sizeof(u8)\"", "\"sizeof(u8)\"" },
		{ "in an expression", "REC->id / sizeof(u32), sizeof(u32))", "REC->id / 4, 4)" },
		{ "numbers stay", "0x1RED 12ULL", "0x1RED 12ULL" },
		{ "in a list", "{ RED, \"RED\" }", "{ 3, \"RED\" }" },
		{ "nothing", "", "" },
		{ "no argument: other readers take the kernel's comma for a mistake",
		  "\"text, \", ", "\"text, \"" },
	};

	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct trace_event_info info = { .system = "here",
						       .names = "u16[6]\0mac\0u64\0id\0",
						       .fields = fields,
						       .nr_fields = TABLE(fields),
						       .print_fmt = cases[i].fmt };
		char want[512], *got = format(&info, "print fmt: ");

		snprintf(want, sizeof(want), "print fmt: %s\n", cases[i].want);
		check(cases[i].name, got, want);
		free(got);
	}
}

static void test_fields(void)
{
	static const struct {
		const char *name, *type, *want;
		struct trace_event_field field;
	} cases[] = {
		{ "a number",
		  "unsigned long\0x",
		  "unsigned long x;\toffset:8;\tsize:8;\tsigned:0;",
		  { 8, 8, 0 } },
		{ "a signed one", "s8\0x", "s8 x;\toffset:9;\tsize:1;\tsigned:1;", { 9, 1, 1 } },
		{ "a pointer",
		  "const char *\0x",
		  "const char * x;\toffset:16;\tsize:8;\tsigned:0;",
		  { 16, 8, 0 } },
		{ "an array has its length after its name",
		  "char[16]\0x",
		  "char x[16];\toffset:8;\tsize:16;\tsigned:1;",
		  { 8, 16, 1, 16 } },
		{ "whatever the length is called",
		  "char[NOBODY * 3]\0x",
		  "char x[3];\toffset:8;\tsize:3;\tsigned:1;",
		  { 8, 3, 1, 3 } },
		{ "dynamic data",
		  "__data_loc char[]\0x",
		  "__data_loc char[] x;\toffset:8;\tsize:4;\tsigned:1;",
		  { 8, 4, 1 } },
		{ "the kernel takes the other kind for an array",
		  "__rel_loc char[]\0x",
		  "__rel_loc char x[];\toffset:8;\tsize:4;\tsigned:1;",
		  { 8, 4, 1 } },
		{ "a cpumask is none",
		  "__rel_loc cpumask_t\0x",
		  "__rel_loc cpumask_t x;\toffset:8;\tsize:4;\tsigned:0;",
		  { 8, 4, 0 } },
		{ "a type whose name is a value's stays",
		  "RED\0x",
		  "RED x;\toffset:8;\tsize:4;\tsigned:0;",
		  { 8, 4, 0 } },
	};

	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct trace_event_info info = { .system = "here",
						       .names = cases[i].type,
						       .fields = &cases[i].field,
						       .nr_fields = 1,
						       .print_fmt = "" };
		char want[512], *got = format(&info, "\n\n") + 2;

		snprintf(want, sizeof(want), "\tfield:%s\n\nprint fmt: \n", cases[i].want);
		check(cases[i].name, got, want);
		free(got - 2);
	}
}

static void test_whole(void)
{
	const struct trace_event_info info = { .system = "here",
					       .names = "",
					       .print_fmt = "own RED" };
	char *got = format(&info, "name");

	check("all of it", got,
	      "name: event\nID: 0\nformat:\n"
	      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	      "\n\nprint fmt: own 3\n");
	free(got);
}

/* More than the memory that a text begins with. */
static void test_long(void)
{
	static char fmt[100000], want[sizeof(fmt) + 32];
	const struct trace_event_info info = { .system = "here", .names = "", .print_fmt = fmt };
	char *got;

	for (size_t i = 0; i < sizeof(fmt) - 1; i++)
		fmt[i] = i % 5 == 4 ? ' ' : 'a';
	got = format(&info, "print fmt: ");
	snprintf(want, sizeof(want), "print fmt: %s\n", fmt);
	check("a long text", strcmp(got, want) ? "is not what it should be" : "", "");
	free(got);
}

int main(void)
{
	for (size_t i = 0; i < TABLE(evals); i++)
		eval_ptrs[i] = &evals[i];
	object.evals = eval_ptrs;
	object.evals_end = eval_ptrs + TABLE(evals);
	test_print_fmt();
	test_fields();
	test_whole();
	test_long();
	printf("1..%d\n", nr);
	return failed != 0;
}
