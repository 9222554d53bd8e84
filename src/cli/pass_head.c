// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What every report begins with. */
#include "cli/pass.h"
#include "cli/screen.h"

/* A text of the meta's host. Return: NULL if there is none. */
static const char *host_text(const struct tap_pass *p, const char *name)
{
	const json_t *host = json_object_get(p->in.meta, "host");
	const char *s = json_string_value(json_object_get(host, name));

	return s && *s ? s : NULL;
}

static const char *kernel(const struct tap_pass *p)
{
	const char *release = host_text(p, "release");
	const char *uname = tap_reader_info(p->in.reader)->uname;

	return release ? release : *uname ? uname : NULL;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* What is not known is left out. */
static void add_name(struct tap_buf *b, const char *what, const char *name)
{
	if (!name)
		return;
	tap_buf_puts(b, what);
	tap_text_escape(b, name, strlen(name));
}

static void add_date(struct tap_pass *p, struct tap_buf *b)
{
	struct tap_wall *w = &p->in.wall;

	if (!w->is_known)
		return;
	tap_buf_puts(b, ", ");
	tap_wall_add_date(w, b, p->start_ns);
	if (w->moved_ns)
		tap_buf_printf(b, " (wall clock moved by %+.3f s meanwhile)",
			       (double)w->moved_ns / 1e9);
}

static void add_lost(const struct tap_survey *s, struct tap_buf *b)
{
	tap_buf_puts(b, ", lost ");
	if (s->lost_unknown)
		tap_buf_puts(b, s->lost ? "at least " : "nobody knows how many");
	if (s->lost || !s->lost_unknown)
		tap_buf_u64(b, s->lost);
}

/* perf and trace-cmd mark what is no row in the same way. */
static void text_head(struct tap_pass *p, struct tap_report *r)
{
	struct tap_buf b = { 0 };

	add_name(&b, "# ", p->opts->input);
	if (tap_reader_info(p->in.reader)->is_spool)
		tap_buf_puts(&b, " (not packed: its recorder runs or was killed)");
	add_name(&b, ", host ", host_text(p, "hostname"));
	add_name(&b, ", kernel ", kernel(p));
	add_date(p, &b);
	tap_buf_puts(&b, ", window ");
	tap_wall_add(&p->in.wall, &b, p->start_ns);
	tap_buf_puts(&b, " to ");
	tap_wall_add(&p->in.wall, &b, p->end_ns);
	tap_buf_printf(&b, " (%.6f s)", (double)(p->end_ns - p->start_ns) / 1e9);
	add_lost(&p->survey, &b);
	tap_report_sentence(r, tap_buf_str(&b), b.len);
	tap_buf_release(&b);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_text(struct tap_report *r, const char *key, const char *s)
{
	if (s)
		tap_report_text(r, key, s, strlen(s));
	else
		tap_report_null(r, key);
}

static void json_clocks(struct tap_pass *p, struct tap_report *r)
{
	const struct tap_reader_info *info = tap_reader_info(p->in.reader);
	const struct tap_wall *w = &p->in.wall;

	json_text(r, "clock", info->nr_buffers && *info->buffers[0].clock ?
			      info->buffers[0].clock : NULL);
	if (!w->is_known) {
		tap_report_null(r, "wall_clock");
		return;
	}
	tap_report_object(r, "wall_clock");
	tap_report_u64(r, "ts_ns", p->start_ns);
	tap_report_key(r, "realtime_ns");
	tap_buf_s64(&r->buf, tap_wall_from(w, p->start_ns));
	tap_report_key(r, "moved_ns");
	tap_buf_s64(&r->buf, w->moved_ns);
	tap_report_object_end(r);
}

static void json_head(struct tap_pass *p, struct tap_report *r)
{
	tap_report_object(r, "recording");
	json_text(r, "file", p->opts->input);
	tap_report_bool(r, "packed", !tap_reader_info(p->in.reader)->is_spool);
	json_text(r, "host", host_text(p, "hostname"));
	json_text(r, "kernel", kernel(p));
	json_clocks(p, r);
	tap_report_at(r, "start_ns", p->start_ns);
	tap_report_at(r, "end_ns", p->end_ns);
	tap_report_u64(r, "window_ns", p->end_ns - p->start_ns);
	tap_report_u64(r, "lost", p->survey.lost);
	tap_report_bool(r, "lost_is_lower_bound", p->survey.lost_unknown);
	tap_report_bool(r, "wakeups_recorded", tap_survey_has_wakeups(&p->survey));
	tap_report_object_end(r);
}

void tap_pass_begin(struct tap_pass *p, struct tap_report *r, enum tap_style style)
{
	tap_input_unwatch(&p->in);
	/* in JSON Lines it is an object of its own: the first line */
	tap_screen_report(r, style == TAP_STYLE_JSONL ? TAP_STYLE_JSON : style, p->opts->wide);
	r->wall = &p->in.wall;
	if (style == TAP_STYLE_TEXT)
		text_head(p, r);
	else if (style != TAP_STYLE_CSV)
		json_head(p, r);
	if (style != TAP_STYLE_JSONL)
		return;
	tap_buf_puts(&r->buf, "}\n");
	r->comma = false;
	r->style = style;
}
