// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The line that says how far reading has come, on a pseudo terminal and where there is none. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "cli/progress.h"
#include "skip_test.h"

#define MS UINT64_C(1000000)
#define ERASED "\r                                        \r"

struct step {
	uint64_t at_ms, done; /* of 200; 1000 done: erase */
};

static const struct {
	const char *name;
	struct step steps[6];
	const char *want;
} cases[] = {
	{ "less than a second shows nothing", { { 300, 50 }, { 999, 190 }, { 999, 1000 } }, "" },
	{ "a second, then each 200 ms",
	  { { 1000, 10 }, { 1100, 20 }, { 1200, 30 }, { 1300, 1000 } },
	  "\rpass 1 of 2   5 %\rpass 1 of 2  15 %" ERASED },
	{ "erased once",
	  { { 1000, 10 }, { 1100, 1000 }, { 1200, 1000 } },
	  "\rpass 1 of 2   5 %" ERASED },
	{ "never above 100", { { 1500, 201 } }, "\rpass 1 of 2 100 %" },
};

/* Return: what a terminal (or a pipe) got. */
static void play(const struct step *steps, int to, int from, struct tap_buf *got)
{
	struct tap_progress p;
	char bytes[512];
	ssize_t len;

	tap_progress_start(&p, to, "pass 1 of 2", 0);
	for (; steps->at_ms; steps++) {
		if (steps->done == 1000)
			tap_progress_erase(&p);
		else
			tap_progress_show(&p, steps->done, 200, steps->at_ms * MS);
	}
	close(to); /* what was written may be on its way, and ends the reading when it is there */
	while ((len = read(from, bytes, sizeof(bytes))) > 0)
		tap_buf_add(got, bytes, (size_t)len);
	close(from);
}

static void on_a_terminal(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int from = posix_openpt(O_RDWR | O_NOCTTY);
		struct tap_buf got = { 0 };

		if (from < 0 || grantpt(from) || unlockpt(from))
			return skip_test("no pseudo terminals");
		play(cases[i].steps, open(ptsname(from), O_RDWR | O_NOCTTY), from, &got);
		if (strcmp(tap_buf_str(&got), cases[i].want))
			fail_msg("%s: <%s>", cases[i].name, tap_buf_str(&got));
		tap_buf_release(&got);
	}
}

static void in_a_pipe(void **state)
{
	struct tap_buf got = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	play(cases[1].steps, fds[1], fds[0], &got);
	assert_int_equal(got.len, 0);
	tap_buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_a_terminal),
		cmocka_unit_test(in_a_pipe),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
