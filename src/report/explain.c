// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap explain: what waits for a CPU were for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "explain/explain.h"
#include "explain/sources.h"
#include "report/report.h"

#define SHOWN_PIECES 5u /* of a wait, in its sentence */

enum by { BY_ALL, BY_KIND, BY_TASK, BY_CGROUP };

struct explain_opts {
	struct tap_report_opts common;
	const char *by;
	int64_t worst;
};

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_OPTION(struct explain_opts, by, "by", 0, "WHAT", TAP_OPT_STRING,
		   "one table: kind (of delay), task (that ran meanwhile) or cgroup (whose delayed whose)"),
	{ "worst", 0, "N", "explain the N longest waits [3; 10 with --json]", TAP_OPT_INT,
	  offsetof(struct explain_opts, worst), .min = 0, .max = 10000 },
	TAP_REPORT_TOP("N rows of each table [10"),
	{ 0 }
};

struct explain {
	struct tap_report report;
	struct tap_explain_waits waits;
	struct tap_explain sums;
	struct tap_explain_sources sources;
	struct tap_buf text;
};

static struct explain *explain_of(const struct tap_report *r)
{
	return (struct explain *)r;
}

static enum by by_of(const struct tap_report *r)
{
	const char *by = ((const struct explain_opts *)r->opts)->by;

	if (!by)
		return BY_ALL;
	return !strcmp(by, "kind") ? BY_KIND : !strcmp(by, "task") ? BY_TASK : BY_CGROUP;
}

/* ---- what is told ----------------------------------------------------------------------------- */

static int on_stretch(void *ctx, const struct tap_stretch *s)
{
	return tap_explain_waits_stretch(&explain_of(ctx)->waits, s);
}

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	return tap_explain_waits_cpu(&explain_of(ctx)->waits, s);
}

static int on_migration(void *ctx, const struct tap_migration *m)
{
	return tap_explain_waits_migration(&explain_of(ctx)->waits, m);
}

static int on_waits(void *ctx, struct tap_task *task, uint64_t ts_ns)
{
	(void)ts_ns;
	return tap_explain_waits_begin(&explain_of(ctx)->waits, task);
}

static int on_wait(void *ctx, const struct tap_wait_told *w)
{
	struct explain *e = ctx;

	if (!tap_run_task(&e->report.run, w->task) || !tap_run_cpu(&e->report.run, w->cpu))
		return 0;
	e->report.matched = true;
	return tap_explain_wait(&e->sums, &e->waits, w);
}

static bool wants(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return tap_explain_source_wants(fmt);
}

static int on_event(void *ctx, const struct tap_event *ev)
{
	struct explain *e = ctx;

	return tap_explain_sources_event(&e->sources, &e->waits, ev);
}

/* ---- the longest waits ------------------------------------------------------------------------ */

static void put_ms(struct tap_buf *b, uint64_t ns)
{
	tap_buf_printf(b, "%ju.%03u ms", (uintmax_t)(ns / 1000000), (unsigned int)(ns / 1000 % 1000));
}

static void put_label(struct tap_run *run, struct tap_buf *b, const struct tap_task *task)
{
	uint32_t len;
	const char *label = tap_run_label(run, task, &len);

	tap_buf_add(b, label, len);
}

/* What a piece was, behind its length: "cc1 [12] ran". */
static void put_kind(struct tap_run *run, struct tap_buf *b, const struct tap_piece *p)
{
	static const char *const texts[TAP_NR_PIECE_KINDS] = {
		[TAP_PIECE_UNKNOWN] = "unknown",
		[TAP_PIECE_THROTTLED] = "its quota or budget was used up",
		[TAP_PIECE_PLACING] = "it was being woken up",
		[TAP_PIECE_OFFLINE] = "its CPU was offline",
		[TAP_PIECE_IRQ] = "in interrupts",
		[TAP_PIECE_SOFTIRQ] = "in softirqs",
		[TAP_PIECE_IDLE_STATE] = "its CPU was still in an idle state",
		[TAP_PIECE_IDLE_EXIT] = "its CPU was leaving idle",
		[TAP_PIECE_IDLE] = "its CPU was idle",
		[TAP_PIECE_STOP] = " ran, a stopper",
		[TAP_PIECE_DEADLINE] = " ran, a deadline task",
		[TAP_PIECE_REALTIME] = " ran, a real-time task",
		[TAP_PIECE_HIGHER] = " ran, of a higher priority",
		[TAP_PIECE_RESCHED] = " ran, asked to give way",
		[TAP_PIECE_GROUP] = " ran, of another group",
		[TAP_PIECE_INELIGIBLE] = " ran, not eligible yet itself",
		[TAP_PIECE_PROTECTED] = " ran, within its protected slice",
		[TAP_PIECE_EARLIER] = " ran: its deadline was earlier",
		[TAP_PIECE_OVERRUN] = " ran on beyond its slice",
		[TAP_PIECE_QUEUED] = " ran",
		[TAP_PIECE_LOWER] = " ran, yet to be preempted",
	};

	if (p->task)
		put_label(run, b, p->task);
	tap_buf_puts(b, texts[p->kind]);
}

static int longest_first(const void *a, const void *b)
{
	const struct tap_piece *x = *(const struct tap_piece *const *)a, *y = *(const struct tap_piece *const *)b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void put_pieces(struct tap_run *run, struct tap_buf *b, const struct tap_explained_wait *w)
{
	const struct tap_piece **pieces = malloc((w->nr_pieces + 1) * sizeof(struct tap_piece *));
	unsigned int shown = w->nr_pieces > SHOWN_PIECES + 1 ? SHOWN_PIECES : w->nr_pieces;
	uint64_t rest_ns = 0;

	if (!pieces)
		return;
	for (unsigned int i = 0; i < w->nr_pieces; i++)
		pieces[i] = &w->pieces[i];
	qsort(pieces, w->nr_pieces, sizeof(struct tap_piece *), longest_first);
	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		if (i >= shown) {
			rest_ns += pieces[i]->ns;
			continue;
		}
		tap_buf_puts(b, i ? ", " : ": ");
		put_ms(b, pieces[i]->ns);
		tap_buf_puts(b, " ");
		put_kind(run, b, pieces[i]);
	}
	if (shown < w->nr_pieces) {
		tap_buf_puts(b, ", ");
		put_ms(b, rest_ns);
		tap_buf_printf(b, " %u others", w->nr_pieces - shown);
	}
	free(pieces);
}

/* ". CPU 1 could have run it, idle for 0.500 ms" */
static void put_avoidable(struct tap_buf *b, const struct tap_explained_wait *w)
{
	struct tap_buf cpus = { 0 };

	if (!w->avoidable_ns)
		return;
	tap_cpus_text(&w->idle, &cpus);
	tap_buf_printf(b, ". CPU %s could have run it, idle for ", tap_buf_str(&cpus));
	put_ms(b, w->avoidable_ns);
	tap_buf_release(&cpus);
}

/* "nginx [812] waited 35.500 ms until 12.345678901 on CPU 0, preempted: 14.200 ms cc1plus [4410] ran, ...: contention." */
static void put_sentence(struct explain *e, const struct tap_explained_wait *w)
{
	struct tap_run *run = &e->report.run;
	struct tap_buf *b = &e->text;

	tap_buf_clear(b);
	put_label(run, b, w->task);
	tap_buf_puts(b, w->whole ? " waited " : " waited at most ");
	put_ms(b, w->to_ns - w->from_ns);
	tap_buf_puts(b, " until ");
	tap_wall_add(&run->rec.wall, b, w->to_ns);
	tap_buf_printf(b, " on CPU %d, %s", w->cpu, tap_state_name(w->state));
	put_pieces(run, b, w);
	put_avoidable(b, w);
	tap_buf_printf(b, ". Verdict: %s.", tap_verdict_name(w->verdict));
	tap_page_sentence(&e->report.page, b->data, b->len);
}

static void put_sentences(struct tap_report *r, struct tap_table *t)
{
	struct explain *e = explain_of(r);

	(void)t;
	for (unsigned int i = 0; i < e->sums.nr_worst; i++)
		put_sentence(e, &e->sums.worst[i]);
}

static void put_piece_members(struct tap_report *r, const struct tap_piece *piece)
{
	struct tap_page *p = &r->page;

	tap_page_object(p, NULL);
	tap_page_puts(p, "kind", tap_piece_name(piece->kind));
	tap_page_u64(p, "ns", piece->ns);
	tap_page_at(p, "from_ns", piece->from_ns);
	if (piece->task) {
		tap_task_members(p, piece->task);
		tap_page_puts(p, "cgroup", tap_cgroups_path(&r->run.rec.ids.cgroups, piece->task->cgroup));
	}
	tap_page_object_end(p);
}

static const struct tap_column wait_columns[] = {
	TAP_TASK_COLUMNS("", "task", 26),
	{ "cpu", NULL, TAP_CELL_INT },
	{ "state", NULL, TAP_CELL_TEXT },
	{ "from_ns", NULL, TAP_CELL_AT },
	{ "to_ns", NULL, TAP_CELL_AT },
	{ "wait_ns", NULL, TAP_CELL_NS },
	{ "verdict", NULL, TAP_CELL_TEXT },
	{ "avoidable_ns", NULL, TAP_CELL_NS },
	{ 0 }
};

static void put_wait(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_explained_wait *w = &explain_of(r)->sums.worst[i];

	tap_task_cells(&r->run, t, w->task);
	tap_table_s64(t, w->cpu);
	tap_table_puts(t, tap_state_name(w->state));
	tap_table_u64(t, w->from_ns);
	tap_table_u64(t, w->to_ns);
	tap_table_u64(t, w->to_ns - w->from_ns);
	tap_table_puts(t, tap_verdict_name(w->verdict));
	tap_table_u64(t, w->avoidable_ns);
	tap_page_cpus(&r->page, "idle_cpus", &w->idle);
	tap_page_bool(&r->page, "whole", w->whole);
	tap_page_array(&r->page, "pieces");
	for (unsigned int k = 0; k < w->nr_pieces; k++)
		put_piece_members(r, &w->pieces[k]);
	tap_page_array_end(&r->page);
}

static unsigned int nr_worst(const struct tap_report *r)
{
	return explain_of(r)->sums.nr_worst;
}

/* ---- tables ----------------------------------------------------------------------------------- */

#define SUM_COLUMNS                                                                                \
	{ "waits", "waits", TAP_CELL_COUNT, .width = 8 },                                          \
		{ "delay_ns", "delay", TAP_CELL_NS, .width = 10 },                                       \
		{ "delay_pct", "%", TAP_CELL_REAL, .width = 5, .places = 1 },                            \
		{ "max_ns", "most", TAP_CELL_NS, .width = 10, .same_unit = true }

static void put_sum(struct tap_report *r, struct tap_table *t, const struct tap_explained_sum *sum)
{
	tap_table_u64(t, sum->waits);
	tap_table_u64(t, sum->ns);
	tap_table_real(t, tap_pct(sum->ns, explain_of(r)->sums.all.ns));
	tap_table_u64(t, sum->max_ns);
}

static const struct tap_column all_columns[] = { SUM_COLUMNS, { 0 } };

static void put_all(struct tap_report *r, struct tap_table *t)
{
	put_sum(r, t, &explain_of(r)->sums.all);
	tap_table_row(t);
}

static const struct tap_column kind_columns[] = {
	{ "kind", "delayed by", TAP_CELL_TEXT, .width = 28 },
	SUM_COLUMNS,
	{ 0 }
};

static void put_kinds(struct tap_report *r, struct tap_table *t)
{
	const struct tap_explain *sums = &explain_of(r)->sums;

	for (enum tap_piece_kind k = 0; k < TAP_NR_PIECE_KINDS; k++) {
		if (!sums->kinds[k].waits)
			continue;
		tap_table_puts(t, tap_piece_name(k));
		put_sum(r, t, &sums->kinds[k]);
		tap_table_row(t);
	}
}

static const struct tap_column task_columns[] = {
	TAP_TASK_COLUMNS("", "delayed by", 28),
	SUM_COLUMNS,
	{ 0 }
};

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	tap_task_cells(&r->run, t, r->tasks[i]);
	put_sum(r, t, &explain_of(r)->sums.runners[r->tasks[i]->index]);
}

static const struct tap_column cgroup_columns[] = {
	{ "victim", "delayed", TAP_CELL_TEXT, .width = 28 },
	{ "aggressor", "by", TAP_CELL_TEXT, .width = 28 },
	SUM_COLUMNS,
	{ 0 }
};

static void put_cgroups(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_explained_pair *pair = &explain_of(r)->sums.pairs[i];
	const struct tap_cgroups *cgroups = &r->run.rec.ids.cgroups;

	tap_table_puts(t, tap_cgroups_path(cgroups, pair->victim));
	tap_table_puts(t, tap_cgroups_path(cgroups, pair->aggressor));
	put_sum(r, t, &pair->sum);
}

static unsigned int nr_pairs(const struct tap_report *r)
{
	return explain_of(r)->sums.nr_pairs;
}

/* ---- the report ------------------------------------------------------------------------------- */

static bool with_waits(const struct tap_report *r)
{
	return by_of(r) == BY_ALL && explain_of(r)->sums.nr_worst;
}

static bool with_kinds(const struct tap_report *r)
{
	return by_of(r) <= BY_KIND;
}

static bool with_tasks(const struct tap_report *r)
{
	return by_of(r) == BY_TASK || (by_of(r) == BY_ALL && tap_report_audience(r) != TAP_FOR_SHEETS);
}

static bool with_cgroups(const struct tap_report *r)
{
	return by_of(r) == BY_CGROUP || (by_of(r) == BY_ALL && tap_report_audience(r) == TAP_FOR_PROGRAMS);
}

static int check(const void *opts, struct tap_err *err)
{
	const char *by = ((const struct explain_opts *)opts)->by;

	if (by && strcmp(by, "kind") && strcmp(by, "task") && strcmp(by, "cgroup"))
		return tap_err_set(err, -EINVAL, "--by is kind, task or cgroup, not '%.100s'", by);
	return 0;
}

static bool has_event(const struct tap_run *run, const char *name)
{
	for (unsigned int i = 0; i < run->survey.nr_kinds; i++)
		if (!strcmp(run->survey.kinds[i].fmt->name, name))
			return true;
	return false;
}

static int begin(struct tap_report *r, struct tap_err *err)
{
	static const struct tap_observer observer = {
		.states = TAP_EXPLAIN_STATES, .lost_states = TAP_EXPLAIN_STATES, .stretch = on_stretch, .cpu = on_cpu,
		.migration = on_migration, .waits = on_waits,
	};
	static const struct tap_run_events events = { .wants = wants, .event = on_event };
	const struct explain_opts *o = (const struct explain_opts *)r->opts;
	struct explain *e = explain_of(r);
	int64_t worst = o->worst >= 0 ? o->worst : tap_report_audience(r) == TAP_FOR_PROGRAMS ? 10 : 3;

	if (by_of(r) != BY_ALL && tap_report_audience(r) != TAP_FOR_PROGRAMS)
		worst = 0; /* none is shown */

	r->observer = &observer;
	r->events = &events;
	r->run.mark_throttling = true;
	tap_explain_waits_init(&e->waits, &(const struct tap_explain_waits_opts){
		.timeline = &r->run.timeline, .has_placing = has_event(&r->run, "sched_wakeup"),
		.asks_avoidable = worst, .tell = on_wait, .ctx = e,
	});
	if (tap_explain_init(&e->sums, (unsigned int)worst))
		return tap_err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int by_delay(const void *a, const void *b, void *ctx)
{
	const struct tap_task *x = *(struct tap_task *const *)a, *y = *(struct tap_task *const *)b;
	const struct tap_explained_sum *sums = ctx;

	if (sums[x->index].ns != sums[y->index].ns)
		return sums[x->index].ns > sums[y->index].ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* .tasks: those that ran while others waited. */
static int end(struct tap_report *r, struct tap_err *err)
{
	struct tap_explain *sums = &explain_of(r)->sums;
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr);

	tap_explain_end(sums);
	r->tasks = calloc(sums->nr_runners + 1, sizeof(struct tap_task *));
	if (!r->tasks)
		return tap_err_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < nr && i < sums->nr_runners; i++)
		if (sums->runners[i].waits)
			r->tasks[r->nr_tasks++] = tasks[i];
	qsort_r(r->tasks, r->nr_tasks, sizeof(struct tap_task *), by_delay, sums->runners);
	return 0;
}

static void release(struct tap_report *r)
{
	struct explain *e = explain_of(r);

	tap_explain_waits_release(&e->waits);
	tap_explain_release(&e->sums);
	tap_buf_release(&e->text);
	tap_explain_sources_release(&e->sources);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PROGRAMS, .key = "all", .columns = all_columns, .put = put_all, .is_object = true },
	{ TAP_FOR_PEOPLE, with_waits, .put = put_sentences },
	{ TAP_FOR_PROGRAMS, .key = "waits", .columns = wait_columns, .row = put_wait, .nr = nr_worst },
	{ TAP_FOR_ALL, with_kinds, .before = "\n", .key = "kinds", .columns = kind_columns, .put = put_kinds },
	{ TAP_FOR_ALL, with_tasks, .before = "\n", .key = "tasks", .columns = task_columns, .row = put_task,
	  .nr = tap_report_nr_tasks, .noun = "task" },
	{ TAP_FOR_ALL, with_cgroups, .before = "\n", .key = "cgroups", .columns = cgroup_columns, .row = put_cgroups,
	  .nr = nr_pairs, .noun = "pair" },
	TAP_NOTE_THROTTLING,
	{ 0 }
};

const struct tap_report_type tap_report_explain = {
	.cmd = {
		.name = "explain",
		.help = "why tasks waited for a CPU: pieces that add up to each wait",
		.operands = TAP_CMD_FILE,
		.example = "schedtap explain -i demo/trace.dat",
		.opts = options,
		.opts_size = sizeof(struct explain_opts),
		.defaults = &(const struct explain_opts){ .common.top = -1, .worst = -1 },
	},
	.size = sizeof(struct explain),
	.top = 10,
	.needs = TAP_NEEDS_SWITCHES,
	.sections = sections,
	.check = check,
	.begin = begin,
	.end = end,
	.release = release,
};
