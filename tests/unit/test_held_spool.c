// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sub-buffers in memory, and what of them comes to be in spool folders beside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/thread.h"
#include "file/held_spool.h"
#include "tmp_dir.h"

#define PAGE 4096u
#define SLOT_PAGES (TAP_HELD_SLOT / PAGE)
#define CPU0 "y.dat.spool/0..mono.4096.cpu0"
#define CPU1 "y.dat.spool/0..mono.4096.cpu1"

static const struct tap_head_format no_formats[1];
static const struct tap_head head_of_none = {
	.formats = no_formats,
	.uname = "Linux",
	.tool = "test",
	.cmdlines = "",
	.meta = "{}",
	.clock = "mono",
	.printk = "",
	.nr_cpus = 2,
};

struct flight {
	struct tmp_dir dir;
	struct tap_spool *spool;
	struct tap_page_writer *writer;
	struct tap_held_spool *folders;
	struct tap_held_lane *lanes[2];
};

static struct tap_head head(const char *uname)
{
	struct tap_head h = head_of_none;

	tap_head_defaults(&h);
	h.uname = uname;
	return h;
}

static void begin(struct flight *f)
{
	struct tap_head h = head("Linux first");

	tmp_make(&f->dir);
	assert_int_equal(tap_spool_create(tmp_at(&f->dir, "x.dat"), &h, &f->spool, NULL), 0);
	assert_int_equal(tap_spool_hold(f->spool, 16 * TAP_HELD_SLOT, NULL), 0);
	assert_int_equal(tap_page_writer_new(f->spool, &f->writer, NULL), 0);
	assert_int_equal(tap_held_spool_new(f->spool, f->writer, &f->folders, NULL), 0);
	assert_int_equal(tap_spool_add_buffer(f->spool, "", "mono", PAGE, 2, NULL), 0);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		f->lanes[cpu] = tap_spool_lane(f->spool, 0, cpu);
}

static void end(struct flight *f)
{
	tap_held_spool_free(f->folders);
	tap_page_writer_free(f->writer);
	tap_spool_free(f->spool);
	tmp_remove(&f->dir);
}

/* A page is its stamp, all through. */
static void put(struct flight *f, unsigned int cpu, uint64_t stamp, unsigned int nr)
{
	for (; nr; nr--, stamp++) {
		uint64_t page[PAGE / 8];
		size_t room;
		unsigned char *to = tap_held_room(tap_spool_held(f->spool), f->lanes[cpu], &room);

		for (unsigned int i = 0; i < PAGE / 8; i++)
			page[i] = stamp;
		memcpy(to, page, PAGE);
		tap_held_put(tap_spool_held(f->spool), f->lanes[cpu], PAGE);
	}
}

/* Whether the page @at of the file has that stamp; 0: it is empty, or not there. */
static bool has_page(struct flight *f, const char *file, unsigned int at, uint64_t stamp)
{
	uint64_t page[PAGE / 8] = { 0 };
	int fd = open(tmp_at(&f->dir, file), O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		tap_pread_all(fd, page, PAGE, (off_t)at * PAGE);
		close(fd);
	}
	return page[0] == stamp && page[PAGE / 8 - 1] == stamp;
}

static void wait_a_moment(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void wait_for_page(struct flight *f, const char *file, unsigned int at, uint64_t stamp)
{
	for (unsigned int i = 0; !has_page(f, file, at, stamp); i++) {
		assert_true(i < 30000);
		wait_a_moment();
	}
}

static unsigned int begin_folder(struct flight *f, const char *file, uint64_t from_ns)
{
	return tap_held_spool_begin(f->folders, tmp_at(&f->dir, file), from_ns,
				    strdup("{\"its\":\"own\"}"));
}

static bool is_there(struct flight *f, const char *file)
{
	struct stat st;

	return !stat(tmp_at(&f->dir, file), &st);
}

/* From the page on in which the time lies, and what comes later. */
static void test_history_and_new_ones(void **state)
{
	struct flight f;
	unsigned int folder, i;

	(void)state;
	begin(&f);
	put(&f, 0, 1000, 3 * SLOT_PAGES);
	put(&f, 1, 1500, 2);
	folder = begin_folder(&f, "y.dat", 1010);
	wait_for_page(&f, CPU0, 0, 1009); /* old ones are written from the newest to the oldest */
	for (i = 0; i < 3 * SLOT_PAGES - 9; i++)
		assert_true(has_page(&f, CPU0, i, 1009 + i));
	wait_for_page(&f, CPU1, 1, 1501);
	assert_true(has_page(&f, CPU1, 0, 1500));
	put(&f, 0, 5000, 100);
	wait_for_page(&f, CPU0, i + 99, 5099);
	for (unsigned int k = 0; k < 100; k++)
		assert_true(has_page(&f, CPU0, i + k, 5000 + k));
	assert_true(is_there(&f, "y.dat.spool/head.dat"));
	assert_true(is_there(&f, "y.dat.spool/meta.json"));
	assert_int_equal(tap_spool_lock(tmp_at(&f.dir, "y.dat.spool"), NULL), -EBUSY);
	tap_held_spool_remove(f.folders, folder);
	assert_false(is_there(&f, "y.dat.spool"));
	end(&f);
}

static int wait_for_go(struct tap_spool *spool, void *go, uint64_t arg, struct tap_err *err)
{
	(void)spool;
	(void)arg;
	(void)err;
	tap_sem_wait(go);
	return 0;
}

static bool has_text(struct flight *f, const char *file, const char *text)
{
	struct tap_buf bytes = { 0 };
	bool found;

	assert_int_equal(tap_buf_read_file(&bytes, tmp_at(&f->dir, file)), 0);
	found = memmem(bytes.data, bytes.len, text, strlen(text));
	tap_buf_release(&bytes);
	return found;
}

/*
 * Pages put after a new head are not written before it. Pages given back meanwhile are written as
 * empty pages, so that later ones keep their place in the file.
 */
static void test_head_first(void **state)
{
	struct flight f;
	struct tap_head second = head("Linux second");
	sem_t go;

	(void)state;
	begin(&f);
	sem_init(&go, 0, 0);
	put(&f, 0, 1000, SLOT_PAGES);
	begin_folder(&f, "y.dat", 0);
	wait_for_page(&f, CPU0, 0, 1000);
	tap_page_writer_call(f.writer, wait_for_go, &go, 0);
	assert_int_equal(tap_page_writer_set_head(f.writer, &second, NULL), 0);
	put(&f, 0, 2000, SLOT_PAGES);
	put(&f, 0, 3000, SLOT_PAGES);
	put(&f, 0, 4000, 1);
	for (unsigned int i = 0; i < 30; i++) /* it looks every 10 ms */
		wait_a_moment();
	assert_true(has_page(&f, CPU0, SLOT_PAGES, 0));
	assert_false(has_text(&f, "y.dat.spool/head.dat", "Linux second"));
	assert_false(tap_held_give_back(tap_spool_held(f.spool), 3500, 0));
	sem_post(&go);
	wait_for_page(&f, CPU0, 3 * SLOT_PAGES, 4000);
	assert_true(has_text(&f, "y.dat.spool/head.dat", "Linux second"));
	assert_true(has_page(&f, CPU0, SLOT_PAGES - 1, 1000 + SLOT_PAGES - 1));
	for (unsigned int i = 0; i < SLOT_PAGES; i++) {
		assert_true(has_page(&f, CPU0, SLOT_PAGES + i, 0));
		assert_true(has_page(&f, CPU0, 2 * SLOT_PAGES + i, 3000 + i));
	}
	end(&f);
	sem_destroy(&go);
}

/* An older one that has ended, and one that goes on. */
static void test_two(void **state)
{
	struct flight f;
	unsigned int older, newer;

	(void)state;
	begin(&f);
	put(&f, 0, 1000, 1);
	older = begin_folder(&f, "z.dat", 0);
	wait_for_page(&f, "z.dat.spool/0..mono.4096.cpu0", 0, 1000);
	tap_held_spool_end(f.folders, older);
	newer = begin_folder(&f, "y.dat", 0);
	assert_int_not_equal(older, newer);
	wait_for_page(&f, CPU0, 0, 1000);
	for (unsigned int i = 0; i < 30; i++) /* it looks every 10 ms */
		wait_a_moment();
	put(&f, 0, 2000, 1);
	wait_for_page(&f, CPU0, 1, 2000);
	assert_true(has_page(&f, "z.dat.spool/0..mono.4096.cpu0", 1, 0));
	tap_held_spool_remove(f.folders, older);
	assert_false(is_there(&f, "z.dat.spool"));
	assert_true(is_there(&f, "y.dat.spool"));
	assert_int_equal(begin_folder(&f, "z.dat", 0), older);
	end(&f);
}

static void test_failure(void **state)
{
	struct tap_err err = { 0 };
	struct flight f;
	unsigned int folder;

	(void)state;
	begin(&f);
	put(&f, 0, 1000, 1);
	folder = begin_folder(&f, "none/y.dat", 0);
	while (!tap_held_spool_failed(f.folders, folder, &err))
		wait_a_moment();
	assert_int_equal(err.code, -ENOENT);
	assert_non_null(strstr(err.text, "none/y.dat.spool"));
	assert_false(tap_held_spool_failed(f.folders, folder, &err));
	tap_held_spool_remove(f.folders, folder);
	begin_folder(&f, "y.dat", 0);
	wait_for_page(&f, CPU0, 0, 1000);
	end(&f);
}

/* If the recorder is killed, the folder stays and is a recording. */
static void test_left(void **state)
{
	struct flight f;
	int lock;

	(void)state;
	begin(&f);
	put(&f, 0, 1000, 1);
	begin_folder(&f, "y.dat", 0);
	wait_for_page(&f, CPU0, 0, 1000);
	tap_held_spool_free(f.folders);
	f.folders = NULL;
	assert_true(has_text(&f, "y.dat.spool/meta.json", "\"its\":\"own\""));
	lock = tap_spool_lock(tmp_at(&f.dir, "y.dat.spool"), NULL);
	assert_true(lock >= 0);
	close(lock);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_history_and_new_ones),
		cmocka_unit_test(test_head_first),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_left),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
