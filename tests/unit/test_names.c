// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>

#include "file/names.h"
#include "file/page.h"
#include "file/spool.h"
#include "tmp_dir.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define FIXED 72u /* bytes of a record before its string */
#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* All that can name something. */
static const char talker[] =
	"name: talker\nID: 100\nformat:\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:char prev_comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t pid;\toffset:44;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] child_comm;\toffset:48;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 child_pid;\toffset:56;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 cgroup;\toffset:64;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"%d\", REC->pid\n";

/* The layout of talker, but no field names a task: a comm without its pid, a pid that is text, ...
 */
static const char mute[] = "name: mute\nID: 101\nformat:\n" COMMON
			   "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			   "\tfield:char prev_command[16];\toffset:24;\tsize:16;\tsigned:0;\n"
			   "\tfield:pid_t prev_pid;\toffset:40;\tsize:4;\tsigned:1;\n"
			   "\tfield:char pid[4];\toffset:44;\tsize:4;\tsigned:0;\n"
			   "\tfield:u32 child_comm;\toffset:48;\tsize:4;\tsigned:0;\n"
			   "\tfield:u64 child_pid;\toffset:56;\tsize:8;\tsigned:0;\n"
			   "\tfield:char cgroup[8];\toffset:64;\tsize:8;\tsigned:0;\n"
			   "\nprint fmt: \"%s\", REC->comm\n";

struct task {
	int64_t tid;
	const char *comm;
};

struct said {
	bool mute;
	struct task plain, prev, child;
	uint64_t cgroup;
};

struct names_case {
	const char *name;
	struct said said[5]; /* all zero ends it */
	const char *want; /* lines, in the order of first sight */
	uint64_t want_cgroups[3];
};

static const struct names_case names_cases[] = {
	{
		.name = "nothing was recorded",
		.want = "",
	},
	{
		.name = "every pair of an event counts",
		.said = { { .plain = { 1, "one" },
			    .prev = { 2, "two" },
			    .child = { 3, "three" } } },
		.want = "1 one\n2 two\n3 three\n",
	},
	{
		.name = "the last name stands",
		.said = { { .plain = { 1, "old" } },
			  { .plain = { 2, "x" } },
			  { .prev = { 1, "new" } } },
		.want = "1 new\n2 x\n",
	},
	{
		.name = "the first task seen can be renamed when others have come",
		.said = { { .plain = { 5, "a" } },
			  { .plain = { 6, "b" } },
			  { .plain = { 5, "c" } },
			  { .plain = { 6, "d" } } },
		.want = "5 c\n6 d\n",
	},
	{
		.name = "a name comes back after another task with the same place in the cache",
		.said = { { .plain = { 1, "a" } },
			  { .plain = { 1025, "b" } },
			  { .plain = { 1, "a" } } },
		.want = "1 a\n1025 b\n",
	},
	{
		.name = "idle and groups are no tasks",
		.said = { { .plain = { 0, "swapper/0" }, .prev = { -1, "group" } } },
		.want = "",
	},
	{
		.name = "ids that no task can have are none",
		.said = { { .child = { INT64_C(1) << 31, "a" } }, { .child = { -1, "b" } } },
		.want = "",
	},
	{
		.name = "a name of 16 bytes without an end",
		.said = { { .plain = { 1, "0123456789abcdef" }, .prev = { 2, "b" } } },
		.want = "1 0123456789abcdef\n2 b\n",
	},
	{
		.name = "a longer name in a string is cut",
		.said = { { .child = { 1, "0123456789abcdefg" } } },
		.want = "1 0123456789abcdef\n",
	},
	{
		.name = "control characters cannot make lines of their own",
		.said = { { .plain = { 1, "a\n2 b" }, .prev = { 3, "\x1b[2J\x7f" } } },
		.want = "1 a?2 b\n3 ?[2J?\n",
	},
	{
		.name = "fields that only look like names say nothing",
		.said = { { .mute = true,
			    .plain = { 1, "a" },
			    .prev = { 2, "b" },
			    .child = { 3, "c" },
			    .cgroup = 9 } },
		.want = "",
	},
	{
		.name = "cgroups are collected once each, and 0 is none",
		.said = { { .cgroup = 7 },
			  { .cgroup = UINT64_MAX },
			  { .cgroup = 7 },
			  { .plain = { 0, "" } } },
		.want = "",
		.want_cgroups = { 7, UINT64_MAX },
	},
};

static bool is_end(const struct said *s)
{
	return !s->mute && !s->plain.comm && !s->prev.comm && !s->child.comm && !s->cgroup;
}

static void put_comm(unsigned char *at, const char *comm)
{
	if (comm)
		memcpy(at, comm, strlen(comm));
}

static void put_record(struct tap_page *page, uint64_t ts_ns, const struct said *s)
{
	const char *child = s->child.comm ? s->child.comm : "";
	uint32_t len = (uint32_t)strlen(child) + 1, loc = FIXED | len << 16;
	unsigned char *at = tap_page_add(page, ts_ns, FIXED + len);
	uint16_t id = s->mute ? 101 : 100;

	if (!at) {
		fail();
		return;
	}
	memset(at, 0, FIXED);
	memcpy(at, &id, 2);
	put_comm(at + 8, s->plain.comm);
	put_comm(at + 24, s->prev.comm);
	memcpy(at + 40, &(int32_t){ (int32_t)s->prev.tid }, 4);
	memcpy(at + 44, &(int32_t){ (int32_t)s->plain.tid }, 4);
	memcpy(at + 48, &loc, 4);
	memcpy(at + 56, &s->child.tid, 8);
	memcpy(at + 64, &s->cgroup, 8);
	memcpy(at + FIXED, child, len);
}

static void make_spool(struct tmp_dir *t, const struct said *said)
{
	static const struct tap_head_format formats[] = {
		{ "test", talker, sizeof(talker) - 1 },
		{ "test", mute, sizeof(mute) - 1 },
	};
	struct tap_head head = {
		.formats = formats,
		.nr_formats = LEN(formats),
		.uname = "",
		.tool = "",
		.cmdlines = "",
		.meta = "",
		.clock = "mono",
		.printk = "",
		.nr_cpus = 1,
	};
	unsigned char bytes[TAP_PAGE_SIZE];
	struct tap_page page;
	struct tap_spool *s;

	tap_head_defaults(&head);
	tap_page_begin(&page, bytes, 1000);
	for (uint64_t i = 0; i < 5 && !is_end(&said[i]); i++)
		put_record(&page, 1000 + i, &said[i]);
	tap_page_end(&page, 3);
	assert_int_equal(tap_spool_create(tmp_at(t, "x.dat"), &head, &s, NULL), 0);
	assert_int_equal(tap_spool_add_buffer(s, "", "mono", TAP_PAGE_SIZE, 1, NULL), 0);
	assert_int_equal(tap_spool_write(s, 0, 0, bytes, TAP_PAGE_SIZE, NULL), 0);
	tap_spool_free(s);
}

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(names_cases); i++) {
		const struct names_case *c = &names_cases[i];
		struct tap_names names = { 0 };
		struct tap_buf lines = { 0 };
		struct tap_reader *r;
		struct tmp_dir t;
		size_t k = 0;

		print_message("# %s\n", c->name);
		tmp_make(&t);
		make_spool(&t, c->said);
		assert_int_equal(tap_reader_open(tmp_at(&t, "x.dat.spool"), &r, NULL), 0);
		assert_int_equal(tap_names_collect(r, &names, NULL), 0);
		tap_names_cmdlines(&names, &lines);
		assert_string_equal(tap_buf_str(&lines), c->want);
		for (; c->want_cgroups[k]; k++)
			assert_non_null(tap_map_get(&names.cgroups, c->want_cgroups[k]));
		assert_int_equal(names.cgroups.nr, k);
		tap_buf_release(&lines);
		tap_names_release(&names);
		tap_reader_free(r);
		tmp_remove(&t);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
