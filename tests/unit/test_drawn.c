// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "show/drawn/levels.h"
#include "show/drawn/shares.h"
#include "show/drawn/slices.h"
#include "show/drawn/task_levels.h"
#include "main_of_cases.h"
#include "steps.h"

struct drawn_case {
	const char *name;
	struct tap_window window;
	const char *steps;
	uint64_t max_slices; /* 0: any */
	unsigned int buckets; /* 0: no levels */
	/* By lane: "FROM-TO who", then what came before, who woke it, the lane before it, how it
	 * left; NULL: there are none */
	const char *slices;
	/* By level and lane, each bucket: "who busy/unknown wait depth" */
	const char *levels;
	/* By level and task: run, wait, blocked, unknown in 255ths; tids are those of the case's
	 * first two tasks */
	const char *task_levels;
};

static const struct drawn_case cases[] = {
	{
		.name = "a slice has how it came, who woke it, where it ran before, and how it "
			"left",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 110 0 waking 2 by 1; 120 0 switch 1 R+ 2; 130 0 "
			 "switch 2 D 1; 140 0 switch 1 S 0; 150 1 waking 1 by 0; 160 1 switch 0 R "
			 "1; 170 1 switch 1 X 0",
		.slices = "0: 100-120 1 left 1, 120-130 2 waking 10 by 1 left 3, 130-140 1 "
			  "preempted 10 lane 0 left 2 | 1: 100-160 unknown, 160-170 1 waking 10 by "
			  "interrupt lane 0 left 5 | ",
	},
	{
		.name = "what runs as the window begins began before; as it ends, it goes on",
		.window = { 100, 200 },
		.steps = "50 0 switch 9 S 1; 150 0 switch 1 S 2",
		.slices = "0: 100-150 1 before left 2, 150-200 2 | ",
	},
	{
		.name = "a wait that began before the window is reported whole",
		.window = { 100, 200 },
		.steps = "50 0 switch 9 S 1; 60 0 waking 2 by 1; 70 0 switch 1 S 0; 80 0 waking 1 "
			 "by 0; 150 0 switch 0 R 1; 190 0 switch 1 S 0",
		.slices = "0: 150-190 1 waking 70 by interrupt lane 0 left 2 | ",
	},
	{
		.name = "a broken chain is unknown, and no task waited before it",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 130 0 switch 5 S 2; 150 0 switch 2 S 0",
		.slices = "0: 100-130 unknown, 130-150 2 left 2 | ",
	},
	{
		.name = "of more slices than may be held none is",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 120 0 switch 1 R+ 2; 130 0 switch 2 S 1; 140 0 "
			 "switch 1 S 0",
		.max_slices = 2,
	},
	{
		.name = "a bucket is of who had most of it, also where that came in pieces; who "
			"waits to the end is there",
		.window = { 0, 80 },
		.steps = "0 0 switch 9 S 1; 4 0 switch 1 R+ 2; 9 0 switch 2 R+ 1; 12 0 switch 1 R+ "
			 "2; 20 0 switch 2 S 0",
		.buckets = 8,
		.slices = "0: 0-4 1 left 1, 4-9 2 left 1, 9-12 1 preempted 5 lane 0 left 1, 12-20 "
			  "2 preempted 3 lane 0 left 2 | ",
		.levels = "0: 1 255/0 1 2, 2 255/0 1 2, 0 0/0 0 1, 0 0/0 0 1, 0 0/0 0 1, 0 0/0 0 "
			  "1, 0 0/0 0 1, 0 0/0 0 1 | ",
	},
	{
		.name = "shares are 0 only of nothing and 255 only of all; unknown is apart",
		.window = { 0, 4000 },
		.steps = "1 0 switch 0 R 1; 2 0 switch 1 S 0; 1001 0 switch 0 R 1; 2000 0 switch 1 "
			 "S 0; 3000 0 switch 7 S 0",
		.buckets = 4,
		.slices = "0: 0-1 unknown, 1-2 1 left 2, 1001-2000 1 lane 0 left 2, 2000-3000 "
			  "unknown | ",
		.levels = "0: unknown 1/1 0 1, 1 254/0 0 1, unknown 0/255 0 0, 0 0/0 0 0 | ",
	},
	{
		.name = "those who wait are there in whole buckets and in parts; the longest wait "
			"is where it ended",
		.window = { 0, 40000 },
		.steps = "0 0 switch 9 S 1; 5000 0 waking 2 by 1; 5000 0 waking 3 by 1; 30001 0 "
			 "switch 1 S 2; 31000 0 switch 2 S 3; 32000 0 switch 3 S 0",
		.buckets = 4,
		.slices = "0: 0-30001 1 left 2, 30001-31000 2 waking 25001 by 1 left 2, "
			  "31000-32000 3 waking 26000 by 1 left 2 | ",
		.levels = "0: 1 255/0 0 2, 1 255/0 0 3, 1 255/0 0 3, 3 51/0 26 1 | ",
	},
	{
		.name = "where slices are too many tasks have levels, of which the rest is sleep",
		.window = { 0, 400 },
		.steps = "0 0 switch 9 S 1; 100 0 waking 2 by 1; 200 0 switch 1 D 2; 250 0 waking "
			 "1 by 2; 300 0 switch 2 S 1",
		.max_slices = 1,
		.buckets = 4,
		.levels = "0: 1 255/0 0 1, 1 255/0 0 2, 2 255/0 1 2, 1 255/0 1 1 | ",
		.task_levels =
			"9: run 0 0 0 0 wait 0 0 0 0 blocked 0 0 0 0 unknown 0 0 0 0 | 1: run 255 "
			"255 0 255 wait 0 0 128 0 blocked 0 0 128 0 unknown 0 0 0 0 | ",
	},
	{
		.name = "a window of one instant has one bucket",
		.window = { 100, 100 },
		.steps = "100 0 switch 9 S 1",
		.buckets = 16384,
		.slices = "0:  | ",
		.levels = "0: 0 0/0 0 0 | ",
	},
};

/* ---- columns as text ---- */

struct reading {
	const struct tap_drawn_columns *columns;
	const struct tap_timeline *t;
	const struct tap_runners *runners;
	struct {
		unsigned int piece;
		size_t at;
	} places[16];
};

/* The next number of a column. */
static uint64_t next(struct reading *r, const char *name)
{
	unsigned int first = 0;
	const struct tap_drawn_column *c;
	uint64_t v = 0;

	while (strcmp(r->columns->v[first].name, name))
		assert_true(++first < r->columns->nr);
	assert_true(first < 16 || !"columns");
	c = &r->columns->v[first] + r->places[first].piece;
	while (r->places[first].at == c->bytes->len) {
		c++;
		assert_ptr_equal(c->name, r->columns->v[first].name);
		r->places[first].piece++;
		r->places[first].at = 0;
	}
	if (c->type == TAP_NUMBER_U32) {
		for (unsigned int i = 0; i < 4; i++)
			v |= (uint64_t)(unsigned char)c->bytes->data[r->places[first].at++]
			     << (8 * i);
		return v;
	}
	if (c->type == TAP_NUMBER_U8)
		return (unsigned char)c->bytes->data[r->places[first].at++];
	for (unsigned int shift = 0;; shift += 7) {
		const unsigned char byte = (unsigned char)c->bytes->data[r->places[first].at++];

		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return v;
	}
}

static int tid_of(const struct reading *r, uint64_t number)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->t, &nr);

	assert_true(number < r->runners->nr);
	return tasks[r->runners->tasks[number]]->tid;
}

static void put_runner(const struct reading *r, struct tap_buf *b, uint64_t runner)
{
	if (runner >= TAP_RUNNER_TASKS)
		tap_buf_printf(b, "%d", tid_of(r, runner - TAP_RUNNER_TASKS));
	else
		tap_buf_puts(b, (const char *[]){ "0", "unknown", "offline" }[runner]);
}

static void put_came(struct reading *r, struct tap_buf *b, unsigned int came)
{
	static const char *const words[] = { "", " waking", " preempted", " throttled" };
	const uint64_t wait = next(r, "slices.wait"), waker = next(r, "slices.waker"),
		       from = next(r, "slices.from");

	tap_buf_puts(b, words[came]);
	if (came)
		tap_buf_printf(b, " %llu", (unsigned long long)wait);
	if (waker == TAP_WAKER_INTERRUPT)
		tap_buf_puts(b, " by interrupt");
	if (waker >= TAP_WAKER_TASKS)
		tap_buf_printf(b, " by %d", tid_of(r, waker - TAP_WAKER_TASKS));
	if (from)
		tap_buf_printf(b, " lane %llu", (unsigned long long)from - 1);
}

static void put_slices(struct reading *r, unsigned int nr_lanes, uint64_t from_ns,
		       struct tap_buf *b)
{
	for (unsigned int lane = 0; lane < nr_lanes; lane++) {
		uint64_t at = from_ns, nr = next(r, "slices.nr");

		tap_buf_printf(b, "%u: ", lane);
		for (uint64_t i = 0; i < nr; i++) {
			const uint64_t from = at + next(r, "slices.gap"),
				       how = next(r, "slices.how");

			at = from + next(r, "slices.ns");
			tap_buf_printf(b, "%s%llu-%llu ", i ? ", " : "", (unsigned long long)from,
				       (unsigned long long)at);
			put_runner(r, b, next(r, "slices.runner"));
			put_came(r, b, how & 3);
			if (how & 32)
				tap_buf_puts(b, " before");
			if (how >> 2 & 7)
				tap_buf_printf(b, " left %u", (unsigned int)(how >> 2 & 7));
		}
		tap_buf_puts(b, " | ");
	}
}

static uint64_t next_of_level(struct reading *r, unsigned int level, const char *column)
{
	char name[32];

	snprintf(name, sizeof(name), "levels.%u.%s", level, column);
	return next(r, name);
}

static void put_levels(struct reading *r, const struct tap_pyramid *p, struct tap_buf *b)
{
	for (unsigned int level = 0; level < p->nr_levels; level++)
		for (unsigned int row = 0; row < p->nr_rows; row++) {
			tap_buf_printf(b, "%u: ", row);
			for (uint32_t i = 0; i < p->buckets[level]; i++) {
				tap_buf_puts(b, i ? ", " : "");
				put_runner(r, b, next_of_level(r, level, "runner"));
				tap_buf_printf(b, " %u",
					       (unsigned int)next_of_level(r, level, "busy"));
				tap_buf_printf(b, "/%u",
					       (unsigned int)next_of_level(r, level, "unknown"));
				tap_buf_printf(b, " %u",
					       (unsigned int)next_of_level(r, level, "wait"));
				tap_buf_printf(b, " %u",
					       (unsigned int)next_of_level(r, level, "depth"));
			}
			tap_buf_puts(b, " | ");
		}
}

static void put_task_levels(struct reading *r, const struct tap_pyramid *p, const int *tids,
			    struct tap_buf *b)
{
	static const char *const names[] = { "task_levels.run", "task_levels.wait",
					     "task_levels.blocked", "task_levels.unknown" };

	for (unsigned int row = 0; row < p->nr_rows; row++) {
		tap_buf_printf(b, "%d: ", tids[row]);
		for (unsigned int what = 0; what < 4; what++) {
			tap_buf_printf(b, "%s ", names[what] + strlen("task_levels."));
			for (uint32_t i = 0; i < p->buckets[0]; i++)
				tap_buf_printf(b, "%u ", (unsigned int)next(r, names[what]));
		}
		tap_buf_puts(b, "| ");
	}
}

/* ---- a case ---- */

struct drawing {
	struct tap_drawn_slices slices;
	struct tap_levels levels;
	struct tap_task_levels task_levels;
};

static void feed(struct tap_run *run, const struct steps *steps, struct drawing *d)
{
	const struct tap_watcher watchers[] = {
		{ .ops = &tap_drawn_slices_ops, .ctx = &d->slices },
		{ .ops = &tap_levels_ops, .ctx = &d->levels, .pick = TAP_PICK_TASKS },
		{ .ops = &tap_task_levels_ops, .ctx = &d->task_levels },
	};
	const struct tap_timeline_opts opts = { .window = run->window,
						.survey = &run->survey,
						.watchers = watchers,
						.nr_watchers = 3 };

	assert_int_equal(tap_timeline_new(&opts, &run->timeline), 0);
	for (unsigned int i = 0; i < steps->nr; i++)
		assert_int_equal(tap_timeline_event(run->timeline, &steps->ev[i]), 0);
	assert_int_equal(tap_timeline_end(run->timeline), 0);
}

static void survey(struct tap_run *run, const struct steps *steps)
{
	assert_int_equal(tap_survey_init(&run->survey, run->window), 0);
	for (unsigned int i = 0; i < steps->nr; i++)
		assert_int_equal(tap_survey_event(&run->survey, &steps->ev[i]), 0);
	assert_int_equal(tap_survey_end(&run->survey), 0);
}

static void check(const struct drawn_case *c, struct tap_run *run, struct drawing *d,
		  struct tap_runners *runners, const int *tids)
{
	struct tap_drawn_columns columns = { 0 };
	struct reading r = { .columns = &columns, .t = run->timeline, .runners = runners };
	struct tap_buf slices = { 0 }, levels = { 0 }, task_levels = { 0 }, numbers = { 0 };

	/* slices have a column per lane: they are read before the others are there */
	assert_int_equal(tap_drawn_slices_end(&d->slices, &columns), 0);
	assert_int_equal(d->slices.is_over, !c->slices);
	if (c->slices)
		put_slices(&r, d->slices.lanes->nr, c->window.from_ns, &slices);
	assert_string_equal(tap_buf_str(&slices), c->slices ?: "");
	tap_drawn_columns_release(&columns);
	memset(r.places, 0, sizeof(r.places));
	assert_int_equal(tap_levels_end(&d->levels, 0, runners, &columns), 0);
	assert_int_equal(tap_task_levels_end(&d->task_levels, run->timeline, tids, runners,
					     &numbers, &columns),
			 0);
	if (c->levels)
		put_levels(&r, &d->levels.pyramid, &levels);
	assert_string_equal(tap_buf_str(&levels), c->levels ?: "");
	if (c->task_levels)
		put_task_levels(&r, &d->task_levels.pyramid, tids, &task_levels);
	assert_string_equal(tap_buf_str(&task_levels), c->task_levels ?: "");
	tap_drawn_columns_release(&columns);
	tap_buf_release(&slices);
	tap_buf_release(&levels);
	tap_buf_release(&task_levels);
	tap_buf_release(&numbers);
}

static void test_case(void **state)
{
	static const int tids[] = { 9, 1 };
	const struct drawn_case *c = *state;
	struct tap_run run = { .all_tasks = true,
			       .pick.select = &tap_select_all,
			       .window = c->window };
	unsigned int cpus[] = { 0, 1 };
	uint32_t by_cpu[] = { 0, 1 };
	struct tap_runners runners = { 0 };
	struct tap_lanes lanes = { .cpus = cpus, .by_cpu = by_cpu };
	struct drawing d = {
		.slices = { .run = &run,
			    .lanes = &lanes,
			    .max = c->max_slices ?: UINT64_MAX,
			    .runners = &runners },
		.levels = { .lanes = &lanes },
	};
	struct steps steps;

	steps_parse(&steps, c->steps);
	survey(&run, &steps);
	lanes.nr = lanes.nr_cpus = run.survey.nr_cpus;
	tap_pyramid_init(&d.levels.pyramid, c->window, lanes.nr, c->buckets, false);
	assert_int_equal(tap_drawn_slices_init(&d.slices), 0);
	assert_int_equal(tap_levels_init(&d.levels), 0);
	assert_int_equal(tap_task_levels_init(&d.task_levels, c->window, tids, 2, c->buckets, true),
			 0);
	feed(&run, &steps, &d);
	check(c, &run, &d, &runners, tids);
	tap_task_levels_release(&d.task_levels);
	tap_levels_release(&d.levels);
	tap_drawn_slices_release(&d.slices);
	tap_runners_release(&runners);
	tap_timeline_free(run.timeline);
	tap_survey_release(&run.survey);
	steps_release();
}

MAIN_OF_CASES(cases, test_case)
