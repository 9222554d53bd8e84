// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters that programs run: the same answers as the reader's, on the same records; lists that are
 * refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>

#include "base/buf.h"
#include "event/format.h"
#include "record/user/filters.h"
#include "tracepoint/shared.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char sample_text[] =
	"name: sample\nID: 0\nformat:\n" COMMON "\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned int u;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:s64 l;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:u64 big;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:char name[8];\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] rel;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t mask;\toffset:48;\tsize:4;\tsigned:0;\n"
	"\tfield:s8 tiny;\toffset:52;\tsize:1;\tsigned:1;\n"
	"\tfield:u8 byte;\toffset:53;\tsize:1;\tsigned:0;\n"
	"\tfield:s16 half;\toffset:54;\tsize:2;\tsigned:1;\n"
	"\tfield:u16 uhalf;\toffset:56;\tsize:2;\tsigned:0;\n"
	"\nprint fmt: \"%s\", __print_symbolic(REC->n, { -1, \"MINUS\" }, { 1, \"ONE\" })\n";

/* What tests/live/filters.t asks the kernel's. */
static const char switch_text[] =
	"name: sched_switch\nID: 0\nformat:\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"%s\", (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "
	"\"|\", { 1, \"S\" }, { 2, \"D\" }) : \"R\"\n";

#define SIZE 160u

static struct tap_format *sample, *sched_switch;
static uint64_t seed = 1;

static uint32_t pick(uint32_t nr)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % nr;
}

static int open_formats(void **state)
{
	const struct tap_abi abi = { .long_size = sizeof(long) };
	cpu_set_t one;

	(void)state;
	/* what is asked twice must have the same CPU */
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	return sched_setaffinity(0, sizeof(one), &one) ||
	       tap_format_parse("app", sample_text, strlen(sample_text), abi, &sample, NULL) ||
	       tap_format_parse("app", switch_text, strlen(switch_text), abi, &sched_switch, NULL);
}

static int close_formats(void **state)
{
	(void)state;
	tap_format_free(sample);
	tap_format_free(sched_switch);
	return 0;
}

/* Small numbers, numbers at the ends of their types, anything. */
static uint64_t some_number(void)
{
	static const uint64_t ends[] = { 0,	     1,		 0x7f,		0x80,
					 0xff,	     0x7fff,	 0x8000,	0xffff,
					 INT32_MAX,  1ull << 31, UINT32_MAX,	INT64_MAX,
					 1ull << 63, UINT64_MAX, UINT64_MAX - 1 };

	switch (pick(3)) {
	case 0:
		return pick(4);
	case 1:
		return ends[pick(LEN(ends))];
	default:
		return (uint64_t)pick(UINT32_MAX) << 32 | pick(UINT32_MAX);
	}
}

static void some_text(unsigned char *to, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		to[i] = (unsigned char)"abx/*\0"[pick(6)];
}

/* A record as programs make it, or anything at all, in memory of its own size. */
static unsigned char *some_record(const struct tap_format *fmt, uint32_t *size)
{
	unsigned char *rec;
	uint32_t loc;

	*size = fmt->min_size + pick(SIZE - fmt->min_size);
	rec = malloc(*size);
	for (uint32_t i = 0; i < *size; i++)
		rec[i] = (unsigned char)pick(256);
	for (unsigned int i = 0; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];
		uint64_t v = some_number();

		loc = (f->is_rel ? 0 : f->offset) + pick(*size - f->offset);
		loc |= pick(24) << 16;
		if (f->kind == TAP_FIELD_NUMBER)
			memcpy(rec + f->offset, &v, f->size);
		else if (f->kind == TAP_FIELD_CHARS)
			some_text(rec + f->offset, f->size);
		else if (pick(8))
			memcpy(rec + f->offset, &loc, sizeof(loc));
	}
	if (pick(2) && *size > fmt->min_size)
		some_text(rec + fmt->min_size, *size - fmt->min_size);
	return rec;
}

/* Return: whether programs can run it. */
static bool check_same(const struct tap_format *fmt, const char *text, unsigned int records)
{
	struct tap_user_filter *f;
	struct tap_quick_filter quick = { 0 };
	unsigned char *rec;
	uint32_t size;
	bool can, is_quick, reader;

	if (tap_user_filter_new(fmt, text, &f, NULL))
		return false;
	can = f->steps;
	if (can && !tap_steps_check(f->steps, f->steps->bytes))
		fail_msg("its own list is refused: %s", text);
	is_quick = can && tap_steps_quick(f->steps, &quick);
	for (unsigned int i = 0; can && i < records; i++) {
		rec = some_record(fmt, &size);
		reader = tap_user_filter_match(f, rec, size, (unsigned int)sched_getcpu());
		if (tap_steps_match(f->steps, rec, size) != reader)
			fail_msg("the reader says %d: %s", reader, text);
		if (is_quick && tap_quick_rejects(&quick, rec, size) == reader)
			fail_msg("by value: the reader says %d: %s", reader, text);
		free(rec);
	}
	tap_user_filter_free(f);
	return can;
}

static void known_ones(void **state)
{
	static const char *const texts[] = {
		"n == -1",
		"n != -1",
		"n < 0",
		"n <= 0",
		"n > 0",
		"n >= 0",
		"n & 1",
		"n & -1",
		"n < -2147483648",
		"n >= -2147483648",
		"n > 2147483647",
		"n == ONE",
		"u > 2147483647",
		"u < 0x80000000",
		"u <= 4294967295",
		"l < -1",
		"l > 9223372036854775806",
		"l == -9223372036854775808",
		"big > 9223372036854775808",
		"big < 1",
		"big >= 18446744073709551615",
		"big & 0x8000000000000000",
		"tiny == -1",
		"tiny > -128",
		"tiny & 0x80",
		"byte > 127",
		"byte == 255",
		"half < -1",
		"half > 255",
		"uhalf >= 32768",
		"uhalf != 65535",
		"!(n == 1)",
		"!(byte < 128)",
		"common_pid > 0",
		"common_flags == 1",
		"common_preempt_count & 3",
		"name == \"a\"",
		"name == \"\"",
		"name != \"ab\"",
		"name == \"abxabxab\"",
		"name ~ \"a*\"",
		"name ~ \"*x*\"",
		"name ~ \"?[ab]*\"",
		"path == \"a\"",
		"path == \"\"",
		"path != \"\"",
		"path ~ \"*x*\"",
		"path ~ \"\"",
		"rel == \"b\"",
		"rel ~ \"*a/*\"",
		"mask & CPUS{0-3}",
		"mask == CPUS{1}",
		"mask != CPUS{0,64,127}",
		"mask & CPUS{200}",
		"n & CPUS{1,3}",
		"n == CPUS{1}",
		"n == CPUS{1,2}",
		"n != CPUS{1,2}",
		"tiny & CPUS{0-255}",
		"u & CPUS{0-65535}",
		"CPU & CPUS{0-8191}",
		"CPU >= 0",
		"CPU == 0",
		"CPU < 0",
		"n > u",
		"n < tiny",
		"big == l",
		"n + 1 == 2",
		"n * 2 - u / 3 > 5",
		"l / n > 0",
		"l % n == 1",
		"big / tiny < 100",
		"l / byte % 7 == half - 1",
		"(n + u) * (l - 1) < (big + tiny) * 3",
		"n / (u - 1) == 0",
		"sample(1/3)",
		"!sample(2/3) && n < 0",
		"sample(1/1)",
		"sample(1/4294967295)",
		"5ms < big",
		"uhalf >= 4K",
		"n == 1 && u > 2 || name == \"a\" && !(path ~ \"*b\")",
		"n == 1 && (u == 0 || (l > 0 && big & 1))",
		"!(n == 1 || u == 0) && !(path ~ \"a*\" || rel == \"x\")",
		"((n == 0) && !(!(u == 1) || l < 0)) || byte == 255",
	};

	(void)state;
	for (size_t i = 0; i < LEN(texts); i++)
		if (!check_same(sample, texts[i], 2000))
			fail_msg("programs cannot run: %s", texts[i]);
}

/* Those that the kernel's filter files are asked. */
static void kernels_ones(void **state)
{
	struct tap_buf file = { 0 };
	unsigned int same = 0;
	char *line, *rest;

	(void)state;
	assert_false(tap_buf_read_file(&file, "tests/live/filters.t"));
	rest = strstr(tap_buf_str(&file), "<<'LIST');\n");
	assert_non_null(rest);
	strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) && strcmp(line, "LIST"))
		same += check_same(sched_switch, line, 500);
	assert_true(same > 40);
	tap_buf_release(&file);
}

static void add_random(struct tap_buf *b, unsigned int depth)
{
	static const char *const fields[] = { "n",    "u",    "l",     "big",	     "tiny",
					      "byte", "half", "uhalf", "common_pid", "CPU" };
	static const char *const texts[] = { "name", "path", "rel" };
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	static const char *const sums[] = { "+", "-", "*", "/", "%" };
	static const char *const quoted[] = { "== \"a\"",  "!= \"ab\"", "== \"\"",    "~ \"*a*\"",
					      "~ \"?b*\"", "~ \"x\"",	"~ \"[!a]*\"" };
	static const char *const sets[] = { "& CPUS{0-3,65}", "== CPUS{1}", "!= CPUS{0,2}" };

	switch (depth ? pick(10) : 3 + pick(7)) {
	case 0:
		tap_buf_puts(b, "!(");
		add_random(b, depth - 1);
		tap_buf_char(b, ')');
		break;
	case 1:
	case 2:
		tap_buf_char(b, '(');
		add_random(b, depth - 1);
		tap_buf_puts(b, pick(2) ? ") && (" : ") || (");
		add_random(b, depth - 1);
		tap_buf_char(b, ')');
		break;
	case 3:
		tap_buf_printf(b, "%s %s", texts[pick(LEN(texts))], quoted[pick(LEN(quoted))]);
		break;
	case 4:
		tap_buf_printf(b, "%s %s", pick(2) ? "mask" : fields[pick(LEN(fields))],
			       sets[pick(LEN(sets))]);
		break;
	case 5:
		tap_buf_printf(b, "%s %s %s %s %s %s %u", fields[pick(LEN(fields))],
			       sums[pick(LEN(sums))], fields[pick(LEN(fields))],
			       ops[pick(LEN(ops))], fields[pick(LEN(fields))],
			       sums[pick(LEN(sums))], 1 + pick(5));
		break;
	default:
		tap_buf_printf(b, "%s %s %lld", fields[pick(LEN(fields))], ops[pick(LEN(ops))],
			       (long long)some_number());
	}
}

static void random_ones(void **state)
{
	unsigned int same = 0;

	(void)state;
	for (unsigned int i = 0; i < 3000; i++) {
		struct tap_buf b = { 0 };

		add_random(&b, 3);
		same += check_same(sample, tap_buf_str(&b), 20);
		tap_buf_release(&b);
	}
	assert_true(same > 600); /* others are refused: numbers that a field cannot hold */
}

static struct tap_user_filter *made_of(const char *part, const char *last, unsigned int times)
{
	struct tap_user_filter *f;
	struct tap_buf b = { 0 };

	for (unsigned int i = 0; i < times; i++)
		tap_buf_puts(&b, part);
	tap_buf_puts(&b, last);
	assert_false(tap_user_filter_new(sample, tap_buf_str(&b), &f, NULL));
	tap_buf_release(&b);
	return f;
}

static void what_is_left_to_the_recorder(void **state)
{
	static const struct {
		const char *part, *last;
		unsigned int times;
		const char *why; /* NULL: programs can run it */
	} cases[] = {
		{ "n == 1||", "n == 2", 400, NULL },
		{ "n==1||", "n == 2", 700, "the filter is too long" }, /* its text */
		{ "n>u||", "n>l", 400, "the filter is too long" }, /* its steps */
		{ "path~\"*a\"||", "n == 1", 14, NULL },
		{ "path~\"*a\"||", "n == 1", 16, "the filter is too long" }, /* its data */
		{ "", "common_type == 5", 0,
		  "the filter reads common_type, which differs between programs" },
		{ "n + (", "u)))))) > 1", 6, NULL },
		{ "n + (", "u))))))) > 1", 7, "the filter is nested too deeply" },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct tap_user_filter *f = made_of(cases[i].part, cases[i].last, cases[i].times);

		assert_int_equal(!f->steps, !!cases[i].why);
		if (cases[i].why)
			assert_string_equal(f->why, cases[i].why);
		tap_user_filter_free(f);
	}
}

static void who_reads_the_tid_says_so(void **state)
{
	struct tap_user_filter *f = made_of("", "n == 1 || common_pid * 2 == 4", 0);

	(void)state;
	assert_true(f->steps && f->reads_tid);
	tap_user_filter_free(f);
	f = made_of("", "n == 1", 0);
	assert_false(f->reads_tid);
	tap_user_filter_free(f);
}

/* The running task, and what was recorded before on other CPUs. */
static void what_is_not_known_is_refused(void **state)
{
	static const char *const texts[] = { "COMM == \"x\"", "n == 1 || changed(u)",
					     "moved(l, 5)" };
	struct tap_user_filter *f;
	struct tap_err err;

	(void)state;
	for (size_t i = 0; i < LEN(texts); i++) {
		assert_int_equal(tap_user_filter_new(sample, texts[i], &f, &err), -EINVAL);
		assert_null(f);
		assert_non_null(strstr(err.text, "app:sample"));
	}
}

/* Each is one change to a list that is accepted. */
static void lists_that_are_refused(void **state)
{
	static const struct {
		const char *name;
		uint16_t step, offset;
		uint8_t bytes;
		uint64_t value;
	} cases[] = {
		{ "a kind that is none", 0, offsetof(struct tap_step, kind), 1, TAP_STEP_KINDS },
		{ "back to itself", 1, offsetof(struct tap_step, yes), 2, 1 },
		{ "back to another", 2, offsetof(struct tap_step, no), 2, 0 },
		{ "past the last one", 0, offsetof(struct tap_step, yes), 2, 4 },
		{ "a comparison that is none", 0, offsetof(struct tap_step, op), 1, TAP_OP_ADD },
		{ "a comparison that always holds", 0, offsetof(struct tap_step, op), 1, 7 },
		{ "a number of three bytes", 0, offsetof(struct tap_step, size), 2, 3 },
		{ "a number beyond the record", 0, offsetof(struct tap_step, at), 2, 0xfffe },
		{ "a place that is none", 1, offsetof(struct tap_step, place), 1, TAP_PLACES },
		{ "a text beyond the list", 1, offsetof(struct tap_step, data_bytes), 4,
		  TAP_STEPS_MAX_BYTES },
		{ "a text that wraps around", 1, offsetof(struct tap_step, data_bytes), 4,
		  UINT32_MAX },
		{ "a text before its data", 1, offsetof(struct tap_step, data), 4, 8 },
		{ "a text at no multiple of 8", 1, offsetof(struct tap_step, data), 4,
		  8 + 4 * 32 + 1 },
		{ "half a glob", 2, offsetof(struct tap_step, data_bytes), 4, 1024 },
		{ "a register that is none", 3, offsetof(struct tap_step, to), 1, TAP_STEPS_REGS },
	};
	struct tap_user_filter *f =
		made_of("", "n == 1 && name == \"a\" && path ~ \"*x*\" && u > 5", 0);
	struct tap_steps *list = malloc(f->steps->bytes);

	(void)state;
	assert_int_equal(f->steps->nr, 4);
	for (size_t i = 0; i < LEN(cases); i++) {
		memcpy(list, f->steps, f->steps->bytes);
		assert_true(tap_steps_check(list, list->bytes));
		memcpy((char *)&list->v[cases[i].step] + cases[i].offset, &cases[i].value,
		       cases[i].bytes);
		if (tap_steps_check(list, list->bytes))
			fail_msg("accepted: %s", cases[i].name);
	}
	memcpy(list, f->steps, f->steps->bytes);
	assert_false(tap_steps_check(list, list->bytes - 8));
	list->nr = 0;
	assert_false(tap_steps_check(list, list->bytes));
	list->nr = TAP_STEPS_MAX;
	assert_false(tap_steps_check(list, list->bytes));
	list->nr = 4;
	list->min_size = TAP_RECORD_MAX + 1;
	assert_false(tap_steps_check(list, list->bytes));
	free(list);
	tap_user_filter_free(f);
}

static void short_records_are_accepted(void **state)
{
	struct tap_user_filter *f = made_of("", "n == 1 && u == 1", 0),
			       *quick = made_of("", "u == 1", 0);
	struct tap_quick_filter q = { 0 };
	unsigned char *rec = calloc(1, 15);

	(void)state;
	assert_true(tap_steps_match(f->steps, rec, 15));
	assert_true(tap_steps_quick(quick->steps, &q));
	assert_int_equal(tap_quick_rejects(&q, rec, 15), -1);
	free(rec);
	tap_user_filter_free(f);
	tap_user_filter_free(quick);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_ones),
		cmocka_unit_test(kernels_ones),
		cmocka_unit_test(random_ones),
		cmocka_unit_test(what_is_left_to_the_recorder),
		cmocka_unit_test(who_reads_the_tid_says_so),
		cmocka_unit_test(what_is_not_known_is_refused),
		cmocka_unit_test(lists_that_are_refused),
		cmocka_unit_test(short_records_are_accepted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_formats, close_formats);
}
