// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The thread that writes pages. An empty pipe stands for a disk that lets its writers wait: it
 * stops the thread until something is written into it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "file/page_writer.h"
#include "tmp_dir.h"

#define PAGE 4096u

struct fixture {
	struct tmp_dir tmp;
	struct tap_spool *spool;
	struct tap_page_writer *w;
	unsigned char *block;
	int pipe[2];
	uint32_t nr_put; /* pages; each begins with its number */
};

static void begin(struct fixture *f)
{
	static const struct tap_head_format no_formats[1];
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

	*f = (struct fixture){ 0 };
	tmp_make(&f->tmp);
	tap_head_defaults(&head);
	assert_int_equal(tap_spool_create(tmp_at(&f->tmp, "x"), &head, &f->spool, NULL), 0);
	assert_int_equal(tap_page_writer_new(f->spool, &f->w, NULL), 0);
	assert_int_equal(tap_page_writer_add_buffer(f->w, "", "mono", PAGE, 3, NULL), 0);
	f->block = tap_page_writer_block();
	assert_non_null(f->block);
	assert_int_equal(pipe(f->pipe), 0);
}

static void end(struct fixture *f)
{
	tap_page_writer_free(f->w);
	free(f->block);
	tap_spool_free(f->spool);
	close(f->pipe[0]);
	close(f->pipe[1]);
	tmp_remove(&f->tmp);
}

/* CPU 2's pages are those that the thread waits for. */
static void stop_thread(struct fixture *f)
{
	tap_page_writer_put_pipe(f->w, 0, 2, f->pipe[0], PAGE);
}

static void *go_on(void *arg)
{
	static const char page[PAGE];
	struct fixture *f = arg;

	usleep(20000);
	assert_int_equal(write(f->pipe[1], page, PAGE), PAGE);
	return NULL;
}

/* @nr pages, and the first half of another, which is to stay. */
static void put_pages(struct fixture *f, unsigned int cpu, unsigned int nr)
{
	memset(f->block, 0, (nr + 1) * PAGE);
	for (unsigned int i = 0; i <= nr; i++)
		memcpy(f->block + i * PAGE, &(uint32_t){ f->nr_put + i }, sizeof(uint32_t));
	tap_page_writer_put(f->w, 0, cpu, &f->block, nr * PAGE, PAGE / 2);
	f->nr_put += nr;
	assert_memory_equal(f->block, &f->nr_put, sizeof(f->nr_put));
}

static uint32_t count_pages(struct fixture *f, const char *file)
{
	struct tap_buf got = { .max = 64 << 20 };
	uint32_t number, nr;

	assert_int_equal(tap_buf_read_file(&got, tmp_at(&f->tmp, file)), 0);
	nr = (uint32_t)(got.len / PAGE);
	assert_int_equal(got.len % PAGE, 0);
	for (uint32_t i = 0; i < nr; i++) {
		memcpy(&number, got.data + i * PAGE, sizeof(number));
		assert_int_equal(number, i);
	}
	tap_buf_release(&got);
	return nr;
}

static void test_nobody_waits_for_a_disk(void **state)
{
	struct fixture f;
	pthread_t thread;

	(void)state;
	begin(&f);
	stop_thread(&f);
	for (unsigned int i = 1; i < TAP_WRITER_BLOCKS; i++) {
		assert_int_equal(tap_page_writer_is_behind(f.w), i > TAP_WRITER_BLOCKS / 2);
		put_pages(&f, 0, 1 + i % 3);
	}
	/* no more than that may wait: from here on it is the same as without a thread */
	assert_int_equal(pthread_create(&thread, NULL, go_on, &f), 0);
	for (unsigned int i = 0; i < 600; i++)
		put_pages(&f, 0, 1 + i % 3);
	pthread_join(thread, NULL);
	tap_page_writer_wait(f.w);
	assert_int_equal(tap_page_writer_check(f.w, NULL), 0);
	assert_false(tap_page_writer_is_behind(f.w));
	assert_int_equal(count_pages(&f, "x.spool/0..mono.4096.cpu0"), f.nr_put);
	end(&f);
}

static void test_the_end_writes_all(void **state)
{
	struct fixture f;
	pthread_t thread;

	(void)state;
	begin(&f);
	stop_thread(&f);
	for (unsigned int i = 0; i < 100; i++)
		put_pages(&f, 1, 2);
	assert_int_equal(pthread_create(&thread, NULL, go_on, &f), 0);
	tap_page_writer_free(f.w);
	f.w = NULL;
	pthread_join(thread, NULL);
	assert_int_equal(count_pages(&f, "x.spool/0..mono.4096.cpu1"), 200);
	end(&f);
}

/* Of the file that failed, what was whole; all of the other. */
static void test_a_failure_is_told(void **state)
{
	struct rlimit none, small;
	struct tap_err err = { 0 };
	struct fixture f;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	begin(&f);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &none), 0);
	small = (struct rlimit){ 2 * PAGE + 100, none.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	put_pages(&f, 0, 3);
	tap_page_writer_wait(f.w);
	small.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	tap_page_writer_set_meta(f.w, strdup("{}"));
	tap_page_writer_wait(f.w);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(tap_page_writer_check(f.w, &err), -EFBIG); /* the first one */
	assert_non_null(strstr(err.text, "0..mono.4096.cpu0"));
	put_pages(&f, 0, 3);
	f.nr_put = 0;
	put_pages(&f, 1, 3);
	tap_page_writer_wait(f.w);
	assert_int_equal(tap_page_writer_check(f.w, NULL), -EFBIG);
	assert_int_equal(count_pages(&f, "x.spool/0..mono.4096.cpu0"), 2);
	assert_int_equal(count_pages(&f, "x.spool/0..mono.4096.cpu1"), 3);
	end(&f);
}

/* A concurrent reader of the folder must find the format of each event before the event itself. */
static void test_the_head_is_there_before_the_pages(void **state)
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
	struct tap_buf got = { 0 };
	struct fixture f;

	(void)state;
	begin(&f);
	tap_head_defaults(&head);
	assert_int_equal(tap_page_writer_set_head(f.w, &head, NULL), 0);
	stop_thread(&f);
	put_pages(&f, 0, 1);
	while (!tap_buf_read_file(&got, tmp_at(&f.tmp, "x.spool/head.dat")) &&
	       !memmem(got.data, got.len, text, sizeof(text) - 1))
		tap_buf_clear(&got);
	assert_int_equal(access(tmp_at(&f.tmp, "x.spool/0..mono.4096.cpu0"), F_OK), -1);
	go_on(&f);
	tap_page_writer_set_meta(f.w, strdup("{\"a\": 1}"));
	tap_page_writer_wait(f.w);
	assert_int_equal(count_pages(&f, "x.spool/0..mono.4096.cpu0"), 1);
	tap_buf_clear(&got);
	assert_int_equal(tap_buf_read_file(&got, tmp_at(&f.tmp, "x.spool/meta.json")), 0);
	assert_memory_equal(tap_buf_str(&got), "{\"a\": 1,\"xxh64\":", 16);
	tap_buf_release(&got);
	end(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_waits_for_a_disk),
		cmocka_unit_test(test_the_end_writes_all),
		cmocka_unit_test(test_a_failure_is_told),
		cmocka_unit_test(test_the_head_is_there_before_the_pages),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
