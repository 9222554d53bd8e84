// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/migrations.h"
#include "main_of_cases.h"

#define MAX_ROWS 6
#define FAR 200 /* an index above what is allocated at first */

struct row {
	int a, b; /* task 1, 2 or FAR; or a pair of CPUs */
	uint64_t by[TAP_NR_MIGRATE];
};

struct migrations_case {
	const char *name;
	struct {
		int task, from, to;
		enum tap_migration_why why;
	} steps[MAX_ROWS];
	uint64_t by[TAP_NR_MIGRATE];
	struct row tasks[MAX_ROWS], pairs[MAX_ROWS];
};

static const struct migrations_case cases[] = {
	{
		.name = "nothing was moved",
	},
	{
		.name = "moves are counted by why, for the task and for the pair",
		.steps = { { 1, 0, 1, TAP_MIGRATE_WAKEUP },
			   { 1, 1, 0, TAP_MIGRATE_BALANCE },
			   { 1, 0, 1, TAP_MIGRATE_OTHER },
			   { 1, 1, 0, TAP_MIGRATE_BALANCE } },
		.by = { 1, 2, 1 },
		.tasks = { { 1, 0, { 1, 2, 1 } } },
		.pairs = { { 0, 1, { 1, 0, 1 } }, { 1, 0, { 0, 2, 0 } } },
	},
	{
		.name = "who was moved most comes first, then who appeared first",
		.steps = { { FAR, 0, 1, TAP_MIGRATE_WAKEUP },
			   { 2, 1, 0, TAP_MIGRATE_WAKEUP },
			   { 1, 1, 0, TAP_MIGRATE_WAKEUP },
			   { FAR, 1, 0, TAP_MIGRATE_WAKEUP } },
		.by = { 4 },
		.tasks = { { FAR, 0, { 2 } }, { 1, 0, { 1 } }, { 2, 0, { 1 } } },
		.pairs = { { 1, 0, { 3 } }, { 0, 1, { 1 } } },
	},
	{
		.name = "pairs that are as frequent as each other are in order of their CPUs",
		.steps = { { 1, 3, 1, TAP_MIGRATE_OTHER },
			   { 1, 0, 70000, TAP_MIGRATE_OTHER },
			   { 1, 0, 4464, TAP_MIGRATE_OTHER } },
		.by = { [TAP_MIGRATE_OTHER] = 3 },
		.tasks = { { 1, 0, { 0, 0, 3 } } },
		.pairs = { { 0, 4464, { 0, 0, 1 } },
			   { 0, 70000, { 0, 0, 1 } },
			   { 3, 1, { 0, 0, 1 } } },
	},
};

static uint64_t check_by(const uint64_t *got, const uint64_t *want)
{
	uint64_t total = 0;

	for (int i = 0; i < TAP_NR_MIGRATE; i++) {
		assert_int_equal(got[i], want[i]);
		total += want[i];
	}
	return total;
}

static void check(const struct migrations_case *c, const struct tap_migrations *m)
{
	uint64_t total;
	unsigned int i;

	assert_int_equal(m->total, check_by(m->by, c->by));
	for (i = 0; i < m->nr_tasks; i++) {
		total = check_by(m->tasks[i].by, c->tasks[i].by);
		assert_int_equal(m->tasks[i].total, total);
		assert_int_equal(m->tasks[i].task->index, c->tasks[i].a);
	}
	assert_int_equal(c->tasks[i].a, 0);
	for (i = 0; i < m->nr_pairs; i++) {
		total = check_by(m->pairs[i].by, c->pairs[i].by);
		assert_int_equal(m->pairs[i].total, total);
		assert_int_equal(m->pairs[i].from, c->pairs[i].a);
		assert_int_equal(m->pairs[i].to, c->pairs[i].b);
	}
	assert_int_equal(c->pairs[i].a + c->pairs[i].b, 0);
}

static void run_case(void **state)
{
	const struct migrations_case *c = *state;
	struct tap_migrations m = { 0 };
	struct tap_task tasks[FAR + 1];

	for (unsigned int i = 0; i <= FAR; i++)
		tasks[i] = (struct tap_task){ .index = i };
	for (unsigned int i = 0; i < MAX_ROWS && c->steps[i].task; i++) {
		const struct tap_migration one = {
			.task = &tasks[c->steps[i].task],
			.from = c->steps[i].from,
			.to = c->steps[i].to,
			.why = c->steps[i].why,
		};

		assert_int_equal(tap_migrations_ops.migration(&m, NULL, &one), 0);
	}
	tap_migrations_end(&m);
	check(c, &m);
	tap_migrations_release(&m);
}

MAIN_OF_CASES(cases, run_case)
