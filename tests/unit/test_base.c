// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/keyed.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/thread.h"

static void map_keeps_what_was_put(void **state)
{
	struct tap_map m = { 0 };
	size_t nr = 0;

	(void)state;
	assert_null(tap_map_get(&m, 0));
	for (uint64_t key = 0; key < 5000; key++)
		*tap_map_put(&m, key * 4096) = key + 1;
	*tap_map_put(&m, 4096) = 77;
	assert_int_equal(m.nr, 5000);
	for (uint64_t key = 0; key < 5000; key++)
		assert_int_equal(*tap_map_get(&m, key * 4096), key == 1 ? 77 : key + 1);
	assert_null(tap_map_get(&m, 1));
	assert_null(tap_map_get(&m, UINT64_MAX));
	tap_map_for_each(&m, s)
		nr++;
	assert_int_equal(nr, 5000);
	tap_map_release(&m);
}

struct entry {
	uint32_t key[2];
	uint64_t value;
};

static struct entry *entry_of(struct tap_keyed *k, uint32_t a, uint32_t b)
{
	const uint32_t key[] = { a, b };
	struct entry *e = tap_keyed_get(k, key, sizeof(key), sizeof(*e));

	assert_non_null(e);
	assert_memory_equal(e->key, key, sizeof(key));
	return e;
}

static void an_entry_per_key(void **state)
{
	struct tap_keyed k = { 0 };

	(void)state;
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			assert_int_equal(entry_of(&k, i % 7, i)->value, round * i);
			entry_of(&k, i % 7, i)->value += i;
		}
	assert_int_equal(k.nr, 5000);
	tap_keyed_release(&k);
}

static void keys_that_are_one_to_the_map_have_an_entry_each(void **state)
{
	const uint32_t other[] = { 3, 4 };
	struct tap_keyed k = { 0 };

	(void)state;
	entry_of(&k, 1, 2)->value = 12;
	*tap_map_put(&k.by_key, tap_map_key(other, sizeof(other))) = 1;
	entry_of(&k, 3, 4)->value = 34;
	assert_int_equal(k.nr, 2);
	assert_int_equal(entry_of(&k, 1, 2)->value, 12);
	assert_int_equal(entry_of(&k, 3, 4)->value, 34);
	tap_keyed_release(&k);
}

static void entries_in_order_of_their_values(void **state)
{
	static const struct entry ordered[] = {
		{ { 1, 1 }, 9 }, { { 2, 1 }, 5 }, { { 3, 1 }, 5 }, { { 0, 1 }, 1 }
	};
	struct tap_keyed k = { 0 };

	(void)state;
	tap_keyed_greatest_first(&k, sizeof(ordered->key), sizeof(*ordered));
	assert_int_equal(k.nr, 0);
	entry_of(&k, 4, 1);
	for (size_t i = 4; i--;)
		entry_of(&k, ordered[i].key[0], ordered[i].key[1])->value = ordered[i].value;
	entry_of(&k, 5, 1);
	tap_keyed_greatest_first(&k, sizeof(ordered->key), sizeof(*ordered));
	assert_int_equal(k.nr, 4);
	assert_memory_equal(k.v, ordered, sizeof(ordered));
	tap_keyed_release(&k);
}

struct place {
	int value;
	char rest[9];
};

static void array_reaches_an_index(void **state)
{
	const struct place fresh = { 7, "as fresh" };
	struct place *zeroed = NULL, *filled = NULL, *at;
	unsigned int nr_zeroed = 0, nr_filled = 0;

	(void)state;
	for (unsigned int i = 0; i < 1000; i += 111) {
		at = tap_array_at(&zeroed, &nr_zeroed, i, sizeof(*zeroed), NULL);
		assert_ptr_equal(at, &zeroed[i]);
		assert_int_equal(at->value, 0);
		at->value = (int)i;
		at = tap_array_at(&filled, &nr_filled, i, sizeof(*filled), &fresh);
		assert_ptr_equal(at, &filled[i]);
		assert_int_equal(at->value, 7);
		assert_string_equal(at->rest, "as fresh");
	}
	assert_in_range(nr_zeroed, 1000, 5000);
	for (unsigned int i = 0; i < nr_zeroed; i++)
		assert_int_equal(zeroed[i].value, i < 1000 && i % 111 == 0 ? i : 0);
	for (unsigned int i = 0; i < nr_filled; i++)
		assert_int_equal(filled[i].value, 7);
	at = zeroed;
	assert_null(tap_array_at(&zeroed, &nr_zeroed, UINT32_MAX, sizeof(*zeroed), NULL));
	assert_ptr_equal(zeroed, at);
	free(zeroed);
	free(filled);
}

static void buffer_stops_at_its_bound(void **state)
{
	struct tap_buf b = { .max = 10 };

	(void)state;
	tap_buf_puts(&b, "12345");
	assert_int_equal(b.err, 0);
	tap_buf_puts(&b, "123456");
	assert_int_equal(b.err, -EFBIG);
	tap_buf_puts(&b, "1");
	assert_int_equal(b.len, 5);
	tap_buf_clear(&b);
	tap_buf_puts(&b, "ok");
	assert_int_equal(b.err, 0);
	assert_string_equal(tap_buf_str(&b), "ok");
	tap_buf_release(&b);
}

static void numbers_at_their_limits(void **state)
{
	struct tap_buf b = { 0 };

	(void)state;
	tap_buf_u64(&b, 0);
	tap_buf_char(&b, ' ');
	tap_buf_u64(&b, UINT64_MAX);
	tap_buf_char(&b, ' ');
	tap_buf_s64(&b, INT64_MIN);
	tap_buf_printf(&b, " %s", "end");
	assert_string_equal(tap_buf_str(&b), "0 18446744073709551615 -9223372036854775808 end");
	tap_buf_release(&b);
}

static void reals_read_back_as_they_were(void **state)
{
	static const struct {
		double v;
		bool single;
		const char *want;
	} cases[] = {
		{ 0, false, "0" },
		{ -0.0, false, "-0" },
		{ 0.1, false, "0.1" },
		{ 0.1f, true, "0.1" },
		{ 0.1f, false, "0.10000000149011612" },
		{ 1.0 / 3, false, "0.3333333333333333" },
		{ 1e300, false, "1e+300" },
		{ 4.9406564584124654e-324, false, "4.94065645841247e-324" },
		{ 16777217, false, "16777217" },
		{ 3.4028234663852886e38f, true, "3.4028235e+38" },
		{ 1.7976931348623157e308, false, "1.7976931348623157e+308" },
		{ INFINITY, false, "inf" },
		{ -INFINITY, true, "-inf" },
		{ NAN, false, "nan" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tap_buf b = { 0 };

		tap_buf_real(&b, cases[i].v, cases[i].single);
		assert_string_equal(tap_buf_str(&b), cases[i].want);
		tap_buf_release(&b);
	}
}

static void missing_file_is_an_error(void **state)
{
	struct tap_buf b = { 0 };

	(void)state;
	assert_int_equal(tap_buf_read_file(&b, "/nonexistent/file"), -ENOENT);
	assert_int_equal(tap_buf_read_file(&b, "/proc/self/stat"), 0);
	assert_true(b.len > 10);
	tap_buf_release(&b);
	b.max = 16;
	assert_int_equal(tap_buf_read_file(&b, "/proc/self/stat"), -EFBIG);
	tap_buf_release(&b);
}

static void bound_may_be_the_files_size(void **state)
{
	struct tap_buf b = { 0 }, exact = { 0 };

	(void)state;
	assert_int_equal(tap_buf_read_file(&b, "/proc/version"), 0);
	exact.max = b.len;
	assert_int_equal(tap_buf_read_file(&exact, "/proc/version"), 0);
	assert_int_equal(exact.len, b.len);
	tap_buf_release(&exact);
	exact.max = b.len - 1;
	assert_int_equal(tap_buf_read_file(&exact, "/proc/version"), -EFBIG);
	tap_buf_release(&exact);
	tap_buf_release(&b);
}

static void a_process_and_its_start(void **state)
{
#define REST " S 1 2 3 0 -1 4194560 1 0 0 0 0 1 0 0 20 0 1 0 "
	static const struct {
		const char *stat;
		int ret;
		uint64_t start;
	} cases[] = {
		{ "7 (cat)" REST "4711 22 33\n", 0, 4711 },
		{ "7 (a) b (c))" REST "4711 22 33\n", 0, 4711 },
		{ "7 (cat)" REST, -EINVAL },
		{ "7 (cat) S 1 2", -EINVAL },
		{ "7 cat" REST "4711", -EINVAL },
		{ "", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t start = 0;

		assert_int_equal(tap_proc_start(cases[i].stat, &start), cases[i].ret);
		assert_int_equal(start, cases[i].start);
	}
}

/* Of this process, who is there and holds what it holds. */
static void what_the_kernel_says(void **state)
{
	FILE *f = tmpfile();
	uint64_t start;
	struct stat st;

	(void)state;
	assert_int_equal(tap_proc_read_start(getpid(), &start), 0);
	assert_true(start > 0);
	assert_int_equal(tap_proc_read_start(INT32_MAX, &start), -ENOENT);
	assert_false(tap_proc_has_ended(getpid()));
	assert_true(tap_proc_has_ended(INT32_MAX));
	assert_true(tap_proc_number("/proc/sys/kernel/pid_max") > 0);
	assert_int_equal(tap_proc_number("/proc/sys/kernel/ostype"), -1);
	assert_int_equal(tap_proc_number("/proc/nope"), -1);
	assert_int_equal(fstat(fileno(f), &st), 0);
	assert_int_equal(tap_proc_lock_holder(&st), 0);
	assert_int_equal(flock(fileno(f), LOCK_EX), 0);
	assert_int_equal(tap_proc_lock_holder(&st), getpid());
	fclose(f);
}

static void run_for(uint64_t ns)
{
	uint64_t end = tap_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (tap_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void sleep_counts_as_a_rest(void **state)
{
	uint64_t rested_ns = tap_clock_ns(CLOCK_THREAD_CPUTIME_ID), before = rested_ns;

	(void)state;
	run_for(5000000);
	tap_thread_sleep(2000000, &rested_ns);
	assert_int_equal(rested_ns, before + 2000000);
	tap_thread_sleep(50000000, &rested_ns);
	assert_in_range(rested_ns, before + 5000000, tap_clock_ns(CLOCK_THREAD_CPUTIME_ID));
	before = rested_ns;
	run_for(3000000);
	tap_thread_rest(&rested_ns);
	assert_in_range(rested_ns, before + 3000000, tap_clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_keeps_what_was_put),
		cmocka_unit_test(an_entry_per_key),
		cmocka_unit_test(keys_that_are_one_to_the_map_have_an_entry_each),
		cmocka_unit_test(entries_in_order_of_their_values),
		cmocka_unit_test(array_reaches_an_index),
		cmocka_unit_test(buffer_stops_at_its_bound),
		cmocka_unit_test(numbers_at_their_limits),
		cmocka_unit_test(reals_read_back_as_they_were),
		cmocka_unit_test(missing_file_is_an_error),
		cmocka_unit_test(bound_may_be_the_files_size),
		cmocka_unit_test(a_process_and_its_start),
		cmocka_unit_test(what_the_kernel_says),
		cmocka_unit_test(sleep_counts_as_a_rest),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
