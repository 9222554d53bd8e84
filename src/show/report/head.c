// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The head of every report. */
#include "base/text.h"
#include "show/report/lost_programs.h"
#include "show/report/report.h"

/* Return: a text of the host that recorded; NULL if unknown. */
static const char *host_text(const struct tap_run *run, const char *name)
{
	const json_t *host = json_object_get(run->rec.meta, "host");
	const char *s = json_string_value(json_object_get(host, name));

	return s && *s ? s : NULL;
}

static const char *kernel_release(const struct tap_run *run)
{
	const char *release = host_text(run, "release");
	const char *uname = tap_reader_info(run->rec.reader)->uname;

	return release ? release : *uname ? uname : NULL;
}

/* ---- text ---- */

/* Append @what and the name; nothing if @name is NULL. */
static void add_name(struct tap_buf *b, const char *what, const char *name)
{
	if (!name)
		return;
	tap_buf_puts(b, what);
	tap_text_escape(b, name, strlen(name));
}

static void add_date(struct tap_run *run, struct tap_buf *b)
{
	struct tap_wall *w = &run->rec.wall;

	if (!w->is_known)
		return;
	tap_buf_puts(b, ", ");
	tap_wall_add_date(w, b, run->window.from_ns);
	if (w->moved_ns)
		tap_buf_printf(b, " (wall clock moved by %+.3f s meanwhile)",
			       (double)w->moved_ns / 1e9);
}

static void add_lost(const struct tap_run *run, struct tap_buf *b)
{
	const struct tap_survey *s = &run->survey;
	const bool hides = tap_reader_info(run->rec.reader)->hides_losses;

	tap_buf_puts(b, ", lost ");
	if (s->lost)
		tap_buf_puts(b, s->lost_unknown || hides ? "at least " : "");
	else if (s->lost_unknown || hides)
		tap_buf_puts(b, s->lost_unknown ? "an unknown number" : "unknown");
	if (s->lost || (!s->lost_unknown && !hides))
		tap_buf_u64(b, s->lost);
	if (s->nr_off)
		tap_buf_puts(b, ", at times switched off by triggers");
}

static void text_lost_programs(struct tap_run *run, struct tap_page *p)
{
	struct tap_buf names = { 0 }, b = { 0 };

	tap_lost_programs_text(json_object_get(run->rec.meta, "programs"), &names);
	if (names.len) {
		tap_buf_printf(&b, "# lost events of programs: %s", tap_buf_str(&names));
		tap_page_sentence(p, tap_buf_str(&b), b.len);
	}
	tap_buf_release(&names);
	tap_buf_release(&b);
}

/* Print the head. Its lines begin with '#', as comments in perf's and trace-cmd's output do. */
static void text_head(struct tap_run *run, struct tap_page *p)
{
	const char *incomplete = tap_recording_incomplete(&run->rec);
	struct tap_buf b = { 0 };

	if (incomplete) {
		tap_buf_printf(&b, "# incomplete: %s", incomplete);
		tap_page_sentence(p, tap_buf_str(&b), b.len);
		b.len = 0;
	}
	add_name(&b, "# ", run->rec.path);
	if (tap_reader_info(run->rec.reader)->is_spool)
		tap_buf_puts(&b, " (not packed: its recorder runs or was killed)");
	add_name(&b, ", host ", host_text(run, "hostname"));
	add_name(&b, ", kernel ", kernel_release(run));
	if (!kernel_release(run) && *tap_reader_info(run->rec.reader)->tool)
		add_name(&b, ", ", tap_reader_info(run->rec.reader)->tool);
	add_date(run, &b);
	tap_buf_puts(&b, ", window ");
	tap_wall_add(&run->rec.wall, &b, run->window.from_ns);
	tap_buf_puts(&b, " to ");
	tap_wall_add(&run->rec.wall, &b, run->window.to_ns);
	tap_buf_printf(&b, " (%.6f s)", (double)tap_window_ns(&run->window) / 1e9);
	add_lost(run, &b);
	if (tap_survey_has_queueings(&run->survey))
		tap_buf_puts(&b, ", waits from the queue on");
	tap_page_sentence(p, tap_buf_str(&b), b.len);
	tap_buf_release(&b);
	text_lost_programs(run, p);
}

/* ---- JSON ---- */

/* Increase it when a key changes its meaning or is removed, not when a key is added. */
#define JSON_SCHEMA 1u

static void json_clocks(struct tap_run *run, struct tap_page *p)
{
	const struct tap_reader_info *info = tap_reader_info(run->rec.reader);
	const struct tap_wall *w = &run->rec.wall;

	tap_page_puts(p, "clock",
		      info->nr_buffers && *info->buffers[0].clock ? info->buffers[0].clock : NULL);
	if (!w->is_known) {
		tap_page_null(p, "wall_clock");
		return;
	}
	tap_page_object(p, "wall_clock");
	tap_page_u64(p, "ts_ns", run->window.from_ns);
	tap_page_s64(p, "realtime_ns", tap_wall_from(w, run->window.from_ns));
	tap_page_s64(p, "moved_ns", w->moved_ns);
	tap_page_object_end(p);
}

static void json_lost_programs(struct tap_run *run, struct tap_page *p)
{
	const json_t *programs = json_object_get(run->rec.meta, "programs");
	struct tap_lost_program lost;
	json_t *list = json_array();
	size_t at = 0;

	while (tap_lost_program_next(programs, &at, &lost))
		json_array_append_new(list,
				      json_pack("{s:s, s:i, s:I, s:b}", "comm", lost.comm, "pid",
						lost.pid, "lost", (json_int_t)lost.lost,
						"lost_is_lower_bound", lost.is_lower_bound));
	if (json_array_size(list))
		tap_page_json(p, "programs_with_losses", list);
	json_decref(list);
}

static void json_head(struct tap_run *run, struct tap_page *p)
{
	tap_page_object(p, "recording");
	tap_page_u64(p, "schema", JSON_SCHEMA);
	tap_page_puts(p, "program", TAP_VERSION);
	tap_page_puts(p, "file", run->rec.path);
	tap_page_json(p, "filter", run->rec.limits.only);
	if (json_object_get(run->rec.meta, "recorder"))
		tap_page_json(p, "recorder", json_object_get(run->rec.meta, "recorder"));
	tap_page_bool(p, "packed", !tap_reader_info(run->rec.reader)->is_spool);
	tap_page_puts(p, "host", host_text(run, "hostname"));
	tap_page_puts(p, "kernel", kernel_release(run));
	if (tap_recording_incomplete(&run->rec)) {
		tap_page_bool(p, "complete", false);
		tap_page_puts(p, "incomplete_because", tap_recording_incomplete(&run->rec));
	}
	json_clocks(run, p);
	tap_page_at(p, "start_ns", run->window.from_ns);
	tap_page_at(p, "end_ns", run->window.to_ns);
	tap_page_u64(p, "window_ns", tap_window_ns(&run->window));
	tap_page_u64(p, "lost", run->survey.lost);
	tap_page_bool(p, "lost_is_lower_bound",
		      run->survey.lost_unknown || tap_reader_info(run->rec.reader)->hides_losses);
	json_lost_programs(run, p);
	if (run->survey.nr_off)
		tap_page_bool(p, "switched_off_at_times", true);
	tap_page_bool(p, "wakeups_recorded", tap_survey_has_wakeups(&run->survey));
	if (tap_survey_has_queueings(&run->survey))
		tap_page_bool(p, "waits_from_queue", true);
	tap_page_object_end(p);
}

void tap_report_head(struct tap_report *r)
{
	if (tap_page_is_for(&r->page, TAP_FOR_PEOPLE))
		text_head(&r->run, &r->page);
	else
		json_head(&r->run, &r->page);
}
