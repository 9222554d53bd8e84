// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/pass.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "cli/unmatched.h"

/* What is kept of a task for showing it. */
struct tap_pass_name {
	char comm[TAP_TASK_COMM]; /* that the rest was made for */
	uint64_t cgroup;
	char *label; /* owned; NULL: not made yet */
	uint32_t label_len;
	bool throttling; /* .label is marked so */
	signed char picked; /* 0: not looked at yet */
};

/* The recording's own window, within --time. 0 and UINT64_MAX: open. */
static void find_window(struct tap_pass *p)
{
	struct tap_range said = p->in.said;

	p->start_ns = p->pick.from_ns;
	p->end_ns = p->pick.to_ns;
	if (said.from_ns > p->start_ns)
		p->start_ns = said.from_ns;
	if (said.to_ns < p->end_ns)
		p->end_ns = said.to_ns;
	if (p->end_ns < p->start_ns)
		p->end_ns = p->start_ns;
	/* what is before --time tells the states at its start; before the recording's own is none */
	p->read_from_ns = p->start_ns;
	if (p->pick.from_ns && p->start_ns == p->pick.from_ns)
		p->read_from_ns -= p->start_ns > TAP_PASS_LOOKBACK_NS ? TAP_PASS_LOOKBACK_NS :
									p->start_ns;
}

/* A recording that does not say its window begins and ends with its events. */
static void close_window(struct tap_pass *p, const struct tap_reader_span *span)
{
	bool is_empty = span->first_ns > span->last_ns || span->first_ns > p->end_ns;

	if (!p->in.said.from_ns && !span->before && !is_empty && span->first_ns > p->start_ns)
		p->start_ns = span->first_ns;
	if (p->in.said.to_ns == UINT64_MAX && !span->beyond && !is_empty &&
	    span->last_ns < p->end_ns)
		p->end_ns = span->last_ns;
	if (p->end_ns < p->start_ns || p->end_ns == UINT64_MAX)
		p->end_ns = p->start_ns;
	if (!p->start_ns && p->end_ns) /* to the timeline, 0 would be an open window */
		p->start_ns = 1;
}

static bool has_one_buffer(const struct tap_pass *p)
{
	return tap_reader_info(p->in.reader)->nr_buffers <= 1;
}

static uint16_t mark_for_survey(void *pass, const struct tap_format *fmt)
{
	return tap_survey_wants(fmt, has_one_buffer(pass));
}

static uint16_t mark_none(void *pass, const struct tap_format *fmt)
{
	(void)pass;
	(void)fmt;
	return 0;
}

static void begin_walk(struct tap_pass *p, uint64_t from_ns, uint64_t to_ns,
		       uint16_t (*mark)(void *, const struct tap_format *))
{
	tap_reader_rewind(p->in.reader);
	tap_reader_limit(p->in.reader, from_ns, to_ns);
	tap_reader_mark(p->in.reader, mark, p);
	tap_reader_unmerged(p->in.reader, true);
}

/* Return: 0, or 1 where something is @beyond the window; -ENOMEM. */
static int feed_batch(struct tap_pass *p, const struct tap_event *const *events, unsigned int nr,
		      bool *beyond)
{
	int ret = 0;

	for (unsigned int from = 0, i = 0; ret >= 0 && from < nr; from = i) {
		while (i < nr && events[i]->ts_ns <= p->end_ns)
			i++;
		ret = tap_survey_events(&p->survey, events + from, i - from);
		if (ret || i == nr)
			continue;
		*beyond = true;
		ret = tap_survey_beyond(&p->survey, events[i++]);
		if (ret > 0)
			tap_reader_skip(p->in.reader);
	}
	return ret;
}

/*
 * What a CPU ran at the window's end is certain only if the switch that ends it fits. So each is
 * read on to that, wherever it is: an idle CPU has little else on its way there.
 */
static int feed_survey(struct tap_pass *p, struct tap_reader_span *span, struct tap_err *err)
{
	const struct tap_event *const *events;
	bool beyond = false;
	int nr, code = 0;

	begin_walk(p, p->read_from_ns, UINT64_MAX, mark_for_survey);
	while (code >= 0 && (nr = tap_reader_batch(p->in.reader, &events, err)) > 0)
		code = feed_batch(p, events, (unsigned int)nr, &beyond);
	*span = tap_reader_span(p->in.reader);
	span->beyond = beyond || span->last_ns > p->end_ns;
	return code < 0 ? tap_err_set(err, code, "out of memory") : nr;
}

/* Only the window is to be counted. */
static int count_window(struct tap_pass *p, struct tap_err *err)
{
	const struct tap_event *const *events;
	int nr;

	begin_walk(p, p->start_ns, p->end_ns, mark_none);
	do
		nr = tap_reader_batch(p->in.reader, &events, err);
	while (nr > 0);
	return nr;
}

/* Those that were fed the survey knows by itself. */
static void note_kinds(struct tap_pass *p)
{
	struct tap_tally t;

	for (unsigned int i = 0; tap_reader_tally(p->in.reader, i, &t); i++)
		if (t.count && !tap_survey_wants(t.fmt, has_one_buffer(p)))
			tap_survey_note(&p->survey, t.fmt);
}

static int count_kinds(struct tap_pass *p)
{
	struct tap_tally t;

	for (unsigned int i = 0; tap_reader_tally(p->in.reader, i, &t); i++)
		if (tap_survey_count(&p->survey, t.fmt, t.count))
			return -ENOMEM;
	return 0;
}

static int survey(struct tap_pass *p, struct tap_err *err)
{
	struct tap_reader_span span;
	int ret;

	if (tap_survey_init(&p->survey, p->start_ns, p->end_ns))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = feed_survey(p, &span, err);
	note_kinds(p);
	if (!ret && (p->read_from_ns != p->start_ns || span.beyond))
		ret = count_window(p, err);
	p->survey.bytes = tap_reader_span(p->in.reader).bytes;
	close_window(p, &span);
	if (!ret && (count_kinds(p) || tap_survey_end(&p->survey)))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret;
}

int tap_pass_input(const struct tap_pass_opts *opts, struct tap_input *in, struct tap_pick *pick,
		   struct tap_window *w, bool *usage, struct tap_err *err)
{
	const struct tap_format *const *formats;
	enum tap_clock clock;
	struct tap_range range;
	unsigned int nr;
	int ret;

	*usage = true;
	if (opts->json && opts->csv)
		return tap_err_set(err, -EINVAL, "--json and --csv exclude each other");
	ret = tap_window_parse(w, opts->pick.window, err);
	if (!ret)
		ret = tap_clock_parse(opts->clock, &clock, err);
	if (ret)
		return ret;
	*usage = false;
	ret = tap_input_open(in, opts->input, err);
	if (ret)
		return ret;
	*usage = true;
	formats = tap_reader_formats(in->reader, &nr);
	ret = tap_pick_init(pick, &opts->pick, formats, nr, err);
	if (!ret)
		ret = tap_input_window(in, w, &range, err);
	if (!ret)
		ret = tap_input_show(in, clock, err);
	if (ret)
		return ret;
	*usage = false;
	pick->from_ns = range.from_ns;
	pick->to_ns = range.to_ns;
	return 0;
}

static int refuse_ticks(const struct tap_pass *p, struct tap_err *err)
{
	const char *ticks = tap_reader_info(p->in.reader)->ticks;

	if (!ticks)
		return 0;
	return tap_err_set(err, -ENODATA, "'%.300s' has stamps of the clock '%s', which are no time: only "
			   "`schedtap dump` shows them", p->opts->input, ticks);
}

int tap_pass_open(struct tap_pass *p, const struct tap_pass_opts *opts, bool *usage,
		  struct tap_err *err)
{
	struct tap_range range;
	struct tap_window w;
	int ret;

	*p = (struct tap_pass){ .opts = opts };
	ret = tap_pass_input(opts, &p->in, &p->pick, &w, usage, err);
	ret = ret ?: refuse_ticks(p, err);
	if (ret)
		return ret;
	p->all_tasks = !opts->pick.tids.nr && !opts->pick.tgids.nr && !opts->pick.comms.nr &&
		       !opts->pick.cgroups.nr;
	range = (struct tap_range){ p->pick.from_ns, p->pick.to_ns };
	find_window(p);
	tap_input_watch(&p->in, "pass 1 of 2");
	ret = survey(p, err);
	if (!ret && w.text && !p->survey.events)
		ret = tap_input_check_window(&p->in, &w, range, err);
	return ret;
}

int tap_pass_check(const struct tap_pass *p, struct tap_err *err)
{
	if (p->survey.buffer[TAP_SHAPE_SWITCH] != TAP_NO_BUFFER)
		return 0;
	return tap_err_set(err, -ENODATA, "'%.300s' has no sched_switch events%s: who ran is not known",
			   p->opts->input, p->opts->pick.window ? " in that window" : "");
}

/* What events are for, as marks. */
enum { FOR_TIMELINE = 1, FOR_REPORT = 2 };

struct run {
	const struct tap_pass *pass;
	const struct tap_pass_events *events; /* or NULL */
	void *ctx;
	bool any_for_report;
};

static uint16_t mark_for_run(void *arg, const struct tap_format *fmt)
{
	struct run *run = arg;
	uint16_t mark = 0;

	if (tap_timeline_wants(fmt, run->pass->opts->pick.cgroups.nr))
		mark |= FOR_TIMELINE;
	if (run->events && run->events->wants(run->ctx, fmt))
		mark |= FOR_REPORT;
	run->any_for_report |= mark & FOR_REPORT;
	return mark;
}

static int start(struct tap_pass *p, const struct tap_observer *observer, struct run *run,
		 struct tap_err *err)
{
	struct tap_timeline_opts opts = {
		.start_ns = p->start_ns, .end_ns = p->end_ns, .survey = &p->survey,
		.nr_cpus = tap_reader_info(p->in.reader)->nr_cpus, .observer = observer,
		.ctx = run->ctx,
	};

	tap_reader_rewind(p->in.reader);
	tap_reader_limit(p->in.reader, p->read_from_ns, p->end_ns);
	tap_reader_unmerged(p->in.reader, false);
	tap_reader_mark(p->in.reader, mark_for_run, run);
	p->in.progress.what = "pass 2 of 2";
	if (tap_timeline_new(&opts, &p->timeline))
		return tap_err_set(err, -ENOMEM, "out of memory");
	if (!run->any_for_report && tap_pass_check(p, err))
		return tap_timeline_end(p->timeline) ? -ENOMEM : -ENODATA;
	return 0;
}

static int failed(const struct tap_pass *p, int code, struct tap_err *err)
{
	errno = -code;
	return tap_err_set(err, code, "cannot make sense of '%.300s': %m", p->opts->input);
}

/* -p: of how many tasks nobody can tell whether they are meant. */
static void tell_unknown(struct tap_pass *p)
{
	unsigned int nr, unknown = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(p->timeline, &nr);

	for (unsigned int i = 0; i < nr; i++)
		unknown += tap_task_life_ns(p->timeline, tasks[i]) &&
			   tap_pass_tgid(p, tasks[i]) < 0 &&
			   !tap_map_get(&p->pick.tgids, (uint64_t)tasks[i]->tid);
	tap_input_tell_unknown(unknown);
}

/* Return: 0; -errno of the timeline or the report. */
static int feed(const struct run *run, const struct tap_event *const *batch, unsigned int nr)
{
	struct tap_timeline *t = run->pass->timeline;
	int ret = 0;

	if (!run->any_for_report)
		return tap_timeline_events(t, batch, nr);
	for (unsigned int from = 0, i = 0; !ret && from < nr; from = i) {
		while (i < nr && !(batch[i]->mark & FOR_REPORT)) /* losses have no mark */
			i++;
		ret = tap_timeline_events(t, batch + from, i - from);
		if (ret || i == nr)
			break;
		if (batch[i]->mark & FOR_TIMELINE)
			ret = tap_timeline_event(t, batch[i]);
		if (!ret && batch[i]->ts_ns >= run->pass->start_ns)
			ret = run->events->event(run->ctx, batch[i]);
		i++;
	}
	return ret;
}

int tap_pass_run(struct tap_pass *p, const struct tap_observer *observer,
		 const struct tap_pass_events *events, void *ctx, struct tap_err *err)
{
	struct run run = { .pass = p, .events = events, .ctx = ctx };
	const struct tap_event *const *batch;
	int ret, nr, code = 0;

	ret = start(p, observer, &run, err);
	while (!ret && !code) {
		nr = tap_reader_batch(p->in.reader, &batch, err);
		if (nr <= 0) {
			ret = nr;
			break;
		}
		code = feed(&run, batch, (unsigned int)nr);
	}
	tap_reader_mark(p->in.reader, NULL, NULL); /* @run is gone soon */
	if (ret)
		return ret;
	if (!code)
		code = tap_timeline_end(p->timeline);
	if (!code && p->pick.tgids.nr)
		tell_unknown(p);
	return code ? failed(p, code, err) : 0;
}

void tap_pass_close(struct tap_pass *p)
{
	for (unsigned int i = 0; i < p->nr_names; i++)
		free(p->names[i].label);
	free(p->names);
	tap_buf_release(&p->scratch);
	tap_timeline_free(p->timeline);
	tap_survey_release(&p->survey);
	tap_pick_release(&p->pick);
	tap_input_close(&p->in);
}

/* What lived in the window. Return: 0 or -ENOMEM. */
static int find_there(struct tap_pass *p, struct tap_there *there)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(p->timeline, &nr);

	there->nr_cpus = tap_reader_info(p->in.reader)->nr_cpus;
	for (unsigned int i = 0; i < nr; i++) {
		const struct tap_task *t = tasks[i];
		struct tap_there_task task = { t->tid, tap_pass_tgid(p, t), t->comm,
					       strnlen(t->comm, TAP_TASK_COMM), t->cgroup };

		if (tap_task_life_ns(p->timeline, t) && tap_there_add(there, &task))
			return -ENOMEM;
	}
	return 0;
}

static bool matched(struct tap_pass *p)
{
	struct tap_there there = { 0 };
	bool yes = p->matched || !p->timeline || (p->all_tasks && !p->opts->pick.cpus);

	if (!yes)
		yes = find_there(p, &there) || !tap_unmatched(&p->pick, &p->in.who, &there);
	tap_there_release(&there);
	return yes;
}

int tap_pass_finish(struct tap_pass *p, int ret, const struct tap_err *err, bool usage)
{
	int code;

	tap_progress_erase(&p->in.progress);
	code = ret ? tap_cmd_fail(err, usage) : TAP_EXIT_OK;
	if ((!ret || ret == -ENODATA) && !matched(p))
		code = TAP_EXIT_FAILED;
	tap_pass_close(p);
	return code;
}

enum tap_style tap_pass_style(const struct tap_pass *p)
{
	if (p->opts->json)
		return TAP_STYLE_JSON;
	return p->opts->csv ? TAP_STYLE_CSV : TAP_STYLE_TEXT;
}

unsigned int tap_pass_top(const struct tap_pass *p, int64_t n, unsigned int in_text)
{
	if (n >= 0)
		return (unsigned int)n;
	return tap_pass_style(p) == TAP_STYLE_TEXT ? in_text : UINT_MAX;
}

void tap_pass_more(struct tap_report *r, const char *what, size_t nr, unsigned int top)
{
	if (r->style == TAP_STYLE_TEXT && nr > top)
		tap_buf_printf(&r->buf, "%zu more %s%s (-n, --json)\n", nr - top, what,
			       nr - top == 1 ? "" : "s");
}

/* Return: what is kept of the task, emptied if it goes by another name now; NULL: no memory. */
static struct tap_pass_name *get_name(struct tap_pass *p, const struct tap_task *task)
{
	struct tap_pass_name *n;

	if (task->index >= p->nr_names) {
		unsigned int nr = task->index + task->index / 2 + 64;

		n = reallocarray(p->names, nr, sizeof(*n));
		if (!n)
			return NULL;
		memset(n + p->nr_names, 0, (nr - p->nr_names) * sizeof(*n));
		p->names = n;
		p->nr_names = nr;
	}
	n = &p->names[task->index];
	if (n->cgroup != task->cgroup || memcmp(n->comm, task->comm, TAP_TASK_COMM)) {
		memcpy(n->comm, task->comm, TAP_TASK_COMM);
		n->cgroup = task->cgroup;
		n->picked = 0;
		free(n->label);
		n->label = NULL;
	}
	return n;
}

bool tap_pass_picks(struct tap_pass *p, const struct tap_task *task)
{
	struct tap_pass_name *n = get_name(p, task);

	if (n && !n->picked)
		n->picked = tap_pick_task(&p->pick, &p->in.who, task->tid, tap_pass_tgid(p, task),
					  task->comm, strnlen(task->comm, TAP_TASK_COMM),
					  task->cgroup) > 0
				    ? 1 : -1;
	return n && n->picked > 0;
}

int tap_pass_tgid(struct tap_pass *p, const struct tap_task *task)
{
	const struct tap_task *told = task->kin ? task->kin : task;
	const struct tap_who_task *t;

	if (task->tgid || told->tgid)
		return task->tgid ? task->tgid : told->tgid;
	if (told->reused) /* the recording's list may mean the one before */
		return -1;
	t = tap_who_task(&p->in.who, told->tid);
	return t && t->tgid > 0 ? t->tgid : -1;
}

uint64_t tap_pass_cgroup_id(struct tap_pass *p, const struct tap_task *task)
{
	const struct tap_who_task *t = task->cgroup ? NULL : tap_who_task(&p->in.who, task->tid);

	return t ? t->cgroup : task->cgroup;
}

const char *tap_pass_cgroup(struct tap_pass *p, const struct tap_task *task)
{
	return tap_who_cgroup(&p->in.who, tap_pass_cgroup_id(p, task));
}

int tap_pass_throttles(struct tap_pass *p, const struct tap_task *task)
{
	return tap_who_throttles(&p->in.who, tap_pass_cgroup_id(p, task));
}

void tap_pass_put_throttling(struct tap_pass *p, struct tap_table *t, const struct tap_task *task)
{
	int yes = task ? tap_pass_throttles(p, task) : -1;

	if (yes < 0)
		tap_table_none(t);
	else
		tap_table_u64(t, (uint64_t)yes);
}

void tap_pass_note_throttling(const struct tap_pass *p, struct tap_report *r)
{
	if (r->style == TAP_STYLE_TEXT && p->any_throttling)
		tap_buf_puts(&r->buf, "~ its cgroup has a CPU quota: preempted or throttled\n");
}

void tap_pass_note_sleep(const struct tap_pass *p, struct tap_report *r)
{
	if (r->style == TAP_STYLE_TEXT && p->survey.buffer[TAP_SHAPE_SWITCH] != TAP_NO_BUFFER &&
	    !tap_survey_has_wakeups(&p->survey))
		tap_buf_puts(&r->buf, "no wakeup events: sleep includes the wait for a CPU at its end\n");
}

static void make_label(struct tap_buf *b, const struct tap_task *task, int tgid,
		       const struct tap_who_task *who)
{
	size_t len = strnlen(task->comm, TAP_TASK_COMM);

	if (len)
		tap_text_escape(b, task->comm, len);
	else
		tap_buf_puts(b, "<...>");
	tap_buf_puts(b, " [");
	tap_buf_s64(b, task->tid);
	if (tgid >= 0 && tgid != task->tid) {
		tap_buf_char(b, '/');
		tap_buf_s64(b, tgid);
	}
	tap_buf_char(b, ']');
	if (who && who->own)
		tap_buf_char(b, '*');
}

const char *tap_pass_label(struct tap_pass *p, const struct tap_task *task, uint32_t *len)
{
	struct tap_pass_name *n = get_name(p, task);

	*len = 0;
	if (!n)
		return "";
	if (!n->label) {
		tap_buf_clear(&p->scratch);
		make_label(&p->scratch, task, tap_pass_tgid(p, task), tap_who_task(&p->in.who, task->tid));
		n->throttling = p->mark_throttling && tap_pass_throttles(p, task) > 0;
		if (n->throttling)
			tap_buf_char(&p->scratch, '~');
		n->label_len = (uint32_t)p->scratch.len;
		n->label = strndup(tap_buf_str(&p->scratch), p->scratch.len);
	}
	if (!n->label)
		return "";
	p->any_throttling |= n->throttling;
	*len = n->label_len;
	return n->label;
}

void tap_pass_who(struct tap_pass *p, struct tap_table *t, const struct tap_task *task)
{
	int tgid = tap_pass_tgid(p, task);
	uint32_t len;
	const char *label = tap_pass_label(p, task, &len);

	tap_table_text(t, label, len);
	tap_table_s64(t, task->tid);
	if (tgid >= 0)
		tap_table_s64(t, tgid);
	else
		tap_table_none(t);
	tap_table_text(t, task->comm, strnlen(task->comm, sizeof(task->comm)));
}

void tap_pass_who_json(struct tap_pass *p, struct tap_report *r, const struct tap_task *task)
{
	tap_report_id(r, "tid", task->tid);
	tap_report_id(r, "tgid", tap_pass_tgid(p, task));
	tap_report_text(r, "comm", task->comm, strnlen(task->comm, sizeof(task->comm)));
}
