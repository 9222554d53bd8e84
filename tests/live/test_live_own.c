// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs generated at run time: this kernel accepts one for each built-in definition that has a
 * built-in program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/bpf/kernel.h"
#include "record/machine.h"
#include "record/program/feed.h"
#include "record/program/recorder.h"
#include "own_functions.h"

static int load_def(const struct tap_recorder_env *env, const struct tap_kernel *k,
		    const struct tap_def *def)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	struct tap_buf why = { 0 };
	const struct tap_hook *hook = tap_kernel_hook(k, def, &why);
	struct tap_err err = { 0 };
	const char *at;
	int fd;

	if (!hook) {
		tap_buf_release(&why);
		return 0;
	}
	tap_kernel_absent(k, def, absent);
	fd = tap_recorder_load(env, def, &(struct tap_feed){ hook->tracepoint }, absent, &at, &err);
	if (fd < 0 && !is_of_object_alone(def, err.text))
		fail_msg("%s: %s: %s", def->name, err.text, at ?: "");
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_every_definition(void **state)
{
	struct tap_functions functions;
	struct bpf_object *obj = load_functions(&functions);
	struct tap_kernel *k;
	const struct tap_def *def;
	int nr = 0;

	(void)state;
	assert_non_null(obj);
	assert_int_equal(tap_kernel_new(&k, NULL), 0);
	for (unsigned int how = 0; how < 2; how++) {
		struct tap_recorder_env env = {
			.btf = tap_kernel_btf(k),
			.functions = &functions,
			.nr_cpus = tap_machine_nr_cpus(),
			.by_cpu = how,
			.by_task = how,
		};

		for (unsigned int i = 0; (def = tap_def_at(i)); i++)
			nr += load_def(&env, k, def);
	}
	assert_true(nr > 0);
	tap_kernel_free(k);
	bpf_object__close(obj);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_definition),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
