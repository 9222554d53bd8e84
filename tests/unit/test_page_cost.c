// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The clock is ours, so that copying and touching take what a case says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "file/page_cost.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define MB ((size_t)1 << 20)

struct timing {
	uint64_t first, copied, touched; /* ns: copied for the first time, again, touched */
};

static struct timing timing;
static unsigned int nr_readings;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	const uint64_t took[] = { 0, timing.first, 0, timing.copied, 0, timing.touched };
	uint64_t now = 0;

	assert_int_equal(clock, CLOCK_THREAD_CPUTIME_ID);
	assert_true(nr_readings < TABLE(took));
	for (unsigned int i = 0; i <= nr_readings; i++)
		now += took[i];
	nr_readings++;
	*ts = (struct timespec){ .tv_sec = (time_t)(now / 1000000000),
				 .tv_nsec = (long)(now % 1000000000) };
	return 0;
}

struct page_case {
	const char *name;
	size_t len, in_file; /* bytes: mapped; that can be copied, 0: no file */
	struct timing timing;
	bool want;
};

static const struct page_case cases[] = {
	{ "dear faults: copied", 32 * MB, 32 * MB, { 100, 100, 201 }, true },
	{ "touched once, but copied twice", 32 * MB, 32 * MB, { 100, 100, 199 }, false },
	{ "the first copy reads the file, and does not count",
	  32 * MB,
	  32 * MB,
	  { 900, 100, 300 },
	  true },
	{ "a second and more", 32 * MB, 32 * MB, { 100, 600000000, 1300000000 }, true },
	{ "small: not tried", 15 * MB, 15 * MB, { 100, 100, 100 }, true },
	{ "small, without a file", 15 * MB, 0, { 100, 100, 900 }, false },
	{ "what cannot be copied", 32 * MB, 4 * MB, { 100, 100, 900 }, false },
	{ "without a file", 32 * MB, 0, { 100, 100, 900 }, false },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		const struct page_case *c = &cases[i];
		int fd = memfd_create("pages", MFD_CLOEXEC);
		unsigned char *data;
		bool pays;

		assert_true(fd >= 0);
		assert_int_equal(ftruncate(fd, (off_t)c->in_file), 0);
		data = mmap(NULL, c->len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(data, MAP_FAILED);
		timing = c->timing;
		nr_readings = 0;
		pays = tap_page_copy_pays(data, c->len, c->in_file ? fd : -1);
		if (pays != c->want)
			fail_msg("%s", c->name);
		munmap(data, c->len);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
