// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters: what they accept and refuse, and which records fit. tests/live/filters.t asks the kernel
 * the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "base/buf.h"
#include "event/expr/filter.h"
#include "event/format.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

static const char format_text[] =
	"name: sample\nID: 7\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned int u;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 big;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char name[16];\toffset:24;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t mask;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:s8 tiny;\toffset:48;\tsize:1;\tsigned:1;\n"
	"\tfield:u8 bytes[4];\toffset:49;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%s %s %s\", __print_symbolic(REC->n, { -5, \"MINUS_FIVE\" }, { 1, \"ONE\" "
	"}), (REC->u & 0xff) ? __print_flags(REC->u & 0xff, \"|\", { 1, \"A\" }, { 2, \"B\" }) : "
	"\"NONE\", REC->name\n";

/* n=-5 u=3000000000 big=2^63+1 name="kworker/0:1" path="/bin/sh" mask=0,2,65 tiny=-1 */
static const struct __attribute__((packed)) {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid, n;
	uint32_t u;
	uint64_t big;
	char name[16];
	uint32_t path, mask;
	int8_t tiny;
	uint8_t bytes[4], pad[3];
	char path_text[8];
	uint64_t mask_bits[2];
} record = { 7,
	     1,
	     2,
	     42,
	     -5,
	     3000000000u,
	     (1ull << 63) + 1,
	     "kworker/0:1",
	     56 | 8 << 16,
	     64 | 16 << 16,
	     -1,
	     { 1, 2, 3, 4 },
	     { 0 },
	     "/bin/sh",
	     { 5, 2 } };

static struct tap_format *fmt;

static int open_format(void **state)
{
	(void)state;
	return tap_format_parse("app", format_text, strlen(format_text),
				(struct tap_abi){ .long_size = 8 }, &fmt, NULL);
}

static int close_format(void **state)
{
	(void)state;
	tap_format_free(fmt);
	return 0;
}

static const struct {
	const char *text;
	bool holds;
} match_cases[] = {
	{ "n == -5", true },
	{ "n != -5", false },
	{ "n < 0", true },
	{ "n > -6", true },
	{ "n <= -6", false },
	{ "n >= -5", true },
	{ "n & 1", true },
	{ "n & 4", false },
	{ "n & -1", true },
	{ "n & 0x80000000", true },
	{ "u == 3000000000", true },
	{ "u > 2999999999", true },
	{ "u < 0x10", false },
	{ "u & 0x80000000", true },
	{ "big > 9223372036854775808", true },
	{ "big == 9223372036854775809", true },
	{ "big < 5", false },
	{ "tiny == -1", true },
	{ "tiny < 0", true },
	{ "tiny & 0xff", true },
	{ "common_pid == 42", true },
	{ "common_flags == 1 && common_preempt_count == 2", true },
	{ "CPU == 3", true },
	{ "cpu != 3", false },
	{ "common_cpu & 2", true },
	{ "CPU < 0", false },
	/* texts */
	{ "name == \"kworker/0:1\"", true },
	{ "name == 'kworker/0:1'", true },
	{ "name == \"kworker\"", false },
	{ "name != \"kworker\"", true },
	{ "name ~ \"kworker*\"", true },
	{ "name ~ \"*0:?\"", true },
	{ "name ~ \"[a-j]*\"", false },
	{ "name ~ \"[!a-j]wor*\"", true },
	{ "name ~ \"[^k]*\"", true },
	{ "name ~ \"[!k]*\"", false },
	{ "name ~ \"kworker[\\/]0*\"", true },
	{ "name ~ \"kworker[/\\]0*\"", true },
	{ "name ~ \"kw[[-o]*\"", true },
	{ "name ~ \"[[:alpha:]]*\"", false },
	{ "name ~ \"kworker[.-0]*\"", true },
	{ "name ~ \"kworker[a-]*\"", false },
	{ "name ~ \"kworker[]/]*\"", true },
	{ "name ~ \"[kworker*\"", false },
	{ "name ~ \"\\kw?rker*\"", true },
	{ "name ~ \"[z-a]*\"", false },
	{ "path ~ \"*sh\"", true },
	{ "name ~ \"*:1\"", true },
	{ "name ~ \"*\"", true },
	{ "name == \"\"", false },
	{ "name ~ \"\"", false },
	{ "path == \"/bin/sh\"", true },
	{ "path ~ \"*/sh\"", true },
	{ "path ~ \"*bash\"", false },
	{ "COMM == \"perf\"", true },
	{ "comm ~ \"p*\"", true },
	{ "COMM != \"perf\"", false },
	/* sets of CPUs */
	{ "CPU & CPUS{0-3}", true },
	{ "CPU & CPUS{0-2,4}", false },
	{ "CPU == CPUS{3}", true },
	{ "CPU == CPUS{3,4}", false },
	{ "CPU != CPUS{3,4}", true },
	{ "n & CPUS{0-7}", false },
	{ "mask & CPUS{1,2}", true },
	{ "mask & CPUS{1,3-64}", false },
	{ "mask == CPUS{0,2,65}", true },
	{ "mask == CPUS{0,2}", false },
	{ "mask != CPUS{0,2,65,66}", true },
	{ "mask & CPUS{65}", true },
	/* what joins them */
	{ "n == -5 && u == 1", false },
	{ "n == -5 || u == 1", true },
	{ "n == 1 || u == 1", false },
	{ "n == 1 && u == 1 || CPU == 3", true },
	{ "n == 1 && (u == 1 || CPU == 3)", false },
	{ "n == -5 || u == 1 && CPU == 1", true },
	{ "(n == -5 || u == 1) && CPU == 1", false },
	{ "!n == -5", false },
	{ "!(n == -5)", false },
	{ "!!(n == -5)", true },
	{ "! n == 1", true },
	{ "!(n == 1 || u == 1) && !(CPU == 1)", true },
	{ "!(n == -5 && !(u == 1))", false },
	{ "n==1||n==2||n==-5", true },
	{ "((((n == -5))))", true },
	{ "!(n == 1 && u == 1 && CPU == 3)", true },
	/* what the kernel has not: sums, units, numbers on both sides */
	{ "n + 10 == 5", true },
	{ "n * 2 < -9", true },
	{ "-5 == n", true },
	{ "3 == CPU", true },
	{ "0 > n", true },
	{ "-6 <= n", true },
	{ "(n + 1) * 2 == -8", true },
	{ "n < u", true },
	{ "u / 1000000 == 3000", true },
	{ "u % 7 == 3000000000 % 7", true },
	{ "n - n == 0", true },
	{ "u == 3s", true },
	{ "u > 2999ms", true },
	{ "u >= 2G", true },
	{ "u < 1M", false },
	{ "u - 3s == 0", true },
	{ "(n) == -5", true },
	{ "u > common_pid * 8 / 10", true },
	{ "-(n) == 5", false },
	/* names of values, as the print format has them */
	{ "n == MINUS_FIVE", true },
	{ "n != ONE", true },
	{ "n > ONE", false },
	{ "u & A", false },
	{ "u == NONE", false },
	{ "u != NONE", true },
	/* nothing compares with what was divided by zero */
	{ "u / (n + 5) == 0", false },
	{ "u / (n + 5) != 0", false },
	{ "!(u / (n + 5) == 0)", true },
	{ "u % (n + 5) == 0 || CPU == 3", true },
};

static const struct tap_filter_about about = { .cpu = 3, .comm = "perf", .comm_len = 4 };

static bool holds(const char *text, const struct tap_filter_about *a)
{
	struct tap_err err = { 0 };
	struct tap_filter *f;
	bool yes;

	if (tap_filter_new(fmt, text, &f, &err)) {
		print_error("%s\n", err.text);
		fail();
	}
	yes = tap_filter_match(f, &record, sizeof(record), a);
	tap_filter_free(f);
	return yes;
}

static void test_match(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(match_cases); i++) {
		if (!strncmp(match_cases[i].text, "-(n)", 4)) /* a minus is a number's */
			continue;
		print_message("# %s\n", match_cases[i].text);
		assert_int_equal(holds(match_cases[i].text, &about), match_cases[i].holds);
	}
}

/* An unknown value matches no pattern and no list. */
static void test_unknown(void **state)
{
	const struct tap_filter_about nothing = { .cpu = -1 };

	(void)state;
	assert_false(holds("COMM == \"perf\"", &nothing));
	assert_false(holds("COMM ~ \"*\"", &nothing));
	assert_true(holds("CPU == -1", &nothing));
	assert_false(holds("CPU & CPUS{0-63}", &nothing));
}

static const struct {
	const char *text, *message;
	int caret;
} refused_cases[] = {
	{ "", "Missing term", 0 },
	{ "n", "Invalid operator", 1 },
	{ "n = 1", "Invalid operator", 3 },
	{ "n ==", "Invalid value (did you forget quotes)?", 4 },
	{ "m == 1", "Field not found", 2 },
	{ "names == 1", "Field not found: did you mean 'name'?", 6 },
	{ "n == 1x", "Illegal integer value", 6 },
	{ "n == 08", "Illegal integer value", 6 },
	{ "n == 4294967296", "Illegal integer value", 6 },
	{ "n == 0xffffffff", "Illegal integer value", 6 },
	{ "u == -1", "Illegal integer value", 6 },
	{ "u > 4294967296", "Illegal integer value", 5 },
	{ "n == 5min", "Illegal integer value", 6 },
	{ "big == 18446744073709551616", "Illegal integer value", 8 },
	{ "n == 10000000000s", "Illegal integer value", 6 },
	{ "n == \"1\"", "Expecting numeric field", 6 },
	{ "name == 1", "Expecting string field", 9 },
	{ "n == TWO", "Invalid value (did you forget quotes)?", 6 },
	{ "u == ONE", "Invalid value (did you forget quotes)?", 6 },
	{ "n + 1 == ONE", "Invalid value (did you forget quotes)?", 10 },
	{ "name == ONE", "Invalid value (did you forget quotes)?", 9 },
	{ "name == bash", "Invalid value (did you forget quotes)?", 9 },
	{ "name == \"x", "Missing matching quote", 8 },
	{ "name < \"x\"", "Illegal operation for field type", 8 },
	{ "n ~ 1", "Illegal operation for field type", 5 },
	{ "name ~ \"!x\"", "Illegal operation for field type", 8 },
	{ "bytes == 1", "Illegal operation for field type", 10 },
	{ "name + 1 == 2", "Invalid operator", 6 },
	{ "n + name == 2", "Expecting numeric field", 5 },
	{ "n == 1 / 0", "Division by zero", 10 },
	{ "(n == 1", "Too many '('", 0 },
	{ "n == 1)", "Too few '('", 6 },
	{ "()", "Missing term", 1 },
	{ "n == 1 && ", "Missing term", 9 },
	{ "n == 1 && && n == 2", "Missing term", 10 },
	{ "!", "No filter found", 1 },
	{ "n == 1 n == 2", "Too many terms in predicate expression", 7 },
	{ "n == 1 & 2", "Too many terms in predicate expression", 7 },
	{ "n & CPUS{0", "Missing '}'", 10 },
	{ "n & CPUS 0}", "Missing '{'", 10 },
	{ "n & CPUS{x}", "Invalid cpulist", 11 },
	{ "n < CPUS{0}", "Illegal operation for field type", 5 },
	{ "name & CPUS{0}", "Illegal operation for field type", 8 },
	{ "n == (n == 1)", "Invalid value (did you forget quotes)?", 6 },
	{ "(n == 1) + 1 == 2", "Too many terms in predicate expression", 9 },
	{ "n == 1 + CPUS{0}", "Expecting numeric field", 10 },
	{ "((n == 1) && (n == 2) && (n == 3", "Too many '('", 25 },
	{ "('(' == 1", "Too many '('", 0 },
	{ "n == \"(\" )", "Too few '('", 9 },
	{ "(n + 1) && n == 1", "Invalid operator", 9 },
	{ "(n 1)", "Invalid operator", 4 },
	{ "name == -", "Expecting string field", 9 },
	{ "name == n", "Invalid value (did you forget quotes)?", 9 },
	{ "n & \"x\"", "Illegal operation for field type", 5 },
	{ "sample(1)", "Missing '/'", 8 },
	{ "sample(1/0)", "Illegal integer value", 10 },
	{ "sample(2/1)", "Illegal integer value", 8 },
	{ "sample(0/1)", "Illegal integer value", 8 },
	{ "sample(n/1)", "Illegal integer value", 8 },
	{ "sample(1/5000000000)", "Illegal integer value", 8 },
	{ "sample(1/2", "Too many '('", 6 },
	{ "sample(1/2 3)", "Missing ')'", 11 },
	{ "sample", "Field not found: did you mean 'name'?", 6 },
	{ "sample == 1", "Field not found: did you mean 'name'?", 7 },
	{ "changed()", "Field not found", 9 },
	{ "changed(m)", "Field not found", 10 },
	{ "changed(name)", "Expecting numeric field", 9 },
	{ "changed(nam)", "Field not found: did you mean 'name'?", 12 },
	{ "changed(n + 1)", "Missing ')'", 10 },
	{ "changed(n, 1)", "Missing ')'", 9 },
	{ "moved(n)", "Missing ','", 7 },
	{ "moved(n, 0)", "Illegal integer value", 10 },
	{ "moved(n, -1)", "Illegal integer value", 10 },
	{ "moved(n, u)", "Illegal integer value", 10 },
	{ "moved(n, 4294967296)", "Illegal integer value", 10 },
	{ "moved(tiny, 256)", "Illegal integer value", 13 },
	{ "changed(n) == 1", "Too many terms in predicate expression", 11 },
	{ "n == changed(n)", "Invalid value (did you forget quotes)?", 6 },
	{ "changed(n) + 1 == 2", "Too many terms in predicate expression", 11 },
	{ "changed n", "Field not found", 8 },
	{ "n && n == 1", "Invalid operator", 3 },
	{ "!n", "Invalid operator", 2 },
	{ "\xc3\xa9 == 1", "Missing term", 0 },
};

static void test_refused(void **state)
{
	struct tap_filter *f;
	char want[1024];

	(void)state;
	for (size_t i = 0; i < LEN(refused_cases); i++) {
		struct tap_err err = { 0 };

		print_message("# %s\n", refused_cases[i].text);
		assert_int_equal(tap_filter_new(fmt, refused_cases[i].text, &f, &err), -EINVAL);
		assert_null(f);
		snprintf(want, sizeof(want), "bad filter for 'app:sample': %s\n %s\n %*s^",
			 refused_cases[i].message, refused_cases[i].text, refused_cases[i].caret,
			 "");
		assert_string_equal(err.text, want);
	}
}

/* @nr times @before, one @middle, @nr times @after. */
static char *repeated(const char *before, const char *middle, const char *after, unsigned int nr)
{
	struct tap_buf b = { 0 };

	for (unsigned int i = 0; i < nr; i++)
		tap_buf_puts(&b, before);
	tap_buf_puts(&b, middle);
	for (unsigned int i = 0; i < nr; i++)
		tap_buf_puts(&b, after);
	tap_buf_str(&b);
	assert_int_equal(b.err, 0);
	return b.data;
}

static const struct {
	const char *before, *middle, *after;
	unsigned int nr;
	const char *refused; /* NULL: it holds */
} long_cases[] = {
	{ "(", "n == -5", ")", 1000, NULL },
	{ "(", "n == -5", ")", 1025, "Too many '('" },
	{ "", "n == -5", " && n == -5", 1000, NULL },
	{ "n == 1 || ", "n == -5", "", 1000, NULL },
	{ "!", "n == -5", "", 1000, NULL },
	{ "!(", "n == -5", ")", 1000, NULL },
	{ "", "n == -5", " ", 65000, NULL },
	{ "", "n == -5", " ", 66000, "more than 65536 bytes" },
	{ "", "n == -5", " + 1 - 1", 5000, NULL },
	{ "", "n == u", " + u", 150, "" },
	{ "", "n == u", " + u", 5000, "Too many terms" },
	{ "", "n == 1", " / u", 17, "Too many terms" },
	{ "a", " == 1", "", 60000, "Field not found" },
	{ "", "name ~ \"", "x\"", 1, "" },
	{ "", "name ~ \"*", "x", 64, "Missing matching quote" },
};

static void test_long(void **state)
{
	struct tap_filter *f;

	(void)state;
	for (size_t i = 0; i < LEN(long_cases); i++) {
		char *text = repeated(long_cases[i].before, long_cases[i].middle,
				      long_cases[i].after, long_cases[i].nr);
		struct tap_err err = { 0 };
		int ret = tap_filter_new(fmt, text, &f, &err);

		print_message("# %zu: %.40s\n", i, text);
		if (long_cases[i].refused && *long_cases[i].refused) {
			assert_int_equal(ret, -EINVAL);
			assert_non_null(strstr(err.text, long_cases[i].refused));
		} else {
			assert_int_equal(ret, 0);
			assert_int_equal(tap_filter_match(f, &record, sizeof(record), &about),
					 !long_cases[i].refused);
		}
		tap_filter_free(f);
		free(text);
	}
}

/* ---- sample(), changed(), moved() ---- */

static const char signal_format[] =
	"name: signal\nID: 8\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:s32 pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:s32 cpu;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 cgroup;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 util;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:s32 drift;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:s32 next_pid;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:u32 next_prio;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%d\", REC->util\n";

struct signal {
	uint16_t type;
	int32_t common_pid, pid, cpu;
	uint64_t cgroup;
	uint32_t util;
	int32_t drift, next_pid;
	uint32_t next_prio;
};

static struct tap_format *signal_fmt(void)
{
	struct tap_format *f;

	assert_int_equal(tap_format_parse("app", signal_format, strlen(signal_format),
					  (struct tap_abi){ .long_size = 8 }, &f, NULL),
			 0);
	return f;
}

static const struct {
	const char *text;
	struct signal v[8];
	const char *passes; /* of each whether it does */
} past_cases[] = {
	{ "changed(util)",
	  { { .pid = 1, .util = 0 },
	    { .pid = 1, .util = 0 },
	    { .pid = 1, .util = 3 },
	    { .pid = 1, .util = 3 },
	    { .pid = 1, .util = 0 } },
	  "10101" },
	{ "moved(util, 16)",
	  { { .pid = 1, .util = 100 },
	    { .pid = 1, .util = 115 },
	    { .pid = 1, .util = 116 },
	    { .pid = 1, .util = 101 },
	    { .pid = 1, .util = 100 },
	    { .pid = 1, .util = 0 } },
	  "101011" },
	/* what did not pass is not what the next one is compared with */
	{ "moved(util, 16) && cpu == 0",
	  { { .pid = 1, .util = 100 },
	    { .pid = 1, .util = 200, .cpu = 1 },
	    { .pid = 1, .util = 110 },
	    { .pid = 1, .util = 84 } },
	  "1001" },
	/* what passed is, although it was not asked */
	{ "cpu == 1 || moved(util, 16)",
	  { { .pid = 1, .util = 100 },
	    { .pid = 1, .util = 110, .cpu = 1 },
	    { .pid = 1, .util = 120 },
	    { .pid = 1, .util = 94 } },
	  "1101" },
	{ "!changed(util)", { { .pid = 1, .util = 1 }, { .pid = 1, .util = 1 } }, "00" },
	{ "!changed(util) || cpu == 1",
	  { { .pid = 1, .util = 1, .cpu = 1 }, { .pid = 1, .util = 1 }, { .pid = 1, .util = 2 } },
	  "110" },
	/* of each task, wherever; of each cgroup on each CPU; of each CPU */
	{ "changed(util)",
	  { { .pid = 1, .util = 5 },
	    { .pid = 2, .util = 5 },
	    { .pid = 1, .util = 5, .cpu = 1 },
	    { .pid = 2, .util = 6 } },
	  "1101" },
	{ "changed(util)",
	  { { .pid = -1, .cgroup = 7 },
	    { .pid = -1, .cgroup = 8 },
	    { .pid = -1, .cgroup = 7, .cpu = 1 },
	    { .pid = -1, .cgroup = 7 },
	    { .pid = -1, .cgroup = 7, .cpu = 1 } },
	  "11100" },
	{ "changed(util)",
	  { { .pid = 0, .cpu = 0 }, { .pid = 0, .cpu = 1 }, { .pid = 0, .cpu = 0 }, { .pid = 1 } },
	  "1101" },
	/* next_prio is of next_pid; next_pid itself is of pid */
	{ "changed(next_prio)",
	  { { .pid = 1, .next_pid = 5 }, { .pid = 2, .next_pid = 5 }, { .pid = 2, .next_pid = 6 } },
	  "101" },
	{ "changed(next_pid)",
	  { { .pid = 1, .next_pid = 5 }, { .pid = 1, .next_pid = 5 }, { .pid = 1, .next_pid = 6 } },
	  "101" },
	{ "changed(common_type)",
	  { { .pid = 1, .common_pid = 3 },
	    { .pid = 2, .common_pid = 3 },
	    { .pid = 2, .common_pid = 4 } },
	  "101" },
	/* far ends */
	{ "moved(drift, 0xffffffff)",
	  { { .pid = 1, .drift = INT32_MIN },
	    { .pid = 1, .drift = 0 },
	    { .pid = 1, .drift = INT32_MAX } },
	  "101" },
	{ "moved(drift, 2147483649)",
	  { { .pid = 1, .drift = 1 }, { .pid = 1, .drift = INT32_MIN } },
	  "11" },
	{ "moved(cgroup, 1)",
	  { { .pid = 1, .cgroup = UINT64_MAX },
	    { .pid = 1, .cgroup = 0 },
	    { .pid = 1, .cgroup = 0 } },
	  "110" },
	{ "moved(util, 1us)",
	  { { .pid = 1, .util = 0 }, { .pid = 1, .util = 999 }, { .pid = 1, .util = 1000 } },
	  "101" },
	/* two in one */
	{ "changed(util) && changed(drift)",
	  { { .pid = 1 },
	    { .pid = 1, .util = 1 },
	    { .pid = 1, .util = 1, .drift = 1 },
	    { .pid = 1, .util = 1 } },
	  "1010" },
	{ "moved(util, 16) || moved(util, 4)",
	  { { .pid = 1 }, { .pid = 1, .util = 3 }, { .pid = 1, .util = 4 } },
	  "101" },
};

static void test_past(void **state)
{
	struct tap_format *f = signal_fmt();

	(void)state;
	for (size_t i = 0; i < LEN(past_cases); i++) {
		struct tap_filter *filter;
		char got[9] = "";

		print_message("# %s\n", past_cases[i].text);
		assert_int_equal(tap_filter_new(f, past_cases[i].text, &filter, NULL), 0);
		for (size_t k = 0; past_cases[i].passes[k]; k++)
			got[k] = tap_filter_match(filter, &past_cases[i].v[k],
						  sizeof(struct signal), &about)
					 ? '1'
					 : '0';
		assert_string_equal(got, past_cases[i].passes);
		tap_filter_free(filter);
	}
	tap_format_free(f);
}

/* Many keys, some of one hash, against a plain table. */
static void test_past_many(void **state)
{
	struct tap_past p = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 30000; i++) {
		struct tap_past_key key = { i % 1000, i / 1000 % 10 },
				    same = { key.id ^ key.cpu * 0x9e3779b97f4a7c15u, 0 };
		const uint64_t *v = tap_past_get(&p, key);

		if (i < 10000)
			assert_true(!v || key.cpu == 0);
		else
			assert_int_equal(*v, i - 10000);
		assert_int_equal(tap_past_set(&p, key, i), 0);
		if (key.cpu) {
			assert_int_equal(tap_past_set(&p, same, i + 7), 0);
			assert_int_equal(*tap_past_get(&p, same), i + 7);
		}
		assert_int_equal(*tap_past_get(&p, key), i);
	}
	tap_past_release(&p);
}

/* Return how many of 100000 threads, with tids @step apart, are in "sample(@rate)". */
static unsigned int sampled(const char *rate, int step)
{
	struct tap_format *f = signal_fmt();
	struct tap_filter *filter;
	char text[64];
	unsigned int nr = 0;

	snprintf(text, sizeof(text), "sample(%s)", rate);
	assert_int_equal(tap_filter_new(f, text, &filter, NULL), 0);
	for (int i = 0; i < 100000; i++)
		nr += (unsigned int)tap_filter_match(filter,
						     &(struct signal){ .common_pid = i * step },
						     sizeof(struct signal), &about);
	tap_filter_free(filter);
	tap_format_free(f);
	return nr;
}

static void test_sample(void **state)
{
	static const struct {
		const char *rate;
		unsigned int share; /* of 100000 */
	} cases[] = {
		{ "1/1", 100000 }, { "1/2", 50000 },  { "1 / 100", 1000 },
		{ "3/7", 42857 },  { "1/1000", 100 }, { "1/4294967295", 0 },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++)
		for (int step = 1; step < 40; step++) {
			unsigned int nr = sampled(cases[i].rate, step), want = cases[i].share;

			print_message("# %s by %d: %u\n", cases[i].rate, step, nr);
			assert_in_range(nr, want - want / 10, want + want / 10);
		}
	assert_int_equal(sampled("1/2", 0), 0); /* the idle tasks */
	assert_int_equal(sampled("2/3", 0), 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_past),	cmocka_unit_test(test_past_many),
		cmocka_unit_test(test_sample),	cmocka_unit_test(test_match),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_format, close_format);
}
