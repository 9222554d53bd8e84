// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "file/spool.h"
#include "skip_test.h"
#include "tmp_dir.h"

#define PAGE 4096u
#define LEN(table) (sizeof(table) / sizeof(*(table)))

static const struct tap_head_format no_formats[1];

static int create(struct tmp_dir *t, struct tap_spool **s, struct tap_err *err)
{
	struct tap_head head = {
		.formats = no_formats,
		.uname = "Linux",
		.tool = "test",
		.cmdlines = "",
		.meta = "{}",
		.clock = "mono",
		.printk = "",
		.nr_cpus = 2,
	};

	tap_head_defaults(&head);
	return tap_spool_create(tmp_at(t, "x.dat"), &head, s, err);
}

static long mode_of(struct tmp_dir *t, const char *name)
{
	struct stat st;

	return stat(tmp_at(t, name), &st) ? -errno : (long)(st.st_mode & 07777);
}

static long size_of(struct tmp_dir *t, const char *name)
{
	struct stat st;

	return stat(tmp_at(t, name), &st) ? -errno : st.st_size;
}

struct parse_case {
	const char *file;
	bool ok;
	struct tap_spool_name want;
};

static const struct parse_case parse_cases[] = {
	{ "0..mono.4096.cpu0", true, { 0, 0, 4096, "", "mono" } },
	{ "12.ours.x86-tsc.65536.cpu4095", true, { 12, 4095, 65536, "ours", "x86-tsc" } },
	{ "1.a.b..c.mono.4096.cpu1", true, { 1, 1, 4096, "a.b..c", "mono" } },
	{ "999.n.mono.16777216.cpu65535", true, { 999, 65535, 16777216, "n", "mono" } },
	{ "3.n.mono.4096.cpu7.zstd", true, { 3, 7, 4096, "n", "mono", true } },
	{ "0.n.mono.4096.cpu0.zst" },
	{ "0.n.mono.4096.zstd" },
	{ ".zstd" },
	{ "1000.n.mono.4096.cpu0" },
	{ "0.n.mono.4096.cpu65536" },
	{ "0.n.mono.33554432.cpu0" },
	{ "0.n.mono.4095.cpu0" },
	{ "0.n.mono.0.cpu0" },
	{ "0.n.mono.128.cpu0" },
	{ "0.n.mono.4096.cpu" },
	{ "0.n.mono.4096.gpu1" },
	{ "0.n.mono.4096.cpu-1" },
	{ "0.n.mono.4096.cpu 1" },
	{ "0.n.mono.4096.cpu01" },
	{ "00.n.mono.4096.cpu1" },
	{ "0.n.mono.+4096.cpu1" },
	{ "0.n.mono.4096.cpu1x" },
	{ "0.n.mono.4096.cpu99999999999999999999" },
	{ "0.n..4096.cpu1" },
	{ "0.mono.4096.cpu1" },
	{ "mono.4096.cpu1" },
	{ ".mono.4096.cpu1" },
	{ "..mono.4096.cpu1" },
	{ "4096.cpu1" },
	{ "cpu1" },
	{ "" },
	{ "." },
	{ ".." },
	{ "head.dat" },
	{ "meta.json" },
	{ "packed" },
	{ "0.a\nb.mono.4096.cpu0" },
	{ "0.a\x1b[2J.mono.4096.cpu0" },
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(parse_cases); i++) {
		const struct parse_case *c = &parse_cases[i];
		struct tap_spool_name got;

		print_message("# %zu\n", i);
		assert_int_equal(tap_spool_parse_name(c->file, &got), c->ok);
		if (!c->ok)
			continue;
		assert_int_equal(got.buffer, c->want.buffer);
		assert_int_equal(got.cpu, c->want.cpu);
		assert_int_equal(got.page_size, c->want.page_size);
		assert_int_equal(got.zstd, c->want.zstd);
		assert_string_equal(got.name, c->want.name);
		assert_string_equal(got.clock, c->want.clock);
	}
}

#define NAME_50 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee"

struct buffer_case {
	const char *name; /* states the behaviour */
	const char *buffer, *clock;
	uint32_t page_size;
	unsigned int nr_cpus;
	int want;
};

static const struct buffer_case buffer_cases[] = {
	{ "the top buffer", "", "mono", PAGE, 2, 0 },
	{ "a named one with dots", "a.b", "mono", PAGE, 2, 0 },
	{ "a name of 200 bytes", NAME_50 NAME_50 NAME_50 NAME_50, "mono", PAGE, 2, 0 },
	{ "large pages", "n", "mono", 1u << 24, 2, 0 },
	{ "a name too long for a file", NAME_50 NAME_50 NAME_50 NAME_50 NAME_50, "mono", PAGE, 2,
	  -EINVAL },
	{ "a name with a slash", "../../etc/x", "mono", PAGE, 2, -EINVAL },
	{ "a name with a newline", "a\nb", "mono", PAGE, 2, -EINVAL },
	{ "a name with an escape", "a\x1b[2J", "mono", PAGE, 2, -EINVAL },
	{ "a name with DEL", "a\x7f", "mono", PAGE, 2, -EINVAL },
	{ "a clock with a dot", "n", "mo.no", PAGE, 2, -EINVAL },
	{ "a clock with a slash", "n", "mo/no", PAGE, 2, -EINVAL },
	{ "no clock", "n", "", PAGE, 2, -EINVAL },
	{ "pages that are no power of two", "n", "mono", 5000, 2, -EINVAL },
	{ "pages of no size", "n", "mono", 0, 2, -EINVAL },
	{ "pages that are too large", "n", "mono", 1u << 25, 2, -EINVAL },
	{ "too many CPUs", "n", "mono", PAGE, 65537, -EINVAL },
};

static void test_buffers(void **state)
{
	static const char page[1 << 24];

	(void)state;
	for (size_t i = 0; i < LEN(buffer_cases); i++) {
		const struct buffer_case *c = &buffer_cases[i];
		struct tmp_dir t;
		struct tap_spool *s;
		char file[300];

		print_message("# %s\n", c->name);
		tmp_make(&t);
		assert_int_equal(create(&t, &s, NULL), 0);
		assert_int_equal(tap_spool_add_buffer(s, c->buffer, c->clock, c->page_size,
						      c->nr_cpus, NULL),
				 c->want);
		if (!c->want) {
			assert_int_equal(tap_spool_write(s, 0, 1, page, c->page_size, NULL), 0);
			snprintf(file, sizeof(file), "x.dat.spool/0.%s.%s.%u.cpu1", c->buffer,
				 c->clock, c->page_size);
			assert_int_equal(size_of(&t, file), c->page_size);
		}
		tap_spool_free(s);
		tmp_remove(&t);
	}
}

static void test_second_buffer_has_the_next_number(void **state)
{
	static const char pages[2 * PAGE];
	struct tmp_dir t;
	struct tap_spool *s;

	(void)state;
	tmp_make(&t);
	assert_int_equal(create(&t, &s, NULL), 0);
	assert_int_equal(tap_spool_add_buffer(s, "", "mono", PAGE, 2, NULL), 0);
	assert_int_equal(tap_spool_add_buffer(s, "two", "mono", 2 * PAGE, 2, NULL), 1);
	assert_int_equal(tap_spool_write(s, 1, 0, pages, sizeof(pages), NULL), 0);
	assert_int_equal(size_of(&t, "x.dat.spool/1.two.mono.8192.cpu0"), sizeof(pages));
	tap_spool_free(s);
	tmp_remove(&t);
}

static const mode_t umasks[] = { 0, 022, 0777 };

static void test_nobody_else_can_read(void **state)
{
	static const char page[PAGE];

	(void)state;
	for (size_t i = 0; i < LEN(umasks); i++) {
		struct tmp_dir t;
		struct tap_spool *s;
		mode_t before;

		/* others may not enter their own folder then */
		if (umasks[i] == 0777 && geteuid()) {
			skip_test("umask 0777: needs root");
			continue;
		}
		tmp_make(&t);
		before = umask(umasks[i]);
		assert_int_equal(create(&t, &s, NULL), 0);
		assert_int_equal(tap_spool_add_buffer(s, "", "mono", PAGE, 2, NULL), 0);
		assert_int_equal(tap_spool_write(s, 0, 1, page, PAGE, NULL), 0);
		assert_int_equal(tap_spool_set_meta(s, "{}", true, NULL), 0);
		umask(before);
		assert_int_equal(mode_of(&t, "x.dat.spool"), 0700);
		assert_int_equal(mode_of(&t, "x.dat.spool/head.dat"), 0600);
		assert_int_equal(mode_of(&t, "x.dat.spool/meta.json"), 0600);
		assert_int_equal(mode_of(&t, "x.dat.spool/0..mono.4096.cpu1"), 0600);
		assert_int_equal(mode_of(&t, "x.dat.spool/0..mono.4096.cpu0"), -ENOENT);
		tap_spool_free(s);
		tmp_remove(&t);
	}
}

enum obstacle { RECORDER, LEFTOVER, EMPTY_FOLDER, PLAIN_FILE, LINK, NO_PARENT };

struct create_case {
	const char *name;
	enum obstacle what;
	int want;
	const char *sentence; /* a part of it */
};

static const struct create_case create_cases[] = {
	{ "a second recorder learns that one is running", RECORDER, -EEXIST, "still recording" },
	{ "what a crash left is not touched", LEFTOVER, -EEXIST, "schedtap repair" },
	{ "an empty folder is in the way", EMPTY_FOLDER, -EEXIST, "not a readable recording" },
	{ "a file is in the way", PLAIN_FILE, -EEXIST, "not a readable recording" },
	{ "a link is not followed", LINK, -EEXIST, "not a readable recording" },
	{ "no folder to make it in", NO_PARENT, -ENOENT, "cannot make the folder" },
};

static void put_obstacle(struct tmp_dir *t, enum obstacle what, struct tap_spool **recorder)
{
	char target[300];

	switch (what) {
	case RECORDER:
	case LEFTOVER:
		assert_int_equal(create(t, recorder, NULL), 0);
		if (what == RECORDER)
			return;
		tap_spool_free(*recorder);
		*recorder = NULL;
		return;
	case EMPTY_FOLDER:
		assert_int_equal(mkdir(tmp_at(t, "x.dat.spool"), 0700), 0);
		return;
	case PLAIN_FILE:
		tmp_write(t, "x.dat.spool", "", 0);
		return;
	case LINK:
		strcpy(target, tmp_at(t, "elsewhere"));
		assert_int_equal(mkdir(target, 0700), 0);
		assert_int_equal(symlink(target, tmp_at(t, "x.dat.spool")), 0);
		return;
	case NO_PARENT:
		assert_int_equal(rmdir(t->path), 0);
		return;
	}
}

static void test_create(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(create_cases); i++) {
		const struct create_case *c = &create_cases[i];
		struct tap_spool *recorder = NULL, *s;
		struct tap_err err = { 0 };
		struct tmp_dir t;

		print_message("# %s\n", c->name);
		tmp_make(&t);
		put_obstacle(&t, c->what, &recorder);
		assert_int_equal(create(&t, &s, &err), c->want);
		assert_null(s);
		assert_int_equal(err.code, c->want);
		assert_non_null(strstr(err.text, c->sentence));
		tap_spool_free(recorder);
		if (c->what == NO_PARENT)
			continue;
		assert_int_equal(mode_of(&t, "elsewhere/head.dat"), -ENOENT);
		tmp_remove(&t);
	}
}

static void test_lock(void **state)
{
	struct tap_err err = { 0 };
	struct tap_spool *s;
	struct tmp_dir t;
	char path[300], link[300], who[40];
	int lock;

	(void)state;
	tmp_make(&t);
	strcpy(path, tmp_at(&t, "x.dat.spool"));
	assert_int_equal(tap_spool_lock(path, NULL), -ENOENT);
	assert_int_equal(create(&t, &s, NULL), 0);
	assert_int_equal(tap_spool_lock(path, &err), -EBUSY);
	snprintf(who, sizeof(who), "process %d ", getpid());
	if (!access("/proc/locks", R_OK))
		assert_non_null(strstr(err.text, who));
	tap_spool_free(s);
	lock = tap_spool_lock(path, NULL);
	assert_true(lock >= 0);
	assert_int_equal(tap_spool_lock(path, NULL), -EBUSY);
	close(lock);
	strcpy(link, tmp_at(&t, "link"));
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(tap_spool_lock(link, NULL), -ENOTDIR);
	tmp_remove(&t);
}

struct write_case {
	const char *name;
	unsigned int limit; /* bytes that fit the disk */
	unsigned int writes[3], want_pages[3]; /* pages each; in the file afterwards */
};

static const struct write_case write_cases[] = {
	{ "all of it fits", 20 * PAGE, { 1, 2, 3 }, { 1, 3, 6 } },
	{ "half a page more than fits is cut off", 3 * PAGE - 100, { 1, 2, 1 }, { 1, 2, 2 } },
	{ "nothing fits any more", 2 * PAGE, { 2, 1, 1 }, { 2, 2, 2 } },
	{ "not even one page fits", 100, { 1, 1, 2 }, { 0, 0, 0 } },
};

/* A limit on the size of files stands for a full disk: both fail in the middle of a write. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_write(void **state)
{
	static const char pages[4 * PAGE];

	(void)state;
	for (size_t i = 0; i < LEN(write_cases); i++) {
		const struct write_case *c = &write_cases[i];
		unsigned int have = 0;
		struct tap_spool *s;
		struct tmp_dir t;

		print_message("# %s\n", c->name);
		tmp_make(&t);
		assert_int_equal(create(&t, &s, NULL), 0);
		assert_int_equal(tap_spool_add_buffer(s, "", "mono", PAGE, 1, NULL), 0);
		for (int k = 0; k < 3; k++) {
			bool fits = (have + c->writes[k]) * PAGE <= c->limit;
			int ret;

			limit_files(c->limit);
			ret = tap_spool_write(s, 0, 0, pages, c->writes[k] * PAGE, NULL);
			limit_files(RLIM_INFINITY);
			assert_int_equal(ret, fits ? 0 : -EFBIG);
			have = c->want_pages[k];
			assert_int_equal(size_of(&t, "x.dat.spool/0..mono.4096.cpu0"), have * PAGE);
			assert_int_equal(tap_spool_bytes(s), have * PAGE);
		}
		tap_spool_free(s);
		tmp_remove(&t);
	}
}

struct splice_case {
	const char *name;
	unsigned int limit; /* bytes that fit the disk */
	unsigned int bytes; /* in the pipe, which ends there; 3 pages were announced */
	int want;
	unsigned int want_pages;
};

static const struct splice_case splice_cases[] = {
	{ "whole pages are counted", 20 * PAGE, 3 * PAGE, 0, 3 },
	{ "of what failed, the whole pages stay", 2 * PAGE - 100, 3 * PAGE, -EFBIG, 1 },
	{ "half a page is cut off", 20 * PAGE, PAGE + 100, -EIO, 1 },
	{ "a pipe that is empty", 20 * PAGE, 0, -EIO, 0 },
};

static void test_splice(void **state)
{
	static const char pages[4 * PAGE];

	(void)state;
	for (size_t i = 0; i < LEN(splice_cases); i++) {
		const struct splice_case *c = &splice_cases[i];
		unsigned int after = c->want_pages + !c->want;
		struct tap_err err = { 0 };
		struct tap_spool *s;
		struct tmp_dir t;
		int pipe_fds[2];

		print_message("# %s\n", c->name);
		tmp_make(&t);
		assert_int_equal(create(&t, &s, NULL), 0);
		assert_int_equal(tap_spool_add_buffer(s, "", "mono", PAGE, 2, NULL), 0);
		assert_int_equal(pipe(pipe_fds), 0);
		assert_int_equal(write(pipe_fds[1], pages, c->bytes), c->bytes);
		close(pipe_fds[1]);
		limit_files(c->limit);
		assert_int_equal(tap_spool_splice(s, 0, 0, pipe_fds[0], 3 * PAGE, &err), c->want);
		limit_files(RLIM_INFINITY);
		close(pipe_fds[0]);
		assert_int_equal(err.code, c->want);
		assert_int_equal(tap_spool_bytes(s), c->want_pages * PAGE);
		/* later pages follow without a gap; after a failure the file gets none, but other
		 * files do */
		assert_int_equal(tap_spool_write(s, 0, 0, pages, PAGE, NULL), c->want);
		assert_int_equal(tap_spool_write(s, 0, 1, pages, PAGE, NULL), 0);
		assert_int_equal(size_of(&t, "x.dat.spool/0..mono.4096.cpu0"), after * PAGE);
		assert_int_equal(tap_spool_bytes(s), (after + 1) * PAGE);
		tap_spool_free(s);
		tmp_remove(&t);
	}
}

static void test_meta(void **state)
{
	struct tap_buf got = { 0 };
	struct tap_err err = { 0 };
	struct tap_spool *s;
	struct tmp_dir t;

	(void)state;
	tmp_make(&t);
	assert_int_equal(create(&t, &s, NULL), 0);
	assert_int_equal(tap_spool_set_meta(s, "{\"a\": 1}", true, NULL), 0);
	assert_int_equal(tap_spool_set_meta(s, "{\"b\": 22}", true, NULL), 0);
	/* a disk that is full in the middle leaves the old one */
	limit_files(3);
	assert_int_equal(tap_spool_set_meta(s, "{\"c\": 333}", true, &err), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(mode_of(&t, "x.dat.spool/meta.json.new"), -ENOENT);
	assert_int_equal(tap_buf_read_file(&got, tmp_at(&t, "x.dat.spool/meta.json")), 0);
	/* and its checksum */
	assert_memory_equal(tap_buf_str(&got), "{\"b\": 22,\"xxh64\":", 17);
	tap_buf_release(&got);
	tap_spool_free(s);
	tmp_remove(&t);
}

static void test_full_disk_at_the_start(void **state)
{
	struct tap_err err = { 0 };
	struct tap_spool *s;
	struct tmp_dir t;

	(void)state;
	tmp_make(&t);
	limit_files(100);
	assert_int_equal(create(&t, &s, &err), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_non_null(strstr(err.text, "head.dat"));
	assert_int_equal(mode_of(&t, "x.dat.spool"), -ENOENT);
	tmp_remove(&t);
}

/* A new head.dat takes the place of the old one, and the recorder holds its lock. */
static void test_head(void **state)
{
	static const char text[] = "name: later\nID: 77\nformat:\n";
	struct tap_head_format formats[] = { { "app", text, sizeof(text) - 1 } };
	struct tap_head head = {
		.formats = formats,
		.nr_formats = 1,
		.uname = "Linux",
		.tool = "test",
		.cmdlines = "",
		.meta = "{}",
		.clock = "mono",
		.printk = "",
		.nr_cpus = 2,
	};
	struct tap_buf bytes = { 0 }, got = { 0 };
	struct tmp_dir t;
	struct tap_spool *s;

	(void)state;
	tmp_make(&t);
	tap_head_defaults(&head);
	assert_int_equal(tap_head_write(&head, &bytes), 0);
	assert_int_equal(create(&t, &s, NULL), 0);
	tmp_write(&t, "x.dat.spool/head.dat.new", "", 0); /* of an attempt that was killed */
	assert_int_equal(tap_spool_set_head(s, bytes.data, bytes.len, NULL), 0);
	assert_int_equal(tap_buf_read_file(&got, tmp_at(&t, "x.dat.spool/head.dat")), 0);
	assert_non_null(memmem(got.data, got.len, text, sizeof(text) - 1));
	assert_int_equal(mode_of(&t, "x.dat.spool/head.dat"), 0600);
	assert_int_equal(mode_of(&t, "x.dat.spool/head.dat.new"), -ENOENT);
	assert_int_equal(tap_spool_lock(tmp_at(&t, "x.dat.spool"), NULL), -EBUSY);
	tap_buf_release(&bytes);
	tap_buf_release(&got);
	tap_spool_free(s);
	tmp_remove(&t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_buffers),
		cmocka_unit_test(test_second_buffer_has_the_next_number),
		cmocka_unit_test(test_nobody_else_can_read),
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_splice),
		cmocka_unit_test(test_meta),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_full_disk_at_the_start),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
