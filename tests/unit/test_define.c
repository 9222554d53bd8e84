// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Headers of events, read at run time: what is built in is what reading events/ gives, and errors point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "define/define.h"

static const char *const headers[] = {
	"sched", "task",   "idle",	 "freq",   "irq",    "cpuhp", "pelt", "util_est",
	"capacity", "nr_running", "energy", "uclamp", "resched", "dl",    "lost",
};

/* ---- the built-in events --------------------------------------------------------------------- */

static void check_text(const struct tap_def *read, const struct tap_def *built_in)
{
	struct tap_buf a = { 0 }, b = { 0 };
	struct tap_def same_id = *read;

	same_id.id = built_in->id;
	tap_def_format(&same_id, NULL, NULL, &a);
	tap_def_format(built_in, NULL, NULL, &b);
	assert_string_equal(tap_buf_str(&a), tap_buf_str(&b));
	tap_buf_release(&a);
	tap_buf_release(&b);
}

static void check_field(const struct tap_field *read, const struct tap_field *built_in)
{
	assert_string_equal(read->name, built_in->name);
	assert_string_equal(read->type, built_in->type);
	assert_int_equal(read->kind, built_in->kind);
	assert_int_equal(read->offset, built_in->offset);
	assert_int_equal(read->size, built_in->size);
	assert_int_equal(read->elem_size, built_in->elem_size);
	assert_int_equal(read->is_signed, built_in->is_signed);
}

static void check_same(const struct tap_def *read, const struct tap_def *built_in)
{
	assert_string_equal(read->system, built_in->system);
	assert_string_equal(read->name, built_in->name);
	assert_string_equal(read->group, built_in->group);
	assert_string_equal(read->print_fmt, built_in->print_fmt);
	assert_string_equal(read->params, built_in->params);
	assert_string_equal(read->assign, built_in->assign);
	assert_int_equal(!read->condition, !built_in->condition);
	if (read->condition)
		assert_string_equal(read->condition, built_in->condition);
	assert_int_equal(read->size, built_in->size);
	assert_int_equal(read->nr_fields, built_in->nr_fields);
	for (unsigned int i = 0; i < read->nr_fields; i++)
		check_field(&read->fields[i], &built_in->fields[i]);
	assert_int_equal(read->nr_hooks, built_in->nr_hooks);
	for (unsigned int i = 0; i < read->nr_hooks; i++) {
		assert_string_equal(read->hooks[i].tracepoint, built_in->hooks[i].tracepoint);
		assert_int_equal(read->hooks[i].nr_args, built_in->hooks[i].nr_args);
	}
	assert_int_equal(read->nr_needs, built_in->nr_needs);
	for (unsigned int i = 0; i < read->nr_needs; i++) {
		assert_string_equal(read->needs[i].field, built_in->needs[i].field);
		assert_string_equal(read->needs[i].spec, built_in->needs[i].spec);
	}
	check_text(read, built_in);
}

static void what_is_built_in_is_what_is_read(void **state)
{
	struct tap_defs d = { 0 };
	struct tap_err err = { 0 };
	const struct tap_def *def;
	unsigned int nr = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		char path[64];

		snprintf(path, sizeof(path), "events/%s.h", headers[i]);
		if (tap_defs_read(&d, path, &err))
			fail_msg("%s", err.text);
	}
	for (; (def = tap_def_at(nr)); nr++) {
		assert_non_null(tap_defs_at(&d, nr));
		check_same(tap_defs_at(&d, nr), def);
	}
	assert_null(tap_defs_at(&d, nr));
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(tap_defs_at(&d, i)->id, TAP_DEF_ID_BASE + nr + i);
	tap_defs_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_built_in_is_what_is_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
