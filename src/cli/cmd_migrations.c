// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap migrations: which tasks were moved between CPUs, how often, and why. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>

#include "analysis/migrations.h"
#include "cli/pass.h"
#include "cli/screen.h"

#define TOP_IN_TEXT 20

struct migrations_opts {
	struct tap_pass_opts pass;
	int64_t top;
	bool list;
};

static const struct tap_opt migrations_opts[] = {
	TAP_PASS_OPTIONS(struct migrations_opts),
	{ "number", 'n', "N", "show the N tasks and the N pairs of CPUs with most migrations "
	  "[20; all with --json and --csv]",
	  TAP_OPT_INT, offsetof(struct migrations_opts, top), .min = 0, .max = INT_MAX },
	TAP_OPTION(struct migrations_opts, list, "list", 0, NULL, TAP_OPT_FLAG,
		   "print every migration, one a line, in order of time"),
	{ 0 }
};

#define COUNTS                                                                                     \
	{ "total", "total", TAP_CELL_COUNT, .width = 10 },                                         \
	{ "wakeup", "wakeup", TAP_CELL_COUNT, .width = 10 },                                       \
	{ "balance", "balance", TAP_CELL_COUNT, .width = 10 },                                     \
	{ "other", "other", TAP_CELL_COUNT, .width = 10 }

static const struct tap_column task_columns[] = {
	TAP_PASS_WHO_COLUMNS("", "task", 28),
	COUNTS,
	{ 0 }
};

static const struct tap_column pair_columns[] = {
	{ "from_cpu", "from CPU", TAP_CELL_INT, .width = 8 },
	{ "to_cpu", "to CPU", TAP_CELL_INT, .width = 8 },
	COUNTS,
	{ 0 }
};

static const struct tap_column list_columns[] = {
	{ "time_ns", "time s", TAP_CELL_AT, .width = 18 },
	TAP_PASS_WHO_COLUMNS("", "task", 28),
	{ "from_cpu", "from CPU", TAP_CELL_INT, .width = 8 },
	{ "to_cpu", "to CPU", TAP_CELL_INT, .width = 8 },
	{ "why", "why", TAP_CELL_TEXT, .width = 7 },
	{ "cpu", "by CPU", TAP_CELL_INT, .width = 6, .rank = 1 },
	{ 0 }
};

struct run {
	const struct migrations_opts *opts;
	struct tap_pass pass;
	struct tap_report report;
	struct tap_table list;
	struct tap_migrations sum;
};

static void put_counts(struct tap_table *t, uint64_t total, const uint64_t *by)
{
	tap_table_u64(t, total);
	for (int why = 0; why < TAP_NR_MIGRATE; why++)
		tap_table_u64(t, by[why]);
	tap_table_row(t);
}

static void put_one(struct run *r, const struct tap_migration *m)
{
	const char *why = tap_migration_why_name(m->why);

	tap_table_u64(&r->list, m->ts_ns);
	tap_pass_who(&r->pass, &r->list, m->task);
	tap_table_s64(&r->list, m->from);
	tap_table_s64(&r->list, m->to);
	tap_table_text(&r->list, why, strlen(why));
	tap_table_s64(&r->list, m->cpu);
	tap_table_row(&r->list);
}

static int on_migration(void *ctx, const struct tap_migration *m)
{
	struct run *r = ctx;

	if (!tap_pass_task(&r->pass, m->task) ||
	    (!tap_pass_cpu(&r->pass, m->from) && !tap_pass_cpu(&r->pass, m->to)))
		return 0;
	if (!r->opts->list)
		return tap_migrations_add(&r->sum, m);
	put_one(r, m);
	return r->report.err;
}

static unsigned int shown(const struct run *r, unsigned int nr)
{
	unsigned int top = tap_pass_top(&r->pass, r->opts->top, TOP_IN_TEXT);

	return nr < top ? nr : top;
}

static void print_tasks(struct run *r)
{
	unsigned int i, nr = shown(r, r->sum.nr_tasks);
	struct tap_table t;

	tap_table_begin(&t, &r->report, task_columns, "tasks");
	for (i = 0; i < nr; i++) {
		tap_pass_who(&r->pass, &t, r->sum.tasks[i].task);
		put_counts(&t, r->sum.tasks[i].total, r->sum.tasks[i].by);
	}
	tap_table_end(&t);
}

static void print_pairs(struct run *r)
{
	unsigned int i, nr = shown(r, r->sum.nr_pairs);
	struct tap_table t;

	tap_table_begin(&t, &r->report, pair_columns, "pairs");
	for (i = 0; i < nr; i++) {
		tap_table_s64(&t, r->sum.pairs[i].from);
		tap_table_s64(&t, r->sum.pairs[i].to);
		put_counts(&t, r->sum.pairs[i].total, r->sum.pairs[i].by);
	}
	tap_table_end(&t);
}

static void print_text(struct run *r)
{
	const struct tap_migrations *s = &r->sum;
	struct tap_buf *b = &r->report.buf;

	tap_buf_printf(b, "%" PRIu64 " migrations in %.6f s: %" PRIu64 " by a wakeup, %" PRIu64
		       " by balancing, %" PRIu64 " other\n",
		       s->total, (double)(r->pass.end_ns - r->pass.start_ns) / 1e9,
		       s->by[TAP_MIGRATE_WAKEUP], s->by[TAP_MIGRATE_BALANCE],
		       s->by[TAP_MIGRATE_OTHER]);
	tap_buf_printf(b, "\n%u of %u tasks that were moved\n", shown(r, s->nr_tasks), s->nr_tasks);
	print_tasks(r);
	tap_buf_printf(b, "\n%u of %u pairs of CPUs\n", shown(r, s->nr_pairs), s->nr_pairs);
	print_pairs(r);
}

static void print_json(struct run *r)
{
	tap_report_u64(&r->report, "total", r->sum.total);
	for (int why = 0; why < TAP_NR_MIGRATE; why++)
		tap_report_u64(&r->report, tap_migration_why_name(why), r->sum.by[why]);
	print_tasks(r);
	print_pairs(r);
}

static void print(struct run *r)
{
	tap_migrations_end(&r->sum);
	if (r->report.style == TAP_STYLE_TEXT)
		print_text(r);
	else if (r->report.style == TAP_STYLE_CSV)
		print_tasks(r);
	else
		print_json(r);
}

static int report(struct run *r, struct tap_err *err)
{
	static const struct tap_observer observer = { .migration = on_migration };
	int ret = tap_pass_check(&r->pass, err), closed;

	if (ret)
		return ret;
	if (r->pass.survey.buffer[TAP_SHAPE_MIGRATE] == TAP_NO_BUFFER)
		return tap_err_set(err, -ENODATA,
				   "the recording has no sched_migrate_task: either that event was "
				   "not recorded, or nothing was moved");
	tap_pass_begin(&r->pass, &r->report, tap_pass_style(&r->pass));
	if (r->opts->list) /* printed as it is read: it may be long */
		tap_table_stream(&r->list, &r->report, list_columns, "migrations");
	ret = tap_pass_run(&r->pass, &observer, NULL, r, err);
	if (r->opts->list)
		tap_table_end(&r->list);
	else if (!ret)
		print(r);
	closed = tap_report_close(&r->report);
	if (closed) {
		errno = -closed;
		return tap_err_set(err, closed, "cannot write the migrations: %m");
	}
	return ret;
}

static int run_migrations(void *opts, const struct tap_strings *operands, char **rest)
{
	struct run r = { .opts = opts };
	struct tap_err err = { 0 };
	bool usage;
	int ret;

	(void)operands;
	(void)rest;
	ret = tap_pass_open(&r.pass, &r.opts->pass, &usage, &err);
	if (!ret)
		ret = report(&r, &err);
	ret = tap_pass_finish(&r.pass, ret, &err, usage);
	tap_migrations_release(&r.sum);
	return ret;
}

const struct tap_cmd tap_cmd_migrations = {
	.name = "migrations",
	.help = "which tasks were moved between CPUs, and why",
	.operands = TAP_CMD_FILE,
	.example = "schedtap migrations -i demo/trace.dat -n 10",
	.opts = migrations_opts,
	.opts_size = sizeof(struct migrations_opts),
	.defaults = &(const struct migrations_opts){ .top = -1 },
	.run = run_migrations,
};
