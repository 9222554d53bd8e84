// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/pelt.h"
#include "event/defs.h"

#define MAX_STEPS 10
#define MAX_WANT 3
#define NR_COLUMNS 4
#define ROOT 1
#define AUTOGROUP 0
#define ANY UINT64_MAX

/* The built-in events, their records made by the names of the fields. */
enum kind { CFS = 1, SE, RT, NR, OVER, SWITCH, EXIT, NR_KINDS };

static const struct {
	const char *system, *name;
} names[NR_KINDS] = {
	[CFS] = { "schedtap", "sched_pelt_cfs" }, [SE] = { "schedtap", "sched_pelt_se" },
	[RT] = { "schedtap", "sched_pelt_rt" }, [NR] = { "schedtap", "sched_update_nr_running" },
	[OVER] = { "schedtap", "sched_overutilized" }, [SWITCH] = { "sched", "sched_switch" },
	[EXIT] = { "sched", "sched_process_exit" },
};
static struct tap_format *formats[NR_KINDS];

#define DEAD 0x10 /* prev_state: X */

struct pelt_case {
	const char *name;
	const char *signal; /* that is kept; NULL: util */
	bool while_running;
	/* the window is [100, 200] ns.
	 * { CFS, ts, cpu, value, cgroup } { SE, ts, tid, value } { RT, NR: ts, cpu, value }
	 * { OVER, ts, first and last CPU in one byte, value } { SWITCH, ts, prev, next, state }
	 */
	struct {
		enum kind kind;
		uint64_t ts_ns, who, value, more;
	} steps[MAX_STEPS];
	struct {
		enum tap_pelt_subject subject;
		int cpu, tid;
		uint64_t cgroup;
		uint64_t updates, known_ns, sum, min, max, last;
		uint64_t bands_ns[TAP_PELT_BANDS];
	} want[MAX_WANT];
	struct {
		uint64_t ns, sum, max;
	} columns[NR_COLUMNS]; /* of the first; if any has .ns */
};

static const struct pelt_case cases[] = {
	{
		.name = "a value holds until the next, the last until the end; before is unknown",
		.steps = { { CFS, 110, 3, 100, ROOT }, { CFS, 150, 3, 300, ROOT } },
		.want = { { TAP_PELT_CPU, 3, 0, ROOT, 2, 90, 40 * 100 + 50 * 300, 100, 300, 300,
			    { 40, 50 } } },
		.columns = { { 15, 1500, 100 }, { 25, 2500, 100 }, { 25, 7500, 300 },
			     { 25, 7500, 300 } },
	},
	{
		.name = "a column knows the greatest of its values, weights them, and may be empty",
		.steps = { { CFS, 130, 0, 10, ROOT }, { CFS, 140, 0, 900, ROOT },
			   { CFS, 145, 0, 40, ROOT } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 3, 70, 100 + 4500 + 55 * 40, 10, 900, 40,
			    { 65, 0, 0, 0, 5 } } },
		.columns = { { 0 }, { 20, 100 + 4500 + 200, 900 }, { 25, 1000, 40 },
			     { 25, 1000, 40 } },
	},
	{
		.name = "each CPU, and each cgroup on it, is a series; autogroups are none",
		.steps = { { CFS, 110, 0, 10, ROOT }, { CFS, 120, 0, 20, 5 },
			   { CFS, 130, 1, 30, 5 }, { CFS, 140, 1, 50, AUTOGROUP } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 1, 90, 900, 10, 10, 10, { 90 } },
			  { TAP_PELT_CGROUP, 0, 0, 5, 1, 80, 1600, 20, 20, 20, { 80 } },
			  { TAP_PELT_CGROUP, 1, 0, 5, 1, 70, 2100, 30, 30, 30, { 70 } } },
	},
	{
		.name = "fifths of 1024, and what is above",
		.steps = { { CFS, 100, 0, 204, ROOT }, { CFS, 110, 0, 205, ROOT },
			   { CFS, 130, 0, 819, ROOT }, { CFS, 160, 0, 820, ROOT },
			   { CFS, 170, 0, 1024, ROOT }, { CFS, 190, 0, 5000, ROOT } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 6, 100,
			    2040 + 4100 + 24570 + 8200 + 20480 + 50000, 204, 5000, 5000,
			    { 10, 20, 0, 30, 40 } } },
	},
	{
		.name = "tasks on a run queue are counted, four and more as one",
		.signal = "nr_running",
		.steps = { { NR, 100, 0, 0 }, { NR, 110, 0, 1 }, { NR, 130, 0, 4 },
			   { NR, 160, 0, 9 }, { NR, 170, 0, 3 } },
		.want = { { TAP_PELT_CPU, 0, 0, 0, 5, 100, 20 + 120 + 90 + 90, 0, 9, 3,
			    { 10, 20, 0, 30, 40 } } },
	},
	{
		.name = "signals of another class are not those of CFS",
		.signal = "util_rt",
		.steps = { { CFS, 100, 0, 7, ROOT }, { RT, 150, 0, 9 } },
		.want = { { TAP_PELT_CPU, 0, 0, 0, 1, 50, 450, 9, 9, 9, { 50 } } },
	},
	{
		.name = "a root domain is one series, whoever told of it",
		.signal = "overutilized",
		.steps = { { OVER, 100, 0x13, 1 }, { OVER, 120, 0x13, 0 }, { OVER, 190, 0x45, 1 } },
		.want = { { TAP_PELT_DOMAIN, 1, 0, 0, 2, 100, 20, 0, 1, 0, { ANY } },
			  { TAP_PELT_DOMAIN, 4, 0, 0, 1, 10, 10, 1, 1, 1, { ANY } } },
	},
	{
		.name = "a group's entity (pid -1) is no task",
		.steps = { { SE, 110, (uint64_t)-1, 9 }, { SE, 120, 7, 30 } },
		.want = { { TAP_PELT_TASK, 0, 7, 0, 1, 80, 2400, 30, 30, 30, { 80 } } },
	},
	{
		.name = "while running: a task's values count only while it runs",
		.while_running = true,
		.steps = { { SWITCH, 105, 0, 7 }, { SE, 120, 7, 50 }, { SWITCH, 140, 7, 0, 1 },
			   { SE, 150, 7, 10 }, { SWITCH, 170, 0, 7 }, { SE, 180, 7, 20 },
			   { SWITCH, 190, 7, 0, 1 } },
		.want = { { TAP_PELT_TASK, 0, 7, 0, 3, 40, 20 * 50 + 10 * 10 + 10 * 20, 10, 50, 20,
			    { 40 } } },
	},
	{
		.name = "while running: a CPU's values count while it is not idle",
		.while_running = true,
		.steps = { { SWITCH, 105, 0, 7 }, { CFS, 120, 0, 50, ROOT },
			   { SWITCH, 140, 7, 0, 1 }, { CFS, 150, 0, 10, ROOT },
			   { SWITCH, 170, 0, 8 } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 2, 50, 20 * 50 + 30 * 10, 10, 50, 10,
			    { 50 } } },
	},
	{
		.name = "while running: what never ran is known for no time",
		.while_running = true,
		.steps = { { SWITCH, 105, 7, 0, 1 }, { SE, 120, 7, 50 } },
		.want = { { TAP_PELT_TASK, 0, 7, 0, 1, 0, 0, ANY, 0, 50, { 0 } } },
	},
	{
		.name = "a dead task's values end with it, and who has its tid next is another",
		.steps = { { SWITCH, 105, 0, 7 }, { SE, 110, 7, 50 }, { EXIT, 119, 7 },
			   { SWITCH, 120, 7, 0, DEAD }, { SE, 121, 7, 60 },
			   { SWITCH, 150, 0, 7 }, { SE, 160, 7, 80 } },
		.want = { { TAP_PELT_TASK, 0, 7, 0, 1, 10, 500, 50, 50, 50, { 10 } },
			  { TAP_PELT_TASK, 0, 7, 0, 1, 40, 3200, 80, 80, 80, { 40 } } },
	},
};

static void put(void *rec, const struct tap_format *fmt, const char *name, uint64_t v)
{
	const struct tap_field *f = tap_format_field(fmt, name);

	assert_non_null(f);
	memcpy((char *)rec + f->offset, &v, f->size); /* the low bytes */
}

static void put_span(unsigned char *rec, uint32_t *size, uint64_t first_last)
{
	uint64_t mask = UINT64_C(1) << (first_last >> 4) | UINT64_C(1) << (first_last & 15);
	uint32_t loc = *size | (uint32_t)sizeof(mask) << 16;

	memcpy(rec + *size, &mask, sizeof(mask));
	memcpy(rec + tap_format_field(formats[OVER], "span")->offset, &loc, sizeof(loc));
	*size += sizeof(mask);
}

static void fill(const struct pelt_case *c, unsigned int i, unsigned char *rec, uint32_t *size)
{
	const struct tap_format *fmt = formats[c->steps[i].kind];
	uint64_t who = c->steps[i].who, value = c->steps[i].value;

	switch (c->steps[i].kind) {
	case CFS:
		put(rec, fmt, "cgroup", c->steps[i].more);
		put(rec, fmt, "cpu", who);
		put(rec, fmt, "util", value);
		break;
	case RT:
		put(rec, fmt, "cpu", who);
		put(rec, fmt, "util", value);
		break;
	case SE:
		put(rec, fmt, "pid", who);
		put(rec, fmt, "util", value);
		break;
	case NR:
		put(rec, fmt, "cpu", who);
		put(rec, fmt, "nr_running", value);
		break;
	case OVER:
		put(rec, fmt, "overutilized", value);
		put_span(rec, size, who);
		break;
	case SWITCH:
		put(rec, fmt, "common_pid", who);
		put(rec, fmt, "prev_pid", who);
		put(rec, fmt, "next_pid", value);
		put(rec, fmt, "prev_state", c->steps[i].more);
		break;
	default:
		put(rec, fmt, "common_pid", who);
		put(rec, fmt, "pid", who);
	}
}

static void feed(const struct pelt_case *c, struct tap_pelt *p, struct tap_timeline *t)
{
	for (unsigned int i = 0; i < MAX_STEPS && c->steps[i].kind; i++) {
		const struct tap_format *fmt = formats[c->steps[i].kind];
		_Alignas(8) unsigned char rec[256] = { 0 };
		uint32_t size = (fmt->min_size + 7) & ~7u;
		struct tap_event ev = { .ts_ns = c->steps[i].ts_ns, .fmt = fmt, .data = rec };

		put(rec, fmt, "common_type", fmt->id);
		fill(c, i, rec, &size);
		ev.size = size;
		assert_int_equal(tap_timeline_event(t, &ev), 0);
		if (tap_pelt_wants(fmt))
			assert_int_equal(tap_pelt_event(p, t, &ev), 0);
	}
	assert_int_equal(tap_timeline_end(t), 0);
	assert_int_equal(tap_pelt_end(p), 0);
}

static void check_columns(const struct pelt_case *c, const struct tap_pelt_series *s)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < NR_COLUMNS; i++)
		any |= c->columns[i].ns;
	for (unsigned int i = 0; i < NR_COLUMNS && any; i++) {
		assert_int_equal(s->columns[i].ns, c->columns[i].ns);
		assert_int_equal(s->columns[i].sum, c->columns[i].sum);
		assert_int_equal(s->columns[i].max, c->columns[i].max);
	}
}

static void check(const struct pelt_case *c, const struct tap_pelt *p)
{
	struct tap_pelt_series *const *series;
	unsigned int nr, want = 0;

	series = tap_pelt_series(p, &nr);
	while (want < MAX_WANT && c->want[want].updates)
		want++;
	assert_int_equal(nr, want);
	for (unsigned int i = 0; i < nr; i++) {
		const struct tap_pelt_series *s = series[i];

		assert_int_equal(s->subject, c->want[i].subject);
		assert_int_equal(s->cpu, c->want[i].cpu);
		assert_int_equal(s->tid, c->want[i].tid);
		assert_int_equal(s->cgroup, c->want[i].cgroup);
		assert_int_equal(s->updates, c->want[i].updates);
		assert_int_equal(s->hist.count, c->want[i].known_ns);
		assert_int_equal(s->hist.sum, c->want[i].sum);
		assert_int_equal(s->hist.min, c->want[i].min);
		assert_int_equal(s->hist.max, c->want[i].max);
		assert_int_equal(s->last, c->want[i].last);
		for (unsigned int k = 0; k < TAP_PELT_BANDS && c->want[i].bands_ns[0] != ANY; k++)
			assert_int_equal(s->bands_ns[k], c->want[i].bands_ns[k]);
	}
	check_columns(c, series[0]);
}

static bool want(void *ctx, const struct tap_pelt_series *s)
{
	const struct pelt_case *c = ctx;

	return !strcmp(s->signal->name, c->signal ? c->signal : "util");
}

static int on_stretch(void *ctx, const struct tap_stretch *s)
{
	return tap_pelt_stretch(ctx, s);
}

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	return tap_pelt_cpu_stretch(ctx, s);
}

static void run_case(void **state)
{
	const struct tap_observer observer = {
		.states = TAP_STATE_ALL, .stretch = on_stretch, .cpu = on_cpu,
	};
	const struct pelt_case *c = *state;
	struct tap_pelt_opts opts = {
		.start_ns = 100, .end_ns = 200, .nr_columns = NR_COLUMNS,
		.while_running = c->while_running, .want = want, .ctx = (void *)c,
	};
	struct tap_timeline_opts topts = {
		.start_ns = 100, .end_ns = 200, .observer = &observer,
	};
	struct tap_timeline *t;
	struct tap_pelt *p;

	assert_int_equal(tap_pelt_new(&opts, &p), 0);
	topts.ctx = p;
	assert_int_equal(tap_timeline_new(&topts, &t), 0);
	feed(c, p, t);
	check(c, p);
	tap_timeline_free(t);
	tap_pelt_free(p);
}

/* Each update is told, and kept where that was asked for; not those of who does not run. */
static int on_point(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, uint64_t value)
{
	(void)s;
	*(uint64_t *)ctx += ts_ns * 1000 + value;
	return 0;
}

static void points(void **state)
{
	const struct pelt_case c = { .steps = { { RT, 110, 0, 5 }, { RT, 120, 0, 6 } } };
	uint64_t sum = 0;
	struct tap_pelt_opts opts = { .start_ns = 100, .end_ns = 200, .keep_points = true,
				      .point = on_point, .ctx = &sum };
	struct tap_timeline_opts topts = { .start_ns = 100, .end_ns = 200 };
	struct tap_pelt_series *const *series;
	struct tap_timeline *t;
	struct tap_pelt *p;
	unsigned int nr;

	(void)state;
	assert_int_equal(tap_pelt_new(&opts, &p), 0);
	assert_int_equal(tap_timeline_new(&topts, &t), 0);
	feed(&c, p, t);
	series = tap_pelt_series(p, &nr);
	assert_int_equal(nr, 3); /* util, load, runnable */
	assert_int_equal(sum, 3 * 230000 + 11);
	assert_int_equal(series[0]->nr_points, 2);
	assert_int_equal(series[0]->points[1].ts_ns, 120);
	assert_int_equal(series[0]->points[1].value, 6);
	tap_timeline_free(t);
	tap_pelt_free(p);
}

static int parse_formats(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < NR_KINDS; i++) {
		const struct tap_def *def = tap_def_find(names[i].system, names[i].name);
		struct tap_buf text = { 0 };
		int ret;

		tap_def_format(def, NULL, NULL, &text);
		ret = tap_format_parse(names[i].system, text.data, text.len,
				       (struct tap_abi){ .long_size = 8 }, &formats[i], NULL);
		tap_buf_release(&text);
		if (ret)
			return ret;
	}
	return 0;
}

static int free_formats(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < NR_KINDS; i++)
		tap_format_free(formats[i]);
	return 0;
}

int main(void)
{
	enum { NR_CASES = sizeof(cases) / sizeof(*cases) };
	struct CMUnitTest tests[NR_CASES + 1];

	for (size_t i = 0; i < NR_CASES; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name, .test_func = run_case,
						.initial_state = (void *)&cases[i] };
	tests[NR_CASES] = (struct CMUnitTest){ .name = "every update is told, and kept on demand",
					       .test_func = points };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, parse_formats, free_formats);
}
