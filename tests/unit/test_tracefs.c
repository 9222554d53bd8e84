// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/tracefs/instance.h"
#include "record/tracefs/limit.h"
#include "record/tracefs/tracefs.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

#define check(name, cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("%s: %s", name, #cond);                                           \
	} while (0)

static char dir[] = "/tmp/schedtap-unit-XXXXXX";

static void put_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void test_find(void **state)
{
	static const struct {
		const char *name, *mounts, *root;
		int ret;
		const char *text;
	} cases[] = {
		{ "the first of several",
		  "proc /proc proc rw 0 0\ntracefs / tracefs rw 0 0\n"
		  "tracefs /sys tracefs rw 0 0\n",
		  "/", 0, "" },
		{ "the type counts, not the device", "none / tracefs rw 0 0\n", "/", 0, "" },
		{ "a device of that name is none", "tracefs / tmpfs rw 0 0\n", NULL, -EOPNOTSUPP,
		  "tracefs is not mounted: run 'mount -t tracefs tracefs /sys/kernel/tracing'" },
		{ "nothing is mounted", "", NULL, -EOPNOTSUPP,
		  "tracefs is not mounted: run 'mount -t tracefs tracefs /sys/kernel/tracing'" },
		{ "a blank in the path is decoded", "t /no\\040place tracefs rw 0 0\n", NULL,
		  -ENOENT, "cannot read tracefs at '/no place': No such file or directory" },
	};
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/mounts", dir);
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_err err = { 0 };
		char *root;

		put_file("mounts", cases[i].mounts);
		check(cases[i].name, tap_tracefs_find(path, &root, &err) == cases[i].ret);
		check(cases[i].name, !strcmp(root ? root : "", cases[i].root ?: ""));
		check(cases[i].name, !strcmp(err.text, cases[i].text));
		free(root);
	}
}

static void test_list(void **state)
{
	static const char *const want[] = { "irq:zz", "sched:aa", "sched:bb" };
	struct tap_err err = { 0 };
	struct tap_tracefs_list list;

	(void)state;
	put_file("available_events", "sched:bb\nno colon\n\nirq:zz\nsched:aa");
	assert_int_equal(tap_tracefs_list(dir, &list, &err), 0);
	assert_int_equal(list.nr, TABLE(want));
	for (unsigned int i = 0; i < list.nr; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s:%s", list.v[i].system, list.v[i].name);
		assert_string_equal(name, want[i]);
	}
	tap_tracefs_list_release(&list);
	assert_int_equal(tap_tracefs_list("/nosuch", &list, &err), -ENOENT);
	assert_null(list.v);
}

static void test_owner(void **state)
{
	static const struct {
		const char *name;
		pid_t pid; /* 0: it is not ours */
		uint64_t start;
	} cases[] = {
		{ "schedtap-12-345", 12, 345 },
		{ "schedtap-2147483647-18446744073709551615", 2147483647, UINT64_MAX },
		{ "schedtap-2147483648-1" },
		{ "schedtap-12-18446744073709551616" },
		{ "schedtap-12" },
		{ "schedtap-12-" },
		{ "schedtap-12-3x" },
		{ "schedtap--12-3" },
		{ "schedtap-0-3" },
		{ "schedtap- 1-3" },
		{ "myschedtap-12-3" },
		{ "" },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		uint64_t start = 0;
		pid_t pid = 0;
		bool ours = tap_instance_owner(cases[i].name, &pid, &start);

		check(cases[i].name, ours == !!cases[i].pid);
		check(cases[i].name, !ours || (pid == cases[i].pid && start == cases[i].start));
	}
}

static void test_cpus(void **state)
{
	static const struct {
		const char *list;
		unsigned int nr_cpus, nr;
		const char *want;
	} cases[] = {
		{ "0", 1, 1, "00000001" },
		{ "0-3", 2, 2, "00000003" },
		{ "31", 32, 1, "80000000" },
		{ "32", 33, 1, "00000001,00000000" },
		{ "1,63-64", 96, 3, "00000001,80000000,00000002" },
		{ "5", 5, 0, "00000000" },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_cpus cpus = { 0 };
		struct tap_buf out = { 0 };

		assert_int_equal(tap_cpus_parse(&cpus, cases[i].list), 0);
		check(cases[i].list, tap_limit_cpus(&cpus, cases[i].nr_cpus, &out) == cases[i].nr);
		check(cases[i].list, !strcmp(tap_buf_str(&out), cases[i].want));
		tap_cpus_release(&cpus);
		tap_buf_release(&out);
	}
}

#define COMMON                                                                                     \
	"name: x\nID: 9\nformat:\n"                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
#define COMM(name) "\tfield:char " name "[16];\toffset:8;\tsize:16;\tsigned:0;\n"
#define PRINT "\nprint fmt: \"\"\n"

static void test_comms(void **state)
{
	static const struct {
		const char *name, *filter, *comms[3], *format, *want;
		int ret;
	} cases[] = {
		{ "no field of the event", NULL, { "sh" }, COMMON PRINT, "(COMM ~ \"\\sh\")" },
		{ "joined with a filter",
		  "a || b",
		  { "sh" },
		  COMMON PRINT,
		  "(a || b) && (COMM ~ \"\\sh\")" },
		{ "one of several",
		  NULL,
		  { "a*", "b" },
		  COMMON PRINT,
		  "(COMM ~ \"\\a*\" || COMM ~ \"\\b\")" },
		{ "fields that hold a name",
		  NULL,
		  { "sh" },
		  COMMON COMM("prev_comm") COMM("comm") COMM("path") PRINT,
		  "(COMM ~ \"\\sh\" || prev_comm ~ \"\\sh\" || comm ~ \"\\sh\")" },
		{ "a dynamic string",
		  NULL,
		  { "sh" },
		  COMMON
		  "\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;\n" PRINT,
		  "(COMM ~ \"\\sh\" || parent_comm ~ \"\\sh\")" },
		{ "a number of that name is none",
		  NULL,
		  { "sh" },
		  COMMON "\tfield:int comm;\toffset:8;\tsize:4;\tsigned:1;\n" PRINT,
		  "(COMM ~ \"\\sh\")" },
		{ "a double quote goes into single ones",
		  NULL,
		  { "a\"b" },
		  COMMON PRINT,
		  "(COMM ~ '\\a\"b')" },
		{ "the end of a name", NULL, { "*sh" }, COMMON PRINT, "(COMM ~ \"***sh\")" },
		{ "a set of all but some", NULL, { "[^sh]" }, COMMON PRINT, "(COMM ~ \"[!hs]\")" },
		{ "a set that is not there", NULL, { "[[:sh:]]" }, COMMON PRINT, NULL, -EINVAL },
		{ "both kinds of quotes", NULL, { "a\"b'c" }, COMMON PRINT, NULL, -EINVAL },
		{ "a broken format text", NULL, { "sh" }, "rubbish", NULL, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_strings comms = { (const char **)cases[i].comms };
		struct tap_buf out = { 0 };
		struct tap_err err = { 0 };
		int ret;

		while (cases[i].comms[comms.nr])
			comms.nr++;
		ret = tap_limit_comms(cases[i].filter, &comms, cases[i].format, &out, &err);
		check(cases[i].name, ret == cases[i].ret);
		if (!ret && strcmp(tap_buf_str(&out), cases[i].want))
			fail_msg("%s: <%s>", cases[i].name, out.data);
		tap_buf_release(&out);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *name, *complaint, *want;
		int ret;
	} cases[] = {
		{ "message, filter and caret",
		  "nosuch == 1\n       ^\nparse_error: Field not found\n\n",
		  "bad filter for 's:e': Field not found\n nosuch == 1\n        ^", -EINVAL },
		{ "an errno that is an internal code",
		  "p == 1)\n      ^\nparse_error: Too few '('\n",
		  "bad filter for 's:e': Too few '('\n p == 1)\n       ^", -ESRCH },
		{ "no caret line", "a\nparse_error: M", "bad filter for 's:e': M\n a\n ", -EINVAL },
		{ "no text at all", "\nparse_error: M", "bad filter for 's:e': M\n \n ", -EINVAL },
		{ "a filter that quotes the mark", "x\nparse_error: y\n ^\nparse_error: M\n",
		  "bad filter for 's:e': M\n x\n parse_error: y\n ^", -EINVAL },
		{ "no complaint: the errno is all", "none\n",
		  "bad filter for 's:e': Cannot allocate memory", -ENOMEM },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_err err = { 0 };

		check(cases[i].name, tap_limit_refused("s", "e", cases[i].complaint, cases[i].ret,
						       &err) == -EINVAL);
		if (strcmp(err.text, cases[i].want))
			fail_msg("%s: <%s>", cases[i].name, err.text);
	}
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	char cmd[64];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),  cmocka_unit_test(test_list),
		cmocka_unit_test(test_owner), cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_comms), cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("tracefs", tests, set_up, tear_down);
}
