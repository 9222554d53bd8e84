// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "event/defs.h"
#include "analysis/pelt.h"

#define MAX_STEPS 10
#define MAX_WANT 3
#define NR_COLUMNS 4
#define ROOT 1
#define AUTOGROUP 0
#define ANY UINT64_MAX

/* The built-in events, their records made by the names of the fields. */
enum kind { CFS = 1, SE, RT, NR, OVER, SWITCH, EXIT, NR_KINDS, LOST };

static const struct {
	const char *system, *name;
} names[NR_KINDS] = {
	[CFS] = { "schedtap", "sched_pelt_cfs" },
	[SE] = { "schedtap", "sched_pelt_se" },
	[RT] = { "schedtap", "sched_pelt_rt" },
	[NR] = { "schedtap", "sched_update_nr_running" },
	[OVER] = { "schedtap", "sched_overutilized" },
	[SWITCH] = { "sched", "sched_switch" },
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
	 * { OVER, ts, first and last CPU in one byte, value }
	 * { SWITCH, ts, prev, next, state }, on CPU 0 { LOST, to, cpu, from, buffer }
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
		.want = { { TAP_PELT_CPU,
			    3,
			    0,
			    ROOT,
			    2,
			    90,
			    40 * 100 + 50 * 300,
			    100,
			    300,
			    300,
			    { 40, 50 } } },
		.columns = { { 15, 1500, 100 },
			     { 25, 2500, 100 },
			     { 25, 7500, 300 },
			     { 25, 7500, 300 } },
	},
	{
		.name = "a column knows the greatest of its values, weights them, and may be empty",
		.steps = { { CFS, 130, 0, 10, ROOT },
			   { CFS, 140, 0, 900, ROOT },
			   { CFS, 145, 0, 40, ROOT } },
		.want = { { TAP_PELT_CPU,
			    0,
			    0,
			    ROOT,
			    3,
			    70,
			    100 + 4500 + 55 * 40,
			    10,
			    900,
			    40,
			    { 65, 0, 0, 0, 5 } } },
		.columns = { { 0 },
			     { 20, 100 + 4500 + 200, 900 },
			     { 25, 1000, 40 },
			     { 25, 1000, 40 } },
	},
	{
		.name = "each CPU, and each cgroup on it, is a series; autogroups are none",
		.steps = { { CFS, 110, 0, 10, ROOT },
			   { CFS, 120, 0, 20, 5 },
			   { CFS, 130, 1, 30, 5 },
			   { CFS, 140, 1, 50, AUTOGROUP } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 1, 90, 900, 10, 10, 10, { 90 } },
			  { TAP_PELT_CGROUP, 0, 0, 5, 1, 80, 1600, 20, 20, 20, { 80 } },
			  { TAP_PELT_CGROUP, 1, 0, 5, 1, 70, 2100, 30, 30, 30, { 70 } } },
	},
	{
		.name = "fifths of 1024, and what is above",
		.steps = { { CFS, 100, 0, 204, ROOT },
			   { CFS, 110, 0, 205, ROOT },
			   { CFS, 130, 0, 819, ROOT },
			   { CFS, 160, 0, 820, ROOT },
			   { CFS, 170, 0, 1024, ROOT },
			   { CFS, 190, 0, 5000, ROOT } },
		.want = { { TAP_PELT_CPU,
			    0,
			    0,
			    ROOT,
			    6,
			    100,
			    2040 + 4100 + 24570 + 8200 + 20480 + 50000,
			    204,
			    5000,
			    5000,
			    { 10, 20, 0, 30, 40 } } },
	},
	{
		.name = "tasks on a run queue are counted, four and more as one",
		.signal = "nr_running",
		.steps = { { NR, 100, 0, 0 },
			   { NR, 110, 0, 1 },
			   { NR, 130, 0, 4 },
			   { NR, 160, 0, 9 },
			   { NR, 170, 0, 3 } },
		.want = { { TAP_PELT_CPU,
			    0,
			    0,
			    0,
			    5,
			    100,
			    20 + 120 + 90 + 90,
			    0,
			    9,
			    3,
			    { 10, 20, 0, 30, 40 } } },
	},
	{
		.name = "signals of another class are not those of CFS",
		.signal = "util_rt",
		.steps = { { CFS, 100, 0, 7, ROOT }, { RT, 150, 0, 9 } },
		.want = { { TAP_PELT_CPU, 0, 0, 0, 1, 50, 450, 9, 9, 9, { 50 } } },
	},
	{
		.name = "a root domain is one series, whichever CPU reports it",
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
		.steps = { { SWITCH, 105, 0, 7 },
			   { SE, 120, 7, 50 },
			   { SWITCH, 140, 7, 0, 1 },
			   { SE, 150, 7, 10 },
			   { SWITCH, 170, 0, 7 },
			   { SE, 180, 7, 20 },
			   { SWITCH, 190, 7, 0, 1 } },
		.want = { { TAP_PELT_TASK,
			    0,
			    7,
			    0,
			    3,
			    40,
			    20 * 50 + 10 * 10 + 10 * 20,
			    10,
			    50,
			    20,
			    { 40 } } },
	},
	{
		.name = "while running: a CPU's values count while it is not idle",
		.while_running = true,
		.steps = { { SWITCH, 105, 0, 7 },
			   { CFS, 120, 0, 50, ROOT },
			   { SWITCH, 140, 7, 0, 1 },
			   { CFS, 150, 0, 10, ROOT },
			   { SWITCH, 170, 0, 8 } },
		.want = { { TAP_PELT_CPU,
			    0,
			    0,
			    ROOT,
			    2,
			    50,
			    20 * 50 + 30 * 10,
			    10,
			    50,
			    10,
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
		.steps = { { SWITCH, 105, 0, 7 },
			   { SE, 110, 7, 50 },
			   { EXIT, 119, 7 },
			   { SWITCH, 120, 7, 0, DEAD },
			   { SE, 121, 7, 60 },
			   { SWITCH, 150, 0, 7 },
			   { SE, 160, 7, 80 } },
		.want = { { TAP_PELT_TASK, 0, 7, 0, 1, 10, 500, 50, 50, 50, { 10 } },
			  { TAP_PELT_TASK, 0, 7, 0, 1, 40, 3200, 80, 80, 80, { 40 } } },
	},
	{
		.name = "a loss: a value is known up to it, and again from the next update on",
		.steps = { { CFS, 100, 0, 100, ROOT },
			   { LOST, 180, 0, 101 },
			   { CFS, 190, 0, 200, ROOT } },
		.want = { { TAP_PELT_CPU,
			    0,
			    0,
			    ROOT,
			    2,
			    11,
			    100 + 10 * 200,
			    100,
			    200,
			    200,
			    { 11 } } },
		.columns = { { 1, 100, 100 }, { 0 }, { 0 }, { 10, 2000, 200 } },
	},
	{
		.name = "a loss on another CPU may hide an update too, of a CPU and of a cgroup",
		.steps = { { CFS, 110, 0, 10, ROOT },
			   { CFS, 110, 0, 20, 5 },
			   { CFS, 115, 1, 30, ROOT },
			   { LOST, 140, 1, 120 },
			   { CFS, 150, 0, 40, ROOT } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 2, 60, 100 + 50 * 40, 10, 40, 40, { 60 } },
			  { TAP_PELT_CGROUP, 0, 0, 5, 1, 10, 200, 20, 20, 20, { 10 } },
			  { TAP_PELT_CPU, 1, 0, ROOT, 1, 5, 150, 30, 30, 30, { 5 } } },
	},
	{
		.name = "a loss of which no CPU is known: a domain's next update may have been in "
			"it",
		.signal = "overutilized",
		.steps = { { OVER, 100, 0x01, 1 },
			   { LOST, 140, (uint64_t)-1, 120 },
			   { OVER, 190, 0x01, 0 } },
		.want = { { TAP_PELT_DOMAIN, 0, 0, 0, 2, 30, 20, 0, 1, 0, { ANY } } },
	},
	{
		.name = "a loss: a task's next update may have been in it",
		.steps = { { SE, 110, 7, 10 }, { LOST, 140, 0, 120 }, { SE, 170, 7, 20 } },
		.want = { { TAP_PELT_TASK, 0, 7, 0, 2, 40, 100 + 600, 10, 20, 20, { 40 } } },
	},
	{
		.name = "losses that overlap, and one that had begun before the window",
		.steps = { { LOST, 110, 0, 50 },
			   { CFS, 110, 0, 10, ROOT },
			   { LOST, 150, 0, 120 },
			   { CFS, 155, 0, 20, ROOT },
			   { LOST, 160, (uint64_t)-1, 130 },
			   { CFS, 170, 0, 30, ROOT } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 3, 40, 100 + 900, 10, 30, 30, { 40 } } },
	},
	{
		.name = "a loss in a buffer that has none of these events takes none of them",
		.steps = { { CFS, 100, 0, 100, ROOT }, { LOST, 180, 0, 101, 1 } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 1, 100, 10000, 100, 100, 100, { 100 } } },
	},
	{
		.name = "a loss while running: no value holds before it, none runs after it",
		.while_running = true,
		.steps = { { SWITCH, 100, 0, 7 },
			   { CFS, 105, 0, 50, ROOT },
			   { LOST, 130, 0, 120 },
			   { SWITCH, 140, 8, 7 },
			   { CFS, 160, 0, 10, ROOT },
			   { SWITCH, 180, 7, 0, 1 } },
		.want = { { TAP_PELT_CPU,
			    0,
			    0,
			    ROOT,
			    2,
			    35,
			    15 * 50 + 20 * 10,
			    10,
			    50,
			    10,
			    { 35 } } },
	},
	{
		.name = "a break of a CPU's chain: nothing is known of that CPU until it is over",
		.steps = { { CFS, 100, 0, 10, ROOT },
			   { CFS, 100, 1, 20, ROOT },
			   { SWITCH, 120, 0, 7 },
			   { CFS, 130, 0, 30, ROOT },
			   { SWITCH, 150, 8, 0, 1 },
			   { CFS, 160, 0, 40, ROOT } },
		.want = { { TAP_PELT_CPU, 0, 0, ROOT, 3, 60, 200 + 1600, 10, 40, 40, { 60 } },
			  { TAP_PELT_CPU, 1, 0, ROOT, 1, 100, 2000, 20, 20, 20, { 100 } } },
	},
	{
		.name = "a break is in doubt for a domain's CPUs, and not for tasks",
		.signal = "overutilized",
		.steps = { { OVER, 100, 0x01, 1 },
			   { OVER, 100, 0x12, 1 },
			   { SWITCH, 120, 0, 7 },
			   { SWITCH, 150, 8, 0, 1 } },
		.want = { { TAP_PELT_DOMAIN, 0, 0, 0, 1, 20, 20, 1, 1, 1, { ANY } },
			  { TAP_PELT_DOMAIN, 1, 0, 0, 1, 100, 100, 1, 1, 1, { ANY } } },
	},
	{
		.name = "a break: a task's own updates are all there",
		.steps = { { SE, 100, 9, 10 }, { SWITCH, 120, 0, 7 }, { SWITCH, 150, 8, 0, 1 } },
		.want = { { TAP_PELT_TASK, 0, 9, 0, 1, 100, 1000, 10, 10, 10, { 100 } } },
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

struct record {
	struct tap_event ev;
	_Alignas(8) unsigned char bytes[256];
};

static void make(const struct pelt_case *c, unsigned int i, struct record *r)
{
	const struct tap_format *fmt = formats[c->steps[i].kind % LOST];
	uint32_t size;

	*r = (struct record){ .ev = { .ts_ns = c->steps[i].ts_ns } };
	if (c->steps[i].kind == LOST) {
		r->ev.cpu = (int)c->steps[i].who;
		r->ev.buffer = (unsigned int)c->steps[i].more;
		r->ev.lost.first_ns = c->steps[i].value;
		r->ev.lost.last_ns = r->ev.ts_ns;
		return;
	}
	size = (fmt->min_size + 7) & ~7u;
	put(r->bytes, fmt, "common_type", fmt->id);
	fill(c, i, r->bytes, &size);
	if (c->steps[i].kind == CFS ||
	    c->steps[i].kind == RT) /* each CPU reports its own signals */
		r->ev.cpu = (int)c->steps[i].who;
	r->ev.fmt = fmt;
	r->ev.data = r->bytes;
	r->ev.size = size;
}

static void survey(const struct pelt_case *c, struct tap_survey *s)
{
	struct record r;

	assert_int_equal(tap_survey_init(s, (struct tap_window){ 100, 200 }), 0);
	for (unsigned int i = 0; i < MAX_STEPS && c->steps[i].kind; i++) {
		make(c, i, &r);
		assert_int_equal(tap_survey_event(s, &r.ev), 0);
	}
	assert_int_equal(tap_survey_end(s), 0);
}

static void feed(const struct pelt_case *c, struct tap_pelt *p, struct tap_timeline *t)
{
	struct record r;

	for (unsigned int i = 0; i < MAX_STEPS && c->steps[i].kind; i++) {
		make(c, i, &r);
		assert_int_equal(tap_timeline_event(t, &r.ev), 0);
		if (r.ev.fmt && tap_pelt_wants(r.ev.fmt))
			assert_int_equal(tap_pelt_ops.event(p, t, &r.ev), 0);
	}
	assert_int_equal(tap_timeline_end(t), 0);
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

static void run_case(void **state)
{
	const struct pelt_case *c = *state;
	struct tap_survey missing;
	struct tap_pelt_opts opts = {
		.window = { 100, 200 },
		.survey = &missing,
		.nr_columns = NR_COLUMNS,
		.while_running = c->while_running,
		.want = want,
		.ctx = (void *)c,
	};
	struct tap_timeline_opts topts = {
		.window = { 100, 200 },
		.survey = &missing,
		.nr_watchers = 1,
	};
	struct tap_watcher watcher = { .ops = &tap_pelt_ops };
	struct tap_timeline *t;
	struct tap_pelt *p;

	survey(c, &missing);
	assert_int_equal(tap_pelt_new(&opts, &p), 0);
	watcher.ctx = p;
	topts.watchers = &watcher;
	assert_int_equal(tap_timeline_new(&topts, &t), 0);
	feed(c, p, t);
	check(c, p);
	tap_timeline_free(t);
	tap_pelt_free(p);
	tap_survey_release(&missing);
}

/*
 * Each update of a running task or CPU is passed on, and kept if .keep_points asks for it. Once a
 * value is no longer known, a gap is passed on. All are in time order.
 */
static int on_point(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, int64_t value)
{
	char *text = ctx;

	if (!strcmp(s->signal->name, "util_rt") && value == TAP_PELT_GAP)
		sprintf(text + strlen(text), "%d:%d gap,", (int)ts_ns, s->cpu);
	else if (!strcmp(s->signal->name, "util_rt"))
		sprintf(text + strlen(text), "%d:%d %d,", (int)ts_ns, s->cpu, (int)value);
	return 0;
}

static void points(void **state)
{
	const struct pelt_case c = { .steps = { { RT, 110, 0, 5 },
						{ RT, 120, 0, 6 },
						{ RT, 125, 1, 7 },
						{ LOST, 140, 1, 130 },
						{ RT, 150, 1, 8 },
						{ LOST, 190, 0, 170 } } };
	char text[256] = "";
	struct tap_survey missing;
	struct tap_pelt_opts opts = { .window = { 100, 200 },
				      .keep_points = true,
				      .survey = &missing,
				      .point = on_point,
				      .ctx = text };
	struct tap_watcher watcher = { .ops = &tap_pelt_of_cpus_ops };
	const struct tap_timeline_opts topts = { .window = { 100, 200 },
						 .watchers = &watcher,
						 .nr_watchers = 1 };
	struct tap_pelt_series *const *series;
	struct tap_timeline *t;
	struct tap_pelt *p;
	unsigned int nr;

	(void)state;
	survey(&c, &missing);
	assert_int_equal(tap_pelt_new(&opts, &p), 0);
	watcher.ctx = p;
	assert_int_equal(tap_timeline_new(&topts, &t), 0);
	feed(&c, p, t);
	series = tap_pelt_series(p, &nr);
	assert_int_equal(nr, 6); /* util, load, runnable */
	assert_string_equal(text, "110:0 5,120:0 6,125:1 7,130:0 gap,130:1 gap,150:1 8,170:1 gap,");
	assert_int_equal(series[0]->nr_points, 3);
	assert_int_equal(series[0]->points[1].ts_ns, 120);
	assert_int_equal(series[0]->points[1].value, 6);
	assert_int_equal(series[0]->points[2].ts_ns, 130);
	assert_true(series[0]->points[2].value == TAP_PELT_GAP);
	tap_timeline_free(t);
	tap_pelt_free(p);
	tap_survey_release(&missing);
}

/* Of a signed series: figures are those of all values, in their order. */
static void below_zero(void **state)
{
	static const int64_t values[] = { 5, -2, 0, -7, -2, 30, -7, 1, 2, 3 }; /* each for 10 ns */
	static const int64_t sorted[] = { -7, -7, -2, -2, 0, 1, 2, 3, 5, 30 };
	static const struct tap_pelt_signal signal = { .name = "lag",
						       .scale = TAP_PELT_OPEN,
						       .is_signed = true };
	const struct tap_window window = { 100, 200 };
	struct tap_pelt_series *s = calloc(1, sizeof(*s));

	(void)state;
	assert_non_null(s);
	*s = (struct tap_pelt_series){ .signal = &signal,
				       .hist = TAP_HIST_INIT,
				       .below = TAP_HIST_INIT };
	s->columns = calloc(2, sizeof(*s->columns));
	assert_non_null(s->columns);
	assert_int_equal(tap_pelt_quantile(s, 0.5), 0); /* nothing yet */
	for (unsigned int i = 0; i < 10; i++) {
		s->last = values[i];
		assert_int_equal(tap_pelt_series_hold(s, &window, 2, 100 + i * 10, 110 + i * 10),
				 0);
	}
	assert_int_equal(tap_pelt_known_ns(s), 100);
	assert_true(tap_pelt_mean(s) == 2.3);
	assert_int_equal(tap_pelt_min(s), -7);
	assert_int_equal(tap_pelt_max(s), 30);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(tap_pelt_quantile(s, (i + 0.5) / 10), sorted[i]);
		/* not above it, its own end included */
		assert_int_equal(tap_pelt_quantile(s, (i + 1) / 10.0), sorted[i]);
	}
	assert_int_equal(s->columns[0].min, -7);
	assert_int_equal(s->columns[0].max, 5);
	assert_true(s->columns[0].sum == (5 - 2 + 0 - 7 - 2) * 10);
	assert_int_equal(s->columns[1].min, -7);
	assert_int_equal(s->columns[1].max, 30);
	tap_pelt_series_free(s);
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
	struct CMUnitTest tests[NR_CASES + 2];

	for (size_t i = 0; i < NR_CASES; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = run_case,
						.initial_state = (void *)&cases[i] };
	tests[NR_CASES] = (struct CMUnitTest){
		.name = "every update and every gap is reported, and kept on demand",
		.test_func = points
	};
	tests[NR_CASES + 1] =
		(struct CMUnitTest){ .name = "figures of values below 0", .test_func = below_zero };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, parse_formats, free_formats);
}
