// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/length_log.h"

#define END (1u << 18) /* ns, one step each where there are many */
#define MAX_LENGTH 8

/* The length at each ns as noted, -1: not known; it is taken back as the log's is. */
static signed char noted[END];

static uint64_t random_below(uint64_t n)
{
	return (uint64_t)rand() % n;
}

/*
 * Notes lengths for END ns, each for up to @most ns, now and then doubts what was up to @back ns
 * ago, and commits up to where a doubt can no longer come.
 */
static void play(struct tap_length_log *log, struct tap_hist *h, unsigned int most,
		 unsigned int back, unsigned int commit_every)
{
	uint64_t now = 0, sure = 0;

	for (unsigned int i = 1; now < END; i++) {
		uint64_t next = now + 1 + random_below(most);
		int length = (int)random_below(MAX_LENGTH + 1) - 1;

		if (next > END)
			next = END;
		assert_int_equal(tap_length_log_set(log, now, length), 0);
		memset(noted + now, length, next - now);
		now = next;
		if (random_below(1000) == 0) {
			uint64_t from = now > back ? now - random_below(back) : sure;

			from = from < sure ? sure : from;
			assert_int_equal(tap_length_log_doubt(log, from, now), 0);
			memset(noted + from, -1, now - from);
		}
		if (i % commit_every == 0) {
			assert_int_equal(tap_length_log_commit(log, h, now), 0);
			sure = now;
		}
		assert_in_range(log->cap, 0, TAP_LENGTH_LOG_STEPS);
	}
	assert_int_equal(tap_length_log_commit(log, h, END), 0);
}

static void add_weight(void *ctx, uint64_t from, uint64_t to, uint64_t weight)
{
	assert_int_equal(from, to);
	((uint64_t *)ctx)[from] = weight;
}

/* How much of each length is known at all, in ns, and how much of it the log has. */
static void compare(const struct tap_hist *h, uint64_t *want, uint64_t *got)
{
	memset(want, 0, (MAX_LENGTH + 1) * sizeof(*want));
	memset(got, 0, (MAX_LENGTH + 1) * sizeof(*got));
	for (unsigned int i = 0; i < END; i++)
		if (noted[i] >= 0)
			want[noted[i]]++;
	tap_hist_for_each(h, add_weight, got);
}

static const struct log_case {
	const char *name;
	unsigned int most, back, commit_every;
	int least_pct; /* of what is known: the log has it */
} log_cases[] = {
	{ "few steps: all that is known is kept", 400, 1 << 17, 1000000, 100 },
	{ "many steps, committed often", 2, 100, 1000, 100 },
	{ "many steps, doubts reach back a little", 2, 1000, 1000000, 100 },
	{ "many steps, doubts reach back far: what is kept is right", 2, 1 << 16, 1000000, 10 },
	{ "many steps, committed sometimes", 1, 1 << 12, 20000, 50 },
};

static void run_case(void **state)
{
	const struct log_case *c = *state;
	uint64_t want[MAX_LENGTH + 1], got[MAX_LENGTH + 1], all = 0, kept = 0;
	struct tap_length_log log = { 0 };
	struct tap_hist h = TAP_HIST_INIT;

	srand(1);
	play(&log, &h, c->most, c->back, c->commit_every);
	compare(&h, want, got);
	for (int i = 0; i <= MAX_LENGTH; i++) {
		assert_true(got[i] <= want[i]);
		all += want[i];
		kept += got[i];
	}
	assert_int_not_equal(all, 0);
	assert_true(kept * 100 >= all * (unsigned int)c->least_pct);
	tap_length_log_release(&log);
	tap_hist_release(&h);
}

int main(void)
{
	enum { NR = sizeof(log_cases) / sizeof(*log_cases) };
	struct CMUnitTest tests[NR];

	for (size_t i = 0; i < NR; i++)
		tests[i] = (struct CMUnitTest){ .name = log_cases[i].name,
						.test_func = run_case,
						.initial_state = (void *)&log_cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
