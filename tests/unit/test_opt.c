// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "base/opt.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define MAX_WORDS 8
#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

struct opts {
	bool all, brief;
	const char *input;
	struct tap_strings events;
	uint64_t duration_ns, buffer_bytes;
	int64_t top;
	struct tap_filters filters;
};

static const struct tap_opt table[] = {
	{ "all", 'a', NULL, "everything", TAP_OPT_FLAG, offsetof(struct opts, all) },
	{ "brief", 'b', NULL, "less", TAP_OPT_FLAG, offsetof(struct opts, brief) },
	{ "input", 'i', "FILE", "read this", TAP_OPT_STRING, offsetof(struct opts, input) },
	{ "event", 'e', "EVENT", "these", TAP_OPT_STRINGS, offsetof(struct opts, events) },
	{ "duration", 'd', "TIME", "how long", TAP_OPT_TIME, offsetof(struct opts, duration_ns) },
	{ "buffer", 0, "SIZE", "how much", TAP_OPT_SIZE, offsetof(struct opts, buffer_bytes) },
	{ "top", 'n', "N", "how many", TAP_OPT_INT, offsetof(struct opts, top), 1, 100 },
	{ "filter", 'f', "FILTER", "which", TAP_OPT_FILTERS, offsetof(struct opts, filters),
	  .of = offsetof(struct opts, events) },
	{ 0 },
};

/* All that was parsed as one line, so that a case says all that it wants in one string. */
static void show(struct tap_buf *out, const struct opts *o, const struct tap_strings *operands,
		 char **rest)
{
	tap_buf_printf(out, "%s%s", o->all ? "all " : "", o->brief ? "brief " : "");
	if (o->input)
		tap_buf_printf(out, "i=<%s> ", o->input);
	for (unsigned int i = 0; i < o->events.nr; i++)
		tap_buf_printf(out, "e=<%s> ", o->events.v[i]);
	if (o->duration_ns)
		tap_buf_printf(out, "d=%ju ", (uintmax_t)o->duration_ns);
	if (o->buffer_bytes)
		tap_buf_printf(out, "buffer=%ju ", (uintmax_t)o->buffer_bytes);
	if (o->top)
		tap_buf_printf(out, "n=%jd ", (intmax_t)o->top);
	for (unsigned int i = 0; i < o->filters.nr; i++)
		tap_buf_printf(out, "f=<%s> ", o->filters.v[i] ? o->filters.v[i] : "-");
	for (unsigned int i = 0; i < operands->nr; i++)
		tap_buf_printf(out, "(%s) ", operands->v[i]);
	if (rest)
		tap_buf_puts(out, "-- ");
	for (; rest && *rest; rest++)
		tap_buf_printf(out, "[%s] ", *rest);
}

static void test_parse(void **state)
{
	static const struct {
		const char *name;
		const char *words[MAX_WORDS];
		const char *want; /* what show() gives, or the sentence of a failure */
		int ret;
		bool command;
	} cases[] = {
		{ "no words", { NULL }, "" },
		{ "flags", { "-a", "--brief" }, "all brief " },
		{ "flags in one word", { "-ab" }, "all brief " },
		{ "--opt=value", { "--input=x" }, "i=<x> " },
		{ "--opt value", { "--input", "x" }, "i=<x> " },
		{ "-ovalue", { "-ix" }, "i=<x> " },
		{ "-o value", { "-i", "x" }, "i=<x> " },
		{ "flags before a letter and value", { "-aix", "-bi", "y" }, "all brief i=<y> " },
		{ "an empty value", { "--input=" }, "i=<> " },
		{ "a value with an equals sign", { "--input=a=b" }, "i=<a=b> " },
		{ "a value that looks like an option", { "-i", "-a" }, "i=<-a> " },
		{ "the last of two values", { "-i", "x", "-i", "y" }, "i=<y> " },
		{ "every value of a list, in order",
		  { "-e", "x", "--event=y", "-ez" },
		  "e=<x> e=<y> e=<z> " },
		{ "a time", { "-d", "1.5s" }, "d=1500000000 " },
		{ "a size", { "--buffer=2M" }, "buffer=2097152 " },
		{ "a number", { "-n100" }, "n=100 " },
		{ "a filter of the last of a list",
		  { "-e", "x", "-e", "y", "-f", "a", "-ez" },
		  "e=<x> e=<y> e=<z> f=<-> f=<a> " },
		{ "two filters of one", { "-e", "x", "-f", "a", "-fb" }, "e=<x> f=<(a) && (b)> " },
		{ "operands around options", { "x", "-a", "y", "-" }, "all (x) (y) (-) " },
		{ "the rest is not parsed",
		  { "-a", "x", "--", "ls", "-b", "--" },
		  "all (x) -- [ls] [-b] [--] " },
		{ "an empty rest", { "--" }, "-- " },
		{ "an empty word is an operand", { "" }, "() " },
		{ "a command",
		  { "-a", "ls", "-b", "--", "x" },
		  "all -- [ls] [-b] [--] [x] ",
		  .command = true },
		{ "a command after --",
		  { "-a", "--", "ls", "-b" },
		  "all -- [ls] [-b] ",
		  .command = true },
		{ "options alone where a command may follow",
		  { "-a", "-i", "x" },
		  "all i=<x> ",
		  .command = true },
		{ "a command of one dash", { "-", "-a" }, "-- [-] [-a] ", .command = true },

		{ "an unknown option near a known one",
		  { "--durration" },
		  "unknown option '--durration': did you mean '--duration'?",
		  -EINVAL },
		{ "an unknown option with a value",
		  { "--inputt=5" },
		  "unknown option '--inputt': did you mean '--input'?",
		  -EINVAL },
		{ "an abbreviation is not accepted",
		  { "--dur", "5" },
		  "unknown option '--dur': did you mean '--duration'?",
		  -EINVAL },
		{ "a longer word is another option",
		  { "--all-of-it" },
		  "unknown option '--all-of-it'",
		  -EINVAL },
		{ "a name of nothing", { "--=x" }, "unknown option '--'", -EINVAL },
		{ "a name longer than any is cut",
		  { "--" X50 X50 X50 "=x" },
		  "unknown option '--" X50 X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxx'",
		  -EINVAL },
		{ "an unknown letter", { "-ax" }, "unknown option '-x'", -EINVAL },
		{ "no value at the end",
		  { "--input" },
		  "option '--input' needs a value: FILE",
		  -EINVAL },
		{ "no value for a letter",
		  { "-ai" },
		  "option '--input' needs a value: FILE",
		  -EINVAL },
		{ "the end of the options is no value",
		  { "-i", "--", "ls" },
		  "option '--input' needs a value: FILE",
		  -EINVAL },
		{ "a value for a flag", { "--all=1" }, "option '--all' takes no value", -EINVAL },
		{ "a bad time",
		  { "-d", "soon" },
		  "bad value 'soon' for '--duration': expected a number of seconds, or a number "
		  "with ns, us, ms, s, m or h",
		  -EINVAL },
		{ "a bad size",
		  { "--buffer=1.5" },
		  "bad value '1.5' for '--buffer': expected a number of bytes, or a number with k, "
		  "M or G",
		  -EINVAL },
		{ "a number above its range",
		  { "x", "-e", "y", "-n101" },
		  "bad value '101' for '--top': expected a whole number from 1 to 100",
		  -EINVAL },
		{ "a filter of nothing",
		  { "-f", "a", "-e", "x" },
		  "-f 'a' comes before any -e: put it after the -e whose events it filters",
		  -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		char *argv[MAX_WORDS + 1] = { NULL };
		struct tap_strings operands;
		struct tap_err err = { 0 };
		struct tap_buf out = { 0 };
		struct opts o = { 0 };
		char **rest;
		int argc, ret;

		for (argc = 0; cases[i].words[argc]; argc++)
			argv[argc] = (char *)cases[i].words[argc];
		ret = tap_opt_parse(table, &o, argc, argv, cases[i].command, &operands, &rest,
				    &err);
		if (ret)
			tap_buf_puts(&out, err.text);
		else
			show(&out, &o, &operands, rest);
		if (ret != cases[i].ret || strcmp(tap_buf_str(&out), cases[i].want))
			fail_msg("%s: got %d and <%s>, want <%s>", cases[i].name, ret, out.data,
				 cases[i].want);
		tap_strings_release(&operands);
		tap_opt_release(table, &o);
		tap_buf_release(&out);
	}
}

static void test_no_table(void **state)
{
	char *argv[] = { (char *)"x", (char *)"-a", NULL };
	struct tap_strings operands;
	struct tap_err err = { 0 };
	char **rest;

	(void)state;
	assert_int_equal(tap_opt_parse(NULL, NULL, 2, argv, false, &operands, &rest, &err),
			 -EINVAL);
	assert_string_equal(err.text, "unknown option '-a'");
	assert_null(operands.v); /* nothing for the caller to release */
	argv[1] = (char *)"--all";
	assert_int_equal(tap_opt_parse(NULL, NULL, 2, argv, false, &operands, &rest, NULL),
			 -EINVAL);
}

static void test_nearest(void **state)
{
	static const char long_word[400] = { [0 ... 398] = 'r' };
	static const char long_name[400] = { [0 ... 397] = 'r' };
	static const char *const names[] = { "record", "dump",	 "summary",
					     "list",   "doctor", long_name };
	static const struct {
		const char *word, *want;
	} cases[] = {
		{ "recrod", "record" },
		{ "dmp", "dump" },
		{ "dumps", "dump" },
		{ "lsit", "list" },
		{ "sumary", "summary" },
		{ "sum", "summary" }, /* begins with it, though 4 away */
		{ "summarise", "summary" }, /* 3 away */
		{ "recording", "record" },
		{ "doctoring1", NULL }, /* 4 away */
		{ "cat", NULL },
		{ "lot", NULL }, /* 2 away, of 3 */
		{ "xx", NULL },
		{ "l", NULL },
		{ "", NULL },
		{ long_word, NULL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const char *got = tap_nearest(cases[i].word, names, TABLE(names));

		if (!got != !cases[i].want || (got && strcmp(got, cases[i].want)))
			fail_msg("'%s': got '%s', want '%s'", cases[i].word, got ? got : "nothing",
				 cases[i].want ? cases[i].want : "nothing");
	}
}

static void test_help(void **state)
{
	static const struct tap_opt rows[] = {
		{ "all", 'a', NULL, "everything" },
		{ "input", 'i', "FILE", "read this" },
		{ "time", 0, "FROM,TO",
		  "a text so long that it does not fit beside its option: its words go further on "
		  "in the next line" },
		{ "most", 'm', NULL,
		  "a text that is longer than the room beside its option, by as little as one "
		  "lettr" },
		{ "a-name-that-is-too-wide", 0, "TO-STAND-BESIDE-THEM", "its text is below" },
		{ 0 },
	};
	static const char want[] = "  -a, --all           everything\n"
				   "  -i, --input FILE    read this\n"
				   "      --time FROM,TO  a text so long that it does not fit "
				   "beside its option: its words go further on\n"
				   "                      in the next line\n"
				   "  -m, --most          a text that is longer than the room "
				   "beside its option, by as little as one\n"
				   "                      lettr\n"
				   "      --a-name-that-is-too-wide TO-STAND-BESIDE-THEM\n"
				   "                      its text is below\n";
	struct tap_buf out = { 0 };

	(void)state;
	tap_opt_help(rows, &out);
	assert_string_equal(tap_buf_str(&out), want);
	tap_buf_clear(&out);
	tap_opt_help(NULL, &out);
	assert_string_equal(tap_buf_str(&out), "");
	tap_buf_release(&out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_no_table),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_help),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
