// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/pass.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* What is kept of a task for showing it. */
struct tap_pass_name {
	char comm[TAP_TASK_COMM]; /* that the rest was made for */
	uint64_t cgroup;
	char *label; /* owned; NULL: not made yet */
	uint32_t label_len;
	signed char picked; /* 0: not looked at yet */
};

/* The recording's own window, within --time. 0 and UINT64_MAX: open. */
static void find_window(struct tap_pass *p)
{
	const json_t *w = json_object_get(p->in.meta, "window");
	json_int_t start = json_integer_value(json_object_get(w, "start_ns"));
	json_int_t end = json_integer_value(json_object_get(w, "end_ns"));

	p->start_ns = p->pick.from_ns;
	p->end_ns = p->pick.to_ns;
	if (start > 0 && (uint64_t)start > p->start_ns)
		p->start_ns = (uint64_t)start;
	if (end > 0 && (uint64_t)end < p->end_ns)
		p->end_ns = (uint64_t)end;
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
	const json_t *w = json_object_get(p->in.meta, "window");
	bool is_empty = span->first_ns > span->last_ns;

	if (!json_is_integer(json_object_get(w, "start_ns")) && !span->before && !is_empty &&
	    span->first_ns > p->start_ns)
		p->start_ns = span->first_ns;
	if (!json_is_integer(json_object_get(w, "end_ns")) && !span->beyond && !is_empty &&
	    span->last_ns < p->end_ns)
		p->end_ns = span->last_ns;
	if (p->end_ns < p->start_ns || p->end_ns == UINT64_MAX)
		p->end_ns = p->start_ns;
	if (!p->start_ns && p->end_ns) /* to the timeline, 0 would be an open window */
		p->start_ns = 1;
}

static uint16_t mark_for_survey(void *pass, const struct tap_format *fmt)
{
	const struct tap_pass *p = pass;

	return tap_survey_wants(fmt, tap_reader_info(p->in.reader)->nr_buffers <= 1);
}

static uint16_t mark_none(void *pass, const struct tap_format *fmt)
{
	(void)pass;
	(void)fmt;
	return 0;
}

/* Hands what is marked, from @from_ns on, to the survey. */
static int walk(struct tap_pass *p, uint64_t from_ns,
		uint16_t (*mark)(void *, const struct tap_format *), struct tap_err *err)
{
	struct tap_event ev;
	int ret;

	tap_reader_rewind(p->in.reader);
	tap_reader_limit(p->in.reader, from_ns, p->end_ns);
	tap_reader_mark(p->in.reader, mark, p);
	tap_reader_unmerged(p->in.reader, true);
	while ((ret = tap_reader_next(p->in.reader, &ev, err)) > 0)
		if (from_ns == p->read_from_ns && tap_survey_event(&p->survey, &ev))
			return tap_err_set(err, -ENOMEM, "out of memory");
	return ret;
}

static void note_kinds(struct tap_pass *p)
{
	struct tap_tally t;

	for (unsigned int i = 0; tap_reader_tally(p->in.reader, i, &t); i++)
		if (t.count)
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
	ret = walk(p, p->read_from_ns, mark_for_survey, err);
	span = tap_reader_span(p->in.reader);
	note_kinds(p);
	/* only the window is to be counted */
	if (!ret && p->read_from_ns != p->start_ns)
		ret = walk(p, p->start_ns, mark_none, err);
	p->survey.bytes = tap_reader_span(p->in.reader).bytes;
	close_window(p, &span);
	if (!ret && (count_kinds(p) || tap_survey_end(&p->survey)))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	return ret;
}

int tap_pass_open(struct tap_pass *p, const struct tap_pass_opts *opts, bool *usage,
		  struct tap_err *err)
{
	const struct tap_format *const *formats;
	uint64_t from, to;
	unsigned int nr;
	int ret;

	*p = (struct tap_pass){ .opts = opts };
	*usage = true;
	if (opts->json && opts->csv)
		return tap_err_set(err, -EINVAL, "--json and --csv exclude each other");
	ret = tap_pick_window(opts->pick.window, &from, &to, err);
	if (ret)
		return ret;
	*usage = false;
	ret = tap_input_open(&p->in, opts->input, err);
	if (ret)
		return ret;
	formats = tap_reader_formats(p->in.reader, &nr);
	ret = tap_pick_init(&p->pick, &opts->pick, formats, nr, err);
	if (ret) {
		*usage = true;
		return ret;
	}
	p->all_tasks = !opts->pick.tids.nr && !opts->pick.tgids.nr && !opts->pick.comms.nr &&
		       !opts->pick.cgroups.nr;
	find_window(p);
	return survey(p, err);
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

int tap_pass_run(struct tap_pass *p, const struct tap_observer *observer,
		 const struct tap_pass_events *events, void *ctx, struct tap_err *err)
{
	struct run run = { .pass = p, .events = events, .ctx = ctx };
	struct tap_event ev;
	int ret, code = 0;

	ret = start(p, observer, &run, err);
	while (!ret && !code && (ret = tap_reader_next(p->in.reader, &ev, err)) > 0) {
		ret = 0;
		if (ev.mark != FOR_REPORT) /* losses have no mark */
			code = tap_timeline_event(p->timeline, &ev);
		if (ev.mark & FOR_REPORT && !code && ev.ts_ns >= p->start_ns)
			code = events->event(ctx, &ev);
	}
	tap_reader_mark(p->in.reader, NULL, NULL); /* @run is gone soon */
	if (ret)
		return ret;
	if (!code)
		code = tap_timeline_end(p->timeline);
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
		n->picked = tap_pick_task(&p->pick, &p->in.who, task->tid, task->comm,
					  strnlen(task->comm, TAP_TASK_COMM), task->cgroup) > 0
				    ? 1 : -1;
	return n && n->picked > 0;
}

int tap_pass_tgid(struct tap_pass *p, const struct tap_task *task)
{
	const struct tap_who_task *t = tap_who_task(&p->in.who, task->tid);

	return t ? t->tgid : -1;
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

static void make_label(struct tap_buf *b, const struct tap_task *task,
		       const struct tap_who_task *who)
{
	size_t len = strnlen(task->comm, TAP_TASK_COMM);

	if (len)
		tap_text_escape(b, task->comm, len);
	else
		tap_buf_puts(b, "<...>");
	tap_buf_puts(b, " [");
	tap_buf_s64(b, task->tid);
	if (who && who->tgid >= 0 && who->tgid != task->tid) {
		tap_buf_char(b, '/');
		tap_buf_s64(b, who->tgid);
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
		make_label(&p->scratch, task, tap_who_task(&p->in.who, task->tid));
		n->label_len = (uint32_t)p->scratch.len;
		n->label = strndup(tap_buf_str(&p->scratch), p->scratch.len);
	}
	if (!n->label)
		return "";
	*len = n->label_len;
	return n->label;
}
