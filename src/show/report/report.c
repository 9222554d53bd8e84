// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/report.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "timeline/run/unmatched.h"

const struct tap_opt tap_report_text_options[] = { TAP_OPT_WIDE(struct tap_report_opts, wide),
						   { 0 } };

enum tap_audience tap_report_audience(const struct tap_report *r)
{
	return tap_input_style(&r->opts->input)->audience;
}

/* ---- output ---- */

static void open_page(struct tap_report *r, const struct tap_style *style)
{
	const struct tap_screen *to = r->screen;
	bool for_people = style->audience == TAP_FOR_PEOPLE;

	if (to->begin)
		to->begin(to->listener.ctx);
	tap_page_open(&r->page, style, to->fd);
	r->page.columns = for_people && !r->opts->wide ? to->columns : 0;
	r->page.color = for_people && to->color;
	r->page.utf8 = to->utf8;
	r->page.wall = &r->run.rec.wall;
	r->is_open = true;
	tap_report_head(r);
	if (style->end_head)
		style->end_head(&r->page);
}

void tap_report_open_page(struct tap_report *r)
{
	open_page(r, tap_input_style(&r->opts->input));
}

void tap_report_open_rows(struct tap_report *r, const struct tap_column *columns, const char *key)
{
	const struct tap_style *style = tap_input_style(&r->opts->input);

	if (!r->is_open)
		open_page(r, !key && style->in_lines ? style->in_lines : style);
	tap_table_stream(&r->rows, &r->page, columns, key);
	r->has_rows = true;
}

static bool is_shown(const struct tap_report *r, const struct tap_section *s)
{
	return tap_page_is_for(&r->page, s->for_whom) && (!s->when || s->when(r));
}

static void put_rows(struct tap_report *r, const struct tap_section *s, struct tap_table *t)
{
	unsigned int nr = s->nr(r), shown = s->noun ? tap_report_shown(r, nr) : nr;

	for (unsigned int i = 0; i < shown; i++) {
		s->row(r, t, i);
		tap_table_row(t);
	}
}

static void put_table(struct tap_report *r, const struct tap_section *s, struct tap_table *t)
{
	if (s->is_object)
		tap_table_object(t, &r->page, s->columns, s->key);
	else
		tap_table_begin(t, &r->page, s->columns, s->key);
	if (s->put)
		s->put(r, t);
	if (s->row)
		put_rows(r, s, t);
	tap_table_end(t);
}

static void put_more(struct tap_report *r, const char *noun, unsigned int nr)
{
	unsigned int shown = tap_report_shown(r, nr);

	if (nr > shown)
		tap_buf_printf(&r->page.buf, "%u more %s%s (-n, --json)\n", nr - shown, noun,
			       nr - shown == 1		       ? ""
			       : noun[strlen(noun) - 1] == 's' ? "es"
							       : "s");
}

static void put_section(struct tap_report *r, const struct tap_section *s)
{
	bool for_people = tap_page_is_for(&r->page, TAP_FOR_PEOPLE);
	struct tap_table t = { .page = &r->page };

	if (s->before && for_people)
		tap_buf_puts(&r->page.buf, s->before);
	if (s->columns)
		put_table(r, s, &t);
	else if (s->put)
		s->put(r, &t);
	if (s->noun && for_people)
		put_more(r, s->noun, s->nr(r));
}

/* After rows written as JSON Lines, write all further output as one object. */
static void leave_lines(struct tap_report *r)
{
	const struct tap_style *style = tap_input_style(&r->opts->input);

	if (r->page.style == style)
		return;
	r->page.style = style;
	if (style->open)
		style->open(&r->page);
}

static void put_sections(struct tap_report *r)
{
	for (const struct tap_section *s = r->sections; s && s->for_whom; s++) {
		if (!is_shown(r, s))
			continue;
		leave_lines(r);
		put_section(r, s);
	}
}

unsigned int tap_report_shown(const struct tap_report *r, unsigned int nr)
{
	uint64_t top = UINT_MAX;

	if (r->opts->top >= 0)
		top = (uint64_t)r->opts->top;
	else if (tap_report_audience(r) == TAP_FOR_PEOPLE)
		top = r->type->top;
	return nr < top ? nr : (unsigned int)top;
}

struct tap_plot tap_report_plot(struct tap_report *r)
{
	const struct tap_screen *to = r->screen;
	const char *term = getenv("TERM");
	unsigned int width = to->columns ? to->columns : 100;

	if (width < TAP_PLOT_MARGIN + TAP_PLOT_MIN_COLUMNS)
		width = TAP_PLOT_MARGIN + TAP_PLOT_MIN_COLUMNS;
	return (struct tap_plot){
		.columns = width - TAP_PLOT_MARGIN,
		.rows = 8,
		.ascii = !to->utf8 || (term && !strcmp(term, "dumb")),
		.color = to->color,
		.window = r->run.window,
		.wall = &r->run.rec.wall,
	};
}

void tap_report_note_throttling(struct tap_report *r, struct tap_table *t)
{
	if (r->run.any_throttling)
		tap_buf_puts(&t->page->buf,
			     "~ its cgroup has a CPU quota: preempted or throttled\n");
}

void tap_report_note_sleep(struct tap_report *r, struct tap_table *t)
{
	const struct tap_survey *s = &r->run.survey;

	if (tap_survey_has_switches(s) && !tap_survey_has_wakeups(s) &&
	    !tap_survey_has_queueings(s))
		tap_buf_puts(&t->page->buf,
			     "no wakeup events: sleep includes the wait for a CPU at its end\n");
}

bool tap_report_unmatched(struct tap_report *r)
{
	const unsigned int by = r->run.timeline ? r->run.pick.select->by : 0;

	return !r->matched && (by & (TAP_SELECT_TASKS | TAP_SELECT_CPUS)) && tap_unmatched(&r->run);
}

/* ---- tasks ---- */

/*
 * A copy of the sort key next to the task saves cache misses: a recording may have very many
 * short-lived tasks.
 */
struct ranked {
	uint64_t run_ns;
	struct tap_task *task;
};

static int by_run_time(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->run_ns != y->run_ns)
		return x->run_ns < y->run_ns ? 1 : -1;
	return x->task->tid != y->task->tid
		       ? (x->task->tid > y->task->tid) - (x->task->tid < y->task->tid)
		       : (x->task->index > y->task->index) - (x->task->index < y->task->index);
}

int tap_report_find_tasks(struct tap_report *r, struct tap_err *err)
{
	struct tap_timeline *timeline = r->run.timeline;
	unsigned int nr;
	struct tap_task *const *all = tap_timeline_tasks(timeline, &nr);
	struct ranked *ranked = calloc(nr + 1, sizeof(*ranked));

	r->tasks = calloc(nr + 1, sizeof(struct tap_task *));
	if (!r->tasks || !ranked) {
		free(ranked);
		return tap_err_nomem(err);
	}
	for (struct tap_task *const *t = all; nr && t < all + nr; t++)
		if (tap_run_has_task(&r->run, *t))
			ranked[r->nr_tasks++] =
				(struct ranked){ (*t)->total_ns[TAP_STATE_RUNNING], *t };
	qsort(ranked, r->nr_tasks, sizeof(*ranked), by_run_time);
	for (unsigned int i = 0; i < r->nr_tasks; i++)
		r->tasks[i] = ranked[i].task;
	free(ranked);
	return 0;
}

struct ranking {
	const struct tap_report *r;
	uint64_t (*weight)(const struct tap_report *r, unsigned int index);
};

static int by_weight(const void *a, const void *b, void *ctx)
{
	const struct ranking *ranking = ctx;
	unsigned int x = (*(struct tap_task *const *)a)->index,
		     y = (*(struct tap_task *const *)b)->index;
	uint64_t weight_x = ranking->weight(ranking->r, x),
		 weight_y = ranking->weight(ranking->r, y);

	if (weight_x != weight_y)
		return weight_x > weight_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

int tap_report_rank_tasks(struct tap_report *r, unsigned int nr,
			  uint64_t (*weight)(const struct tap_report *r, unsigned int index),
			  struct tap_err *err)
{
	struct ranking ranking = { r, weight };
	unsigned int nr_all;
	struct tap_task *const *tasks = tap_timeline_tasks(r->run.timeline, &nr_all);

	r->tasks = calloc((size_t)nr + 1, sizeof(struct tap_task *));
	if (!r->tasks)
		return tap_err_nomem(err);
	for (unsigned int i = 0; i < nr && i < nr_all; i++)
		if (weight(r, i))
			r->tasks[r->nr_tasks++] = tasks[i];
	qsort_r(r->tasks, r->nr_tasks, sizeof(struct tap_task *), by_weight, &ranking);
	return 0;
}

unsigned int tap_report_nr_tasks(const struct tap_report *r)
{
	return r->nr_tasks;
}

/* ---- watchers ---- */

struct tap_watcher *tap_report_watch(struct tap_report *r, const struct tap_watcher_ops *ops,
				     void *ctx, unsigned int pick)
{
	struct tap_watcher *w = &r->watchers[r->nr_watchers++];

	assert(r->nr_watchers <= TAP_MAX_WATCHERS);
	*w = (struct tap_watcher){ .ops = ops, .ctx = ctx, .pick = pick };
	return w;
}

/* Return true if the survey has seen events with signals that the report wants. */
static bool has_signals(const struct tap_report *r)
{
	const struct tap_survey *s = &r->run.survey;

	for (unsigned int i = 0; i < s->nr_kinds; i++)
		if (tap_pelt_has_signal(s->kinds[i].fmt, r->type->want_signal, (void *)r))
			return true;
	return false;
}

int tap_report_open_signals(struct tap_report *r, struct tap_pelt_opts opts, struct tap_err *err)
{
	if (!has_signals(r))
		return 0;
	opts.window = r->run.window;
	opts.survey = &r->run.survey;
	opts.want_signal = r->type->want_signal;
	opts.ctx = r;
	if (tap_pelt_new(&opts, &r->signals))
		return tap_err_nomem(err);
	tap_report_watch(r, opts.cpus_only ? &tap_pelt_of_cpus_ops : &tap_pelt_ops, r->signals, 0);
	return 0;
}

int tap_report_open_stacks(struct tap_report *r, struct tap_err *err)
{
	struct tap_err none;

	if (tap_run_check_needs(&r->run, TAP_NEEDS_STACKS, &none))
		tap_recording_note(&r->run.rec, "%s", none.text);
	if (tap_event_stacks_new(tap_reader_info(r->run.rec.reader), &r->run.survey, &r->stacks))
		return tap_err_nomem(err);
	tap_report_watch(r, &tap_event_stacks_ops, r->stacks, 0);
	return 0;
}

/* ---- --at ---- */

/*
 * Check that the instant, parsed from @w, is in the window. Return: 0; -ENODATA with a sentence: it
 * lies outside the recording, or outside --time; a reader's error.
 */
static int check_at(struct tap_report *r, const struct tap_time_option *w,
		    struct tap_window instant, struct tap_err *err)
{
	int ret;

	if (tap_window_has(&r->run.window, instant.from_ns))
		return 0;
	ret = tap_recording_check_window(&r->run.rec, w, instant, err);
	if (ret || !r->run.time.text)
		return ret;
	return tap_err_set(err, -ENODATA, "%s: '%.100s' lies outside --time '%.100s'", w->name,
			   w->text, r->run.time.text);
}

int tap_report_find_at(struct tap_report *r, const char *at, uint64_t *ns, struct tap_err *err)
{
	struct tap_time_option option;
	struct tap_window instant;
	int ret = tap_time_option_parse_instant(&option, "--at", at, err);

	r->usage = ret;
	ret = ret ?: tap_recording_window(&r->run.rec, &option, &instant, err) ?:
	      check_at(r, &option, instant, err);
	if (!ret)
		*ns = instant.from_ns;
	return ret;
}

/* ---- one run ---- */

static int read_recording(struct tap_report *r, struct tap_err *err)
{
	int ret = tap_run_check_needs(&r->run, r->type->needs, err);

	if (!ret && r->type->begin)
		ret = r->type->begin(r, err);
	for (const struct tap_report_watcher *w = r->type->watchers; w && w->ops; w++)
		tap_report_watch(r, w->ops, (char *)r + w->ctx, w->pick);
	if (!ret)
		ret = tap_run_watch(&r->run, r->watchers, r->nr_watchers, err);
	if (!ret && r->type->end)
		ret = r->type->end(r, err);
	return ret;
}

/*
 * Finish the output. Rows that have already been printed remain, even if reading failed. Return:
 * @ret; if that is 0, the result of writing, with a sentence.
 */
static int show_report(struct tap_report *r, int ret, struct tap_err *err)
{
	int written;

	if (!r->is_open && ret)
		return ret;
	if (!r->is_open)
		tap_report_open_page(r);
	if (r->has_rows)
		tap_table_end(&r->rows);
	if (!ret)
		put_sections(r);
	written = tap_page_close(&r->page);
	if (ret || !written)
		return ret;
	errno = -written;
	return tap_err_set(err, written, "cannot write the report: %m");
}

int tap_report_run(const struct tap_report_type *type, const void *opts,
		   const struct tap_screen *screen, struct tap_report **out, struct tap_err *err)
{
	struct tap_report *r = calloc(1, type->size);
	int ret;

	*out = r;
	if (!r)
		return tap_err_nomem(err);
	r->type = type;
	r->opts = opts;
	r->screen = screen;
	r->sections = type->sections;
	r->usage = true;
	ret = type->check ? type->check(opts, err) : 0;
	if (!ret)
		ret = tap_run_input(&r->run, &r->opts->input, &screen->listener, &r->usage, err);
	if (!ret)
		ret = tap_run_survey(&r->run, err);
	return ret ? ret : show_report(r, read_recording(r, err), err);
}

void tap_report_free(struct tap_report *r)
{
	if (!r)
		return;
	if (r->type->release)
		r->type->release(r);
	tap_pelt_free(r->signals);
	tap_event_stacks_free(r->stacks);
	free(r->tasks);
	tap_run_close(&r->run);
	free(r);
}
