// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap explain: split waits for a CPU into their causes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "analysis/explain/delayers.h"
#include "analysis/explain/sleeps.h"
#include "show/report/cgroup_cells.h"
#include "show/report/explain_at.h"
#include "show/report/report.h"
#include "show/report/stack_cells.h"

#define MAX_AT_ONCE 10000u /* maximum number of waits that --at groups */
#define SHOWN_SLEEPS 3u /* number of sleeps described in sentences */

enum by { BY_ALL, BY_KIND, BY_TASK, BY_PROCESS, BY_COMM, BY_CGROUP };

struct explain_opts {
	struct tap_report_opts common;
	const char *by, *at, *state;
	int64_t worst, depth;
};

static const char *const bys[] = { "kind", "task", "process", "comm", "cgroup", NULL };

static const struct tap_opt options[] = {
	TAP_REPORT_OPTIONS,
	TAP_OPTION(struct explain_opts, by, "by", 0, "WHAT", TAP_OPT_STRING,
		   "print one table of delays: by kind; by task, process or comm (name) that ran "
		   "meanwhile; or by cgroup (victim and culprit)"),
	TAP_OPTION(struct explain_opts, at, "at", 0, "TIME", TAP_OPT_STRING,
		   "explain what tasks waited for at this time, written as in --time"),
	TAP_OPTION(
		struct explain_opts, state, "state", 0, "STATE", TAP_OPT_STRING,
		"only waits of this kind: waking (after a wakeup), preempted or throttled [any]"),
	{ "worst", 0, "N", "explain the N longest waits [3; 10 with --json]", TAP_OPT_INT,
	  offsetof(struct explain_opts, worst), .min = 0, .max = 10000 },
	TAP_OPT_DEPTH(struct explain_opts),
	TAP_REPORT_TOP("N rows of each table [10"),
	{ 0 }
};

struct explain {
	struct tap_report report;
	struct tap_explain_waits waits;
	struct tap_explain sums;
	struct tap_delayers delayers; /* for --by process and --by comm */
	bool has_delayers; /* .delayers is used */
	struct tap_buf text;
	uint64_t at_ns; /* the time of --at */
	bool groups_waits; /* print the waits at .at_ns in groups, for people */
	struct tap_explained_apart *apart; /* owned; tasks that did not wait at .at_ns */
	unsigned int nr_apart, cap_apart;
	bool asks_sleeps; /* describe the selected tasks' sleeps, too */
	struct tap_sleeps sleeps;
	struct tap_cgroup_groups cgroups;
};

static struct explain *explain_of(const struct tap_report *r)
{
	return (struct explain *)r;
}

static const struct explain_opts *opts_of(const struct tap_report *r)
{
	return (const struct explain_opts *)r->opts;
}

static enum by by_of(const struct tap_report *r)
{
	const char *by = opts_of(r)->by;
	enum by b = BY_KIND;

	if (!by)
		return BY_ALL;
	while (strcmp(by, bys[b - BY_KIND]))
		b++;
	return b;
}

/* Return true if delays are summed up by process or name. */
static bool with_delayers(const struct tap_report *r)
{
	return by_of(r) == BY_PROCESS || by_of(r) == BY_COMM;
}

/* ---- callbacks ---- */

/* --at: store what a selected task did at that time, unless it waited. */
static int keep_apart(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct explain *e = ctx;

	(void)t;
	if (e->at_ns < s->from_ns || e->at_ns >= s->to_ns || tap_state_is_wait(s->state) ||
	    s->state == TAP_STATE_THROTTLED)
		return 0;
	if (tap_array_grow(&e->apart, e->nr_apart, &e->cap_apart, sizeof(*e->apart)))
		return -ENOMEM;
	e->apart[e->nr_apart++] =
		(struct tap_explained_apart){ s->task, s->state, s->from_ns, s->to_ns,
					      tap_sleep_stack(e->report.stacks, s) };
	e->report.matched = true;
	return 0;
}

static const struct tap_watcher_ops apart_ops = { .states = TAP_STATE_ALL, .interval = keep_apart };

static int on_wait(void *ctx, const struct tap_wait_told *w)
{
	struct explain *e = ctx;
	const struct explain_opts *o = opts_of(&e->report);

	if (!w->task->selected || !tap_run_cpu(&e->report.run, w->cpu) ||
	    (o->state && strcmp(o->state, tap_state_name(w->state))) ||
	    (o->at && (e->at_ns < w->from_ns || e->at_ns >= w->to_ns)))
		return 0;
	e->report.matched = true;
	return tap_explain_wait(&e->sums, &e->waits, w)
		       ?: (e->has_delayers ? tap_delayers_wait(&e->delayers, w) : 0);
}

/* ---- at one instant ---- */

static void put_text(struct explain *e)
{
	if (e->text.len)
		tap_page_sentence(&e->report.page, e->text.data, e->text.len);
	tap_buf_clear(&e->text);
}

static void put_waits_group(struct explain *e, const struct tap_explain_group *g)
{
	const struct tap_explained_wait *longest = &e->sums.worst[g->longest];

	if (g->nr > 1)
		tap_explain_waits_words(&e->report.run, longest, g->nr, e->at_ns, &e->text);
	tap_explain_wait_words(&e->report.run, longest, &e->text);
	put_text(e);
}

static void put_apart_group(struct explain *e, const struct tap_explain_group *g)
{
	tap_explain_apart_words(&e->report.run, &e->apart[g->longest], g->nr, e->at_ns,
				e->report.stacks, &e->text);
	put_text(e);
}

/* Print the groups of tasks at .at_ns, waits first, at most as many as -n allows. */
static void put_groups(struct tap_report *r, struct tap_table *t)
{
	struct explain *e = explain_of(r);
	struct tap_explain_groups waits = { 0 }, apart = { 0 };
	int ret = (e->groups_waits ? tap_explain_group_waits(&waits, &e->sums) : 0)
			  ?: tap_explain_group_apart(&apart, e->apart, e->nr_apart);
	unsigned int nr = waits.nr + apart.nr, shown = tap_report_shown(r, nr);

	(void)t;
	for (unsigned int i = 0; i < shown && i < waits.nr; i++)
		put_waits_group(e, &waits.v[i]);
	for (unsigned int i = waits.nr; i < shown; i++)
		put_apart_group(e, &apart.v[i - waits.nr]);
	if (nr > shown)
		tap_buf_printf(&r->page.buf, "%u more group%s (-n, --json)\n", nr - shown,
			       nr - shown == 1 ? "" : "s");
	r->page.buf.err = r->page.buf.err ?: ret;
	tap_explain_groups_release(&waits);
	tap_explain_groups_release(&apart);
}

/* ---- the longest waits ---- */

static void put_sentences(struct tap_report *r, struct tap_table *t)
{
	static const char no_wait[] = "No task waited for a CPU.";
	struct explain *e = explain_of(r);
	const struct tap_sleep *sleeps = e->sleeps.sums.v;

	(void)t;
	if (!r->run.all_tasks && !opts_of(r)->at) {
		tap_explain_share_words(&r->run, &e->text);
		put_text(e);
	}
	for (unsigned int i = 0; !e->groups_waits && i < e->sums.nr_worst; i++) {
		tap_explain_wait_words(&r->run, &e->sums.worst[i], &e->text);
		put_text(e);
	}
	for (unsigned int i = 0; i < e->sleeps.sums.nr && i < SHOWN_SLEEPS; i++) {
		tap_explain_sleep_words(&r->run, &sleeps[i], r->stacks, &e->text);
		put_text(e);
	}
	if (!e->sums.all.waits && !e->nr_apart && r->run.all_tasks)
		tap_page_sentence(&r->page, no_wait, strlen(no_wait));
}

static void put_next(struct tap_report *r, struct tap_table *t)
{
	(void)t;
	tap_explain_next_words(&r->run, &explain_of(r)->sums, &opts_of(r)->common.input.input,
			       &r->page.buf);
}

static const struct tap_column wait_columns[] = {
	TAP_TASK_COLUMNS("", "task", 26),   { "cpu", NULL, TAP_CELL_INT },
	{ "state", NULL, TAP_CELL_TEXT },   { "from_ns", NULL, TAP_CELL_AT },
	{ "to_ns", NULL, TAP_CELL_AT },	    { "wait_ns", NULL, TAP_CELL_NS },
	{ "verdict", NULL, TAP_CELL_TEXT }, { "avoidable_ns", NULL, TAP_CELL_NS },
	{ "barred_ns", NULL, TAP_CELL_NS }, { 0 }
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
	tap_table_u64(t, w->idle.ns);
	tap_table_u64(t, w->idle.barred_ns);
	tap_page_cpus(&r->page, "idle_cpus", &w->idle.cpus);
	tap_page_cpus(&r->page, "barred_cpus", &w->idle.barred);
	tap_page_bool(&r->page, "whole", w->whole);
	tap_page_array(&r->page, "pieces");
	for (unsigned int k = 0; k < w->nr_pieces; k++)
		tap_explain_piece_members(&r->run, &w->pieces[k], &r->page);
	tap_page_array_end(&r->page);
}

static const struct tap_column apart_columns[] = { TAP_TASK_COLUMNS("", "task", 26),
						   { "state", NULL, TAP_CELL_TEXT },
						   { "from_ns", NULL, TAP_CELL_AT },
						   { "to_ns", NULL, TAP_CELL_AT },
						   { 0 } };

static void put_apart(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_explained_apart *a = &explain_of(r)->apart[i];

	tap_task_cells(&r->run, t, a->task);
	tap_table_puts(t, tap_state_name(a->state));
	tap_table_u64(t, a->from_ns);
	tap_table_u64(t, a->to_ns);
	tap_stack_members(&r->page, r->stacks, a->stack);
}

static const struct tap_column sleep_columns[] = { TAP_TASK_COLUMNS("", "task", 26),
						   { "state", NULL, TAP_CELL_TEXT },
						   { "sleeps", NULL, TAP_CELL_COUNT },
						   { "sleep_ns", NULL, TAP_CELL_NS },
						   { "max_ns", NULL, TAP_CELL_NS },
						   { "max_from_ns", NULL, TAP_CELL_AT },
						   { 0 } };

static void put_sleep(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_sleep *sleeps = explain_of(r)->sleeps.sums.v, *s = &sleeps[i];

	tap_task_cells(&r->run, t, s->task);
	tap_table_puts(t, tap_state_name(s->key.state));
	tap_table_u64(t, s->sleeps);
	tap_table_u64(t, s->ns);
	tap_table_u64(t, s->max_ns);
	tap_table_u64(t, s->max_from_ns);
	tap_stack_members(&r->page, r->stacks, s->key.stack);
}

static unsigned int nr_sleeps(const struct tap_report *r)
{
	return explain_of(r)->sleeps.sums.nr;
}

static unsigned int nr_apart(const struct tap_report *r)
{
	return explain_of(r)->nr_apart;
}

static unsigned int nr_worst(const struct tap_report *r)
{
	return explain_of(r)->sums.nr_worst;
}

/* ---- tables ---- */

/* clang-format off */
#define SUM_COLUMNS                                                                                \
	{ "waits", "waits", TAP_CELL_COUNT, .width = 8 },                                          \
	{ "delay_ns", "delay", TAP_CELL_NS, .width = 10 },                                         \
	{ "delay_pct", "%", TAP_CELL_REAL, .width = 5, .places = 1 },                              \
	{ "max_ns", "most", TAP_CELL_NS, .width = 10, .same_unit = true }
/* clang-format on */

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
	{ "kind", "delayed by", TAP_CELL_TEXT, .width = 28 }, SUM_COLUMNS, { 0 }
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

static const struct tap_column task_columns[] = { TAP_TASK_COLUMNS("", "delayed by", 28),
						  SUM_COLUMNS,
						  { 0 } };

static void put_task(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	tap_task_cells(&r->run, t, r->tasks[i]);
	put_sum(r, t, &explain_of(r)->sums.runners[r->tasks[i]->index]);
}

static const struct tap_column process_columns[] = {
	{ NULL, "delayed by", TAP_CELL_LABEL, .width = 28 },
	{ "tgid", NULL, TAP_CELL_INT },
	{ "comm", NULL, TAP_CELL_TEXT },
	{ "threads", "threads", TAP_CELL_COUNT, .width = 8 },
	SUM_COLUMNS,
	{ 0 }
};

static const struct tap_column comm_columns[] = { { "comm", "delayed by", TAP_CELL_TEXT,
						    .width = 28 },
						  { "tasks", "tasks", TAP_CELL_COUNT, .width = 8 },
						  SUM_COLUMNS,
						  { 0 } };

static void put_process(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_delayer *d = &explain_of(r)->delayers.v[i];
	const struct tap_task *leader =
		tap_timeline_task(r->run.timeline, tap_task_tgid(d->task)) ?: d->task;

	tap_label_cell(&r->run, t, leader);
	tap_table_id(t, tap_task_tgid(d->task));
	tap_table_text(t, leader->comm, strnlen(leader->comm, sizeof(leader->comm)));
	tap_table_u64(t, d->nr_tasks);
	put_sum(r, t, &d->sum);
}

static void put_comm(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_delayer *d = &explain_of(r)->delayers.v[i];

	tap_table_text(t, d->comm, strnlen(d->comm, sizeof(d->comm)));
	tap_table_u64(t, d->nr_tasks);
	put_sum(r, t, &d->sum);
}

static unsigned int nr_delayers(const struct tap_report *r)
{
	return explain_of(r)->delayers.nr;
}

static const struct tap_column cgroup_columns[] = {
	{ "victim", "delayed", TAP_CELL_TEXT, .width = TAP_CGROUP_WIDTH },
	{ "aggressor", "by", TAP_CELL_TEXT, .width = TAP_CGROUP_WIDTH },
	SUM_COLUMNS,
	{ 0 }
};

static void put_cgroups(struct tap_report *r, struct tap_table *t, unsigned int i)
{
	const struct tap_explained_pair *pair = &explain_of(r)->sums.pairs[i];

	tap_cgroup_cell(&explain_of(r)->cgroups, t, pair->victim);
	tap_cgroup_cell(&explain_of(r)->cgroups, t, pair->aggressor);
	put_sum(r, t, &pair->sum);
}

static void put_common_cgroup(struct tap_report *r, struct tap_table *t)
{
	tap_cgroup_common_sentence(&explain_of(r)->cgroups, t->page);
}

static unsigned int nr_pairs(const struct tap_report *r)
{
	return explain_of(r)->sums.nr_pairs;
}

/* ---- the report ---- */

static bool with_waits(const struct tap_report *r)
{
	return by_of(r) == BY_ALL;
}

static bool with_at(const struct tap_report *r)
{
	return opts_of(r)->at;
}

static bool with_groups(const struct tap_report *r)
{
	return opts_of(r)->at && by_of(r) == BY_ALL;
}

static bool with_sleeps(const struct tap_report *r)
{
	return explain_of(r)->asks_sleeps;
}

/* Suggest further commands only to users who ask about certain tasks. */
static bool with_next(const struct tap_report *r)
{
	return by_of(r) == BY_ALL && !r->run.all_tasks && r->matched;
}

/* Omit empty tables for people. */
static bool has_rows(const struct tap_report *r)
{
	return explain_of(r)->sums.all.waits || tap_report_audience(r) != TAP_FOR_PEOPLE;
}

static bool with_kinds(const struct tap_report *r)
{
	return by_of(r) <= BY_KIND && has_rows(r);
}

static bool with_tasks(const struct tap_report *r)
{
	return by_of(r) == BY_TASK ||
	       (by_of(r) == BY_ALL && tap_report_audience(r) != TAP_FOR_SHEETS && has_rows(r));
}

static bool with_processes(const struct tap_report *r)
{
	return by_of(r) == BY_PROCESS;
}

static bool with_comms(const struct tap_report *r)
{
	return by_of(r) == BY_COMM;
}

static bool with_cgroups(const struct tap_report *r)
{
	return by_of(r) == BY_CGROUP ||
	       (by_of(r) == BY_ALL &&
		(tap_report_audience(r) == TAP_FOR_PROGRAMS || (with_next(r) && has_rows(r))));
}

static int check_word(const char *option, const char *word, const char *const *words,
		      struct tap_err *err)
{
	struct tap_buf list = { 0 };
	const char *const *w = words;

	while (word && *w && strcmp(*w, word))
		w++;
	if (!word || *w)
		return 0;
	for (w = words; *w; w++)
		tap_buf_printf(&list, "%s%s", w == words ? "" : w[1] ? ", " : " or ", *w);
	tap_err_set(err, -EINVAL, "option %s takes %s, not '%.100s'", option, tap_buf_str(&list),
		    word);
	tap_buf_release(&list);
	return -EINVAL;
}

static int check_options(const void *opts, struct tap_err *err)
{
	static const char *const states[] = { "waking", "preempted", "throttled", NULL };
	const struct explain_opts *o = opts;
	const char *state = o->state && strcmp(o->state, "any") ? o->state : NULL;

	return check_word("--by", o->by, bys, err) ?: check_word("--state", state, states, err);
}

static uint64_t group_of(const void *ctx, uint64_t cgroup)
{
	return tap_cgroup_group_of(ctx, cgroup);
}

static void watch_events(struct tap_report *r, bool asks_avoidable)
{
	struct explain *e = explain_of(r);

	if (opts_of(r)->at && !r->run.all_tasks)
		tap_report_watch(r, &apart_ops, e, TAP_PICK_TASKS);
	if (e->asks_sleeps)
		tap_report_watch(r, &tap_sleeps_ops, &e->sleeps, TAP_PICK_TASKS);
	tap_report_watch(r, &tap_explain_waits_ops, &e->waits, 0)->states =
		asks_avoidable ? 0 : TAP_EXPLAIN_STATES;
}

static int begin_explain(struct tap_report *r, struct tap_err *err)
{
	const struct explain_opts *o = opts_of(r);
	struct explain *e = explain_of(r);
	int64_t worst = o->worst >= 0				     ? o->worst
			: tap_report_audience(r) == TAP_FOR_PROGRAMS ? 10
								     : 3;
	int ret;

	if (by_of(r) != BY_ALL && tap_report_audience(r) != TAP_FOR_PROGRAMS)
		worst = 0; /* this output shows no single waits */
	e->groups_waits =
		with_groups(r) && o->worst < 0 && tap_report_audience(r) == TAP_FOR_PEOPLE;
	if (e->groups_waits)
		worst = MAX_AT_ONCE;
	ret = o->at ? tap_report_find_at(r, o->at, &e->at_ns, err) : 0;
	if (ret)
		return ret;
	e->asks_sleeps = by_of(r) == BY_ALL && !r->run.all_tasks && !o->at;
	if ((e->asks_sleeps || o->at) && tap_event_stacks_are_in(&r->run.survey))
		ret = tap_report_open_stacks(r, err);
	if (ret)
		return ret;
	e->sleeps.stacks = r->stacks;
	r->run.mark_throttling = true;
	r->run.by_cgroup |= by_of(r) == BY_ALL || by_of(r) == BY_CGROUP;
	tap_explain_waits_init(&e->waits, &(const struct tap_explain_waits_opts){
						  .asks_avoidable = worst,
						  .without_reasons = !worst && by_of(r) > BY_KIND,
						  .tell = on_wait,
						  .ctx = e,
					  });
	watch_events(r, worst);
	if (tap_explain_init(&e->sums, (unsigned int)worst) ||
	    tap_cgroup_groups_init(&e->cgroups, &r->run.rec.ids.cgroups, o->depth))
		return tap_err_nomem(err);
	if (o->depth) {
		e->sums.group = group_of;
		e->sums.group_ctx = &e->cgroups;
	}
	e->sums.pairs_only = by_of(r) >= BY_PROCESS;
	e->has_delayers = with_delayers(r);
	e->delayers.by_comm = by_of(r) == BY_COMM;
	return 0;
}

static uint64_t delay_ns(const struct tap_report *r, unsigned int index)
{
	return explain_of(r)->sums.runners[index].ns;
}

static int label_cgroups(struct tap_report *r)
{
	struct tap_explain *sums = &explain_of(r)->sums;
	struct tap_cgroup_groups *g = &explain_of(r)->cgroups;

	for (unsigned int i = 0; i < sums->nr_pairs; i++) {
		tap_cgroup_show(g, sums->pairs[i].victim);
		tap_cgroup_show(g, sums->pairs[i].aggressor);
	}
	return tap_cgroup_make_labels(g);
}

/* Rank .tasks by the delay that each caused to other tasks. */
static int end_explain(struct tap_report *r, struct tap_err *err)
{
	struct tap_explain *sums = &explain_of(r)->sums;
	int ret = label_cgroups(r);

	tap_explain_end(sums);
	tap_delayers_end(&explain_of(r)->delayers);
	if (ret)
		return tap_err_nomem(err);
	return tap_report_rank_tasks(r, sums->nr_runners, delay_ns, err);
}

static void release_explain(struct tap_report *r)
{
	struct explain *e = explain_of(r);

	tap_explain_waits_release(&e->waits);
	tap_explain_release(&e->sums);
	tap_delayers_release(&e->delayers);
	tap_buf_release(&e->text);
	tap_sleeps_release(&e->sleeps);
	free(e->apart);
	tap_cgroup_groups_release(&e->cgroups);
}

static const struct tap_section sections[] = {
	{ TAP_FOR_PROGRAMS, .key = "all", .columns = all_columns, .put = put_all,
	  .is_object = true },
	{ TAP_FOR_PEOPLE, with_waits, .put = put_sentences },
	{ TAP_FOR_PEOPLE, with_groups, .put = put_groups },
	{ TAP_FOR_PROGRAMS, .key = "waits", .columns = wait_columns, .row = put_wait,
	  .nr = nr_worst },
	{ TAP_FOR_PROGRAMS, with_at, .key = "not_waiting", .columns = apart_columns,
	  .row = put_apart, .nr = nr_apart },
	{ TAP_FOR_PROGRAMS, with_sleeps, .key = "sleeps", .columns = sleep_columns,
	  .row = put_sleep, .nr = nr_sleeps },
	{ TAP_FOR_ALL, with_kinds, .before = "\n", .key = "kinds", .columns = kind_columns,
	  .put = put_kinds },
	{ TAP_FOR_ALL, with_tasks, .before = "\n", .key = "tasks", .columns = task_columns,
	  .row = put_task, .nr = tap_report_nr_tasks, .noun = "task" },
	{ TAP_FOR_ALL, with_processes, .before = "\n", .key = "processes",
	  .columns = process_columns, .row = put_process, .nr = nr_delayers, .noun = "process" },
	{ TAP_FOR_ALL, with_comms, .before = "\n", .key = "comms", .columns = comm_columns,
	  .row = put_comm, .nr = nr_delayers, .noun = "name" },
	{ TAP_FOR_ALL, with_cgroups, .before = "\n", .key = "cgroups", .columns = cgroup_columns,
	  .row = put_cgroups, .nr = nr_pairs, .noun = "pair" },
	{ TAP_FOR_PEOPLE, with_cgroups, .put = put_common_cgroup },
	TAP_NOTE_THROTTLING,
	{ TAP_FOR_PEOPLE, with_next, .put = put_next },
	{ 0 }
};

const struct tap_report_type tap_report_explain = {
	.cmd = {
		.name = "explain",
		.help = "why tasks waited: each wait split into its causes",
		.operands = TAP_CMD_TASK,
		.example = "schedtap explain",
		.opts = options,
		.opts_size = sizeof(struct explain_opts),
		.defaults = &(const struct explain_opts){ .common.top = -1, .worst = -1 },
	},
	.size = sizeof(struct explain),
	.top = 10,
	.needs = TAP_NEEDS_SWITCHES,
	.sections = sections,
	.check = check_options,
	.begin = begin_explain,
	.end = end_explain,
	.release = release_explain,
};
