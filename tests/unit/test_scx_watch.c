// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The watch of BPF schedulers that come and go, with a folder in place of /sys/kernel/sched_ext. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "record/session/scx_watch.h"
#include "tmp_dir.h"

struct fixture {
	struct tmp_dir dir;
	struct tap_scx_watch watch;
	json_t *meta;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	tmp_make(&f->dir);
	f->watch.root = f->dir.path;
	f->meta = json_object();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tap_scx_watch_release(&f->watch);
	json_decref(f->meta);
	tmp_remove(&f->dir);
	free(f);
	return 0;
}

/* @name: NULL: none is loaded. */
static void load(struct fixture *f, const char *name, const char *nth)
{
	mkdir(tmp_at(&f->dir, "root"), 0755);
	if (name)
		tmp_write(&f->dir, "root/ops", name, strlen(name));
	else
		remove(tmp_at(&f->dir, "root/ops"));
	tmp_write(&f->dir, "enable_seq", nth, strlen(nth));
	tmp_write(&f->dir, "state", name ? "enabled\n" : "disabled\n", name ? 8 : 9);
}

static void check_rows(const struct fixture *f, const char *want)
{
	char *rows = json_dumps(json_object_get(f->meta, "schedulers"), JSON_COMPACT);

	assert_string_equal(rows ? rows : "none", want);
	free(rows);
}

#define MS 1000000ull

static void a_kernel_without_has_no_list(void **state)
{
	struct fixture *f = *state;

	assert_false(tap_scx_watch_look(&f->watch, 100 * MS, f->meta));
	check_rows(f, "none");
}

static void the_start_and_each_change_is_a_row(void **state)
{
	struct fixture *f = *state;

	load(f, NULL, "0\n");
	assert_true(tap_scx_watch_look(&f->watch, 1000 * MS, f->meta));
	assert_false(tap_scx_watch_look(&f->watch, 1200 * MS, f->meta));
	load(f, "fifo\n", "1\n");
	assert_true(tap_scx_watch_look(&f->watch, 1400 * MS, f->meta));
	load(f, "fifo\n", "2\n"); /* again, between two looks */
	assert_true(tap_scx_watch_look(&f->watch, 1600 * MS, f->meta));
	load(f, NULL, "2\n");
	assert_true(tap_scx_watch_look(&f->watch, 1800 * MS, f->meta));
	check_rows(f, "[[1000000000,null,0],[1400000000,\"fifo\",1],[1600000000,\"fifo\",2],["
		      "1800000000,null,2]]");
}

static void one_that_is_being_loaded_is_not_loaded(void **state)
{
	struct fixture *f = *state;

	load(f, "fifo\n", "0\n");
	tmp_write(&f->dir, "state", "enabling\n", 9);
	assert_true(tap_scx_watch_look(&f->watch, 1000 * MS, f->meta));
	load(f, "fifo\n", "1\n");
	assert_true(tap_scx_watch_look(&f->watch, 1100 * MS, f->meta));
	check_rows(f, "[[1000000000,null,0],[1100000000,\"fifo\",1]]");
}

static void looks_are_100_ms_apart(void **state)
{
	struct fixture *f = *state;

	load(f, NULL, "0\n");
	assert_true(tap_scx_watch_look(&f->watch, 1000 * MS, f->meta));
	load(f, "fifo\n", "1\n");
	assert_false(tap_scx_watch_look(&f->watch, 1099 * MS, f->meta));
	assert_true(tap_scx_watch_look(&f->watch, 1100 * MS, f->meta));
}

static void old_rows_are_forgotten(void **state)
{
	struct fixture *f = *state;
	char nth[16];
	json_t *rows;

	for (unsigned int i = 0; i < TAP_SCX_MAX_ROWS + 3; i++) {
		snprintf(nth, sizeof(nth), "%u\n", i);
		load(f, "fifo\n", nth);
		assert_true(tap_scx_watch_look(&f->watch, (1000 + i * 100) * MS, f->meta));
	}
	rows = json_object_get(f->meta, "schedulers");
	assert_int_equal(json_array_size(rows), TAP_SCX_MAX_ROWS);
	assert_int_equal(json_integer_value(json_array_get(json_array_get(rows, 0), 2)), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_kernel_without_has_no_list, setup, teardown),
		cmocka_unit_test_setup_teardown(the_start_and_each_change_is_a_row, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_that_is_being_loaded_is_not_loaded, setup,
						teardown),
		cmocka_unit_test_setup_teardown(looks_are_100_ms_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(old_rows_are_forgotten, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("scx_watch", tests, NULL, NULL);
}
