// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap migrations: which tasks moved between CPUs, how often, and why. */
#include <inttypes.h>

#include "analysis/migrations.h"
#include "show/report/report.h"

struct migrations_opts {
	struct tap_report_opts common;
	bool list;
};

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_REPORT_TOP("the N tasks and N pairs of CPUs with the most migrations [20"),
	TAP_OPTION(struct migrations_opts, list, "list", 0, NULL, TAP_OPT_FLAG,
		   "print every migration in time order, one per line"),
	{ 0 }
};

/* clang-format off */
#define COUNTS                                                                                     \
	{ "total", "total", TAP_CELL_COUNT, .width = 10 },                                         \
	{ "wakeup", "wakeup", TAP_CELL_COUNT, .width = 10 },                                       \
	{ "balance", "balance", TAP_CELL_COUNT, .width = 10 },                                     \
	{ "other", "other", TAP_CELL_COUNT, .width = 10 }
/* clang-format on */

static const struct tap_column task_columns[] = { TAP_TASK_COLUMNS("", "task", 28), COUNTS, { 0 } };

static const struct tap_column pair_columns[] = { { "from_cpu", "from CPU", TAP_CELL_INT,
						    .width = 8 },
						  { "to_cpu", "to CPU", TAP_CELL_INT, .width = 8 },
						  COUNTS,
						  { 0 } };

static const struct tap_column list_columns[] = {
	{ "time_ns", "time s", TAP_CELL_AT, .width = 18 },
	TAP_TASK_COLUMNS("", "task", 28),
	{ "from_cpu", "from CPU", TAP_CELL_INT, .width = 8 },
	{ "to_cpu", "to CPU", TAP_CELL_INT, .width = 8 },
	{ "why", "why", TAP_CELL_TEXT, .width = 7 },
	{ "cpu", "by CPU", TAP_CELL_INT, .width = 6, .rank = 1 },
	{ 0 }
};

struct migrations {
	struct tap_report report;
	struct tap_migrations sum;
};

static bool is_list(const struct tap_report *r)
{
	return ((const struct migrations_opts *)r->opts)->list;
}

static bool has_events(const struct tap_report *r)
{
	return r->run.survey.buffer[TAP_SCHED_MIGRATE] != TAP_NO_BUFFER;
}

static void put_one(struct tap_report *r, const struct tap_migration *m)
{
	struct tap_table *t = &r->rows;

	tap_table_u64(t, m->ts_ns);
	tap_task_cells(&r->run, t, m->task);
	tap_table_s64(t, m->from);
	tap_table_s64(t, m->to);
	tap_table_puts(t, tap_migration_why_name(m->why));
	tap_table_s64(t, m->cpu);
	tap_table_row(t);
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	struct tap_report *r = ctx;

	(void)t;
	put_one(r, m);
	return r->page.err;
}

static const struct tap_watcher_ops list_ops = { .moves = true, .migration = on_migration };

/* With --list, print rows while the recording is read: the list may be long. */
static int begin_migrations(struct tap_report *r, struct tap_err *err)
{
	const bool lists = is_list(r);
	const struct tap_promise *promise = r->run.survey.promise;
	/* without them, switches show the moves, unless those of some CPUs are missing */
	int ret = has_events(r) || (promise && (promise->cpus || promise->lacks_migrations))
			  ? tap_run_check_needs(&r->run, TAP_NEEDS_MIGRATIONS, err)
			  : 0;

	if (ret)
		return ret;
	if (!has_events(r))
		tap_recording_note(&r->run.rec,
				   "'%.300s' has no sched_migrate_task: migrations are "
				   "inferred from switches, at the time when the task runs again",
				   r->run.rec.path);
	tap_report_watch(r, lists ? &list_ops : &tap_moves_ops,
			 lists ? (void *)r : &((struct migrations *)r)->sum,
			 TAP_PICK_TASKS | TAP_PICK_CPUS);
	if (lists) {
		tap_report_open_rows(r, list_columns, "migrations");
		r->sections = NULL;
	}
	return 0;
}

static int end_migrations(struct tap_report *r, struct tap_err *err)
{
	(void)err;
	tap_migrations_end(&((struct migrations *)r)->sum);
	return 0;
}

/* ---- summary ---- */

static const struct tap_migrations *sum_of(const struct tap_report *r)
{
	return &((const struct migrations *)r)->sum;
}

static void put_total(struct tap_report *r, struct tap_table *t)
{
	const struct tap_migrations *s = sum_of(r);

	tap_buf_printf(&t->page->buf,
		       "%" PRIu64 " migrations in %.6f s: %" PRIu64 " by a wakeup, %" PRIu64
		       " by balancing, %" PRIu64 " other\n",
		       s->total, (double)tap_window_ns(&r->run.window) / 1e9,
		       s->by[TAP_MIGRATE_WAKEUP], s->by[TAP_MIGRATE_BALANCE],
		       s->by[TAP_MIGRATE_OTHER]);
}

static void put_total_members(struct tap_report *r, struct tap_table *t)
{
	const struct tap_migrations *s = sum_of(r);

	tap_page_bool(t->page, "migrations_recorded", has_events(r));
	tap_page_u64(t->page, "total", s->total);
	for (int why = 0; why < TAP_NR_MIGRATE; why++)
		tap_page_u64(t->page, tap_migration_why_name(why), s->by[why]);
}

static void put_counts(struct tap_table *t, uint64_t total, const uint64_t *by)
{
	tap_table_u64(t, total);
	for (int why = 0; why < TAP_NR_MIGRATE; why++)
		tap_table_u64(t, by[why]);
}

static unsigned int nr_tasks(const struct tap_report *r)
{
	return tap_report_shown(r, sum_of(r)->nr_tasks);
}

static unsigned int nr_pairs(const struct tap_report *r)
{
	return tap_report_shown(r, sum_of(r)->nr_pairs);
}

static void put_nr_tasks(struct tap_report *r, struct tap_table *t)
{
	tap_buf_printf(&t->page->buf, "\n%u of %u tasks that were moved\n", nr_tasks(r),
		       sum_of(r)->nr_tasks);
}

static void put_nr_pairs(struct tap_report *r, struct tap_table *t)
{
	tap_buf_printf(&t->page->buf, "\n%u of %u pairs of CPUs\n", nr_pairs(r),
		       sum_of(r)->nr_pairs);
}

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	tap_task_cells(&r->run, t, sum_of(r)->tasks[i].task);
	put_counts(t, sum_of(r)->tasks[i].total, sum_of(r)->tasks[i].by);
}

static void put_pair(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	tap_table_s64(t, sum_of(r)->pairs[i].from);
	tap_table_s64(t, sum_of(r)->pairs[i].to);
	put_counts(t, sum_of(r)->pairs[i].total, sum_of(r)->pairs[i].by);
}

static void release_migrations(struct tap_report *r)
{
	tap_migrations_release(&((struct migrations *)r)->sum);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PEOPLE, .put = put_total },
	{ TAP_FOR_PROGRAMS, .put = put_total_members },
	{ TAP_FOR_PEOPLE, .put = put_nr_tasks },
	{ TAP_FOR_ALL, .key = "tasks", .columns = task_columns, .row = put_task, .nr = nr_tasks },
	{ TAP_FOR_PEOPLE, .put = put_nr_pairs },
	{ TAP_FOR_PEOPLE | TAP_FOR_PROGRAMS, .key = "pairs", .columns = pair_columns,
	  .row = put_pair, .nr = nr_pairs },
	{ 0 }
};

const struct tap_report_type tap_report_migrations = {
	.cmd = {
		.name = "migrations",
		.help = "tasks moved between CPUs, and why",
		.operands = TAP_CMD_FILE,
		.example = "schedtap migrations -n 10",
		.opts = options,
		.opts_size = sizeof(struct migrations_opts),
		.defaults = &(const struct migrations_opts){ .common.top = -1 },
	},
	.size = sizeof(struct migrations),
	.top = 20,
	.needs = TAP_NEEDS_SWITCHES,
	.sections = sections,
	.begin = begin_migrations,
	.end = end_migrations,
	.release = release_migrations,
};
