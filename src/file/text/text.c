// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text recordings: what ftrace, trace-cmd report, perf script and schedtap dump print. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "file/foreign.h"
#include "file/text/kind.h"
#include "file/text/line.h"
#include "file/text/other.h"

#define SNIFF_BYTES ((size_t)64 << 10)
#define MAX_NAME_LINES 15u
#define NR_SEEN 4096u /* tasks whose last line is remembered */

static const char begin_data[] = "<script class=\"trace-data\" type=\"application/text\">";
static const char begin_trace[] = "<!-- BEGIN TRACE -->", end_data[] = "</script>";
/* pages of before 2013: a text in a program, whose lines end with end_of_line */
static const char begin_script[] = "linuxPerfData = \"\\\n", end_of_line[] = "\\n\\";

struct text {
	struct tap_made *m;
	struct tap_kinds kinds;
	struct tap_other other;
	bool is_html, has_dash, has_system;
	bool is_rounded; /* a time has less than nanoseconds */
	uint64_t stamp_ns, ts_ns; /* of the last event: in the text, and given */
	uint64_t nr_events, nr_nameless; /* .nr_nameless: of too many kinds */
	uint64_t nr_cut;
	struct { /* the last line of tasks, to give each only once */
		int tid, tgid;
	} seen[NR_SEEN];
};

/* ---- recognition ---- */

static bool has_word(const void *data, size_t len, const char *word)
{
	return memmem(data, len, word, strlen(word));
}

/* Return the text that precedes text of ftrace in a web page; NULL: there is none. */
static const char *find_begin(const char *p, const char *end)
{
	static const char *const begins[] = { begin_data, begin_trace, begin_script };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (has_word(p, (size_t)(end - p), begins[i]))
			return begins[i];
	return NULL;
}

static bool is_html(const unsigned char *data, size_t len)
{
	const size_t sniff = len < 1024 ? len : 1024;

	return (has_word(data, sniff, "<html") || has_word(data, sniff, "<!DOCTYPE html") ||
		has_word(data, sniff, "<!doctype html")) &&
	       find_begin((const char *)data, (const char *)data + len);
}

static const char *line_end(const char *p, const char *end)
{
	return memchr(p, '\n', (size_t)(end - p)) ?: end;
}

static struct span make_line(const char *p, const char *end)
{
	const size_t trim = sizeof(end_of_line) - 1;

	if (end > p && end[-1] == '\r')
		end--;
	if ((size_t)(end - p) >= trim && !memcmp(end - trim, end_of_line, trim))
		end -= trim;
	return (struct span){ p, (size_t)(end - p) };
}

/* Find the first line that shows an event. */
static bool find_event(struct tap_line *l, const char *p, const char *end)
{
	for (const char *next; p < end; p = next + 1) {
		struct span line;

		next = line_end(p, end);
		line = make_line(p, next);
		if (tap_line_parse(l, line.s, line.s + line.len) == TAP_LINE_EVENT)
			return true;
	}
	return false;
}

bool tap_text_is(const unsigned char *data, size_t len)
{
	const size_t sniff = len < SNIFF_BYTES ? len : SNIFF_BYTES;
	const char *text = (const char *)data;
	struct tap_line l;

	if (memchr(data, 0, sniff))
		return false;
	return is_html(data, len) || find_event(&l, text, text + sniff) ||
	       (len > 9 && !memcmp(data, "# tracer:", 9));
}

/* ---- lines ---- */

/*
 * Set the event's time. Lines are in the order of events, so those of one microsecond get times
 * that differ by 1 ns: events with equal times would be sorted by CPU.
 */
static void place_event(struct text *t, const struct tap_line *l)
{
	const uint64_t stamp_ns = l->ts_ns;

	t->is_rounded |= l->unit_ns > 1;
	if (l->unit_ns > 1 && stamp_ns >= t->stamp_ns && stamp_ns <= t->ts_ns && t->nr_events)
		t->ts_ns++;
	else
		t->ts_ns = stamp_ns;
	t->stamp_ns = stamp_ns;
}

static void give_task(struct text *t, const struct tap_line *l)
{
	const unsigned int at = (unsigned int)l->tid % NR_SEEN;
	const bool has_name =
		!l->is_brief && !span_is(l->comm, "<...>") && !span_is(l->comm, "<idle>");

	if (l->tid <= 0 || (t->seen[at].tid == l->tid && t->seen[at].tgid == l->tgid))
		return;
	t->seen[at].tid = l->tid;
	t->seen[at].tgid = l->tgid;
	if (has_name || l->tgid > 0)
		tap_made_task(t->m, l->tid, has_name ? l->comm.s : NULL, l->comm.len, l->tgid);
}

/*
 * A name with an end of line goes on in the next lines. Return: the end of the lines with which the
 * event fits its kind; NULL if it does not.
 */
static const char *join_lines(struct tap_kind *kind, struct text *t, struct tap_line *l,
			      const char *end)
{
	const char *next = l->body.s + l->body.len;
	struct tap_line other;

	for (unsigned int i = 0; i < MAX_NAME_LINES; i++) {
		const char *begin = next + 1;

		if (begin >= end || (next = line_end(begin, end)) == end ||
		    tap_line_parse(&other, begin, next) == TAP_LINE_EVENT)
			return NULL;
		l->body.len = (size_t)(next - l->body.s);
		if (tap_kind_add(kind, t->m, l, t->ts_ns))
			return next;
	}
	return NULL;
}

/* Read an event. @line_end: the end of its line. Return: the end of its last line. */
static const char *read_event(struct text *t, struct tap_line *l, const char *line_end,
			      const char *end)
{
	struct tap_kind *kind = tap_kind_find(&t->kinds, t->m, l);
	const char *last = line_end;

	if (!kind) {
		t->nr_nameless++;
		return line_end;
	}
	give_task(t, l);
	place_event(t, l);
	if (!tap_kind_add(kind, t->m, l, t->ts_ns))
		last = join_lines(kind, t, l, end);
	if (last)
		t->nr_events++;
	else
		tap_kind_skip(kind);
	return last ?: line_end;
}

/* Read a line that ends at @next. Return: the end of the last line that was read. */
static const char *read_line(struct text *t, const char *p, const char *next, const char *end)
{
	const struct span line = make_line(p, next);
	struct tap_line l;

	switch (tap_line_parse(&l, line.s, line.s + line.len)) {
	case TAP_LINE_EVENT:
		return read_event(t, &l, next, end);
	case TAP_LINE_HEAD:
		tap_other_read_rest(&t->other, t->m, &l);
		return next;
	default:
		tap_other_read(&t->other, t->m, line);
		return next;
	}
}

/* @is_whole: something follows the last line, so that it is not cut off. */
static void read_lines(struct text *t, const char *p, const char *end, bool is_whole)
{
	for (const char *next; p < end && !t->m->failed; p = next + 1) {
		next = line_end(p, end);
		if (next == end && !is_whole) /* its part may look like all of another line */
			t->nr_cut++;
		else
			next = read_line(t, p, next, end);
	}
}

/* Other parts of a page hold lists of tasks and JSON: their lines are no events that are skipped.
 */
static void read_part(struct text *t, const char *p, const char *end, bool is_whole)
{
	const uint64_t nr_events = t->nr_events, nr_lines = t->other.nr_lines,
		       nr_frames = t->other.nr_frames;

	read_lines(t, p, end, is_whole);
	if (t->nr_events != nr_events)
		return;
	t->other.nr_lines = nr_lines;
	t->other.nr_frames = nr_frames;
}

/* Read the parts of a web page that have text of ftrace. */
static void read_html(struct text *t, const char *p, const char *end)
{
	const char *begin = find_begin(p, end);

	while (p < end && !t->m->failed) {
		const char *data = memmem(p, (size_t)(end - p), begin, strlen(begin));
		const char *stop;

		if (!data)
			break;
		data += strlen(begin);
		stop = memmem(data, (size_t)(end - data), end_data, strlen(end_data));
		read_part(t, data, stop ?: end, stop);
		p = stop ?: end;
	}
}

/* ---- what is said of it ---- */

static const char *find_tool(const struct text *t)
{
	if (t->is_html)
		return "text of systrace";
	if (!t->has_dash)
		return "text of perf script";
	if (t->has_system)
		return "text of schedtap dump";
	if (t->other.has_cpus)
		return "text of trace-cmd report";
	return t->other.has_tracer ? "text of ftrace" : "text of ftrace or trace-cmd report";
}

/* Return the length of a word of perf's head, for a format of up to 150 bytes of each. */
static int length_of(struct span s)
{
	return s.len < 150 ? (int)s.len : 150;
}

static int give_uname(struct text *t)
{
	const struct tap_other *o = &t->other;
	char uname[512];

	if (!o->release.len)
		return 0;
	snprintf(uname, sizeof(uname), "Linux %.*s %.*s %.*s", length_of(o->host), o->host.s ?: "",
		 length_of(o->release), o->release.s, length_of(o->machine), o->machine.s ?: "");
	return tap_dat_set_text(&t->m->r->uname, uname, strlen(uname), t->m->err);
}

static int note_kinds(const struct text *t)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < t->kinds.nr; i++) {
		const struct tap_kind *k = t->kinds.all[i];

		if (k->form == TAP_KIND_SWITCH)
			ret = tap_dat_note(t->m->r, t->m->err,
					   "the text of sched_switch does not say whether a task "
					   "was preempted (R+) or yielded (R): both are taken as "
					   "preempted");
		if (!ret && k->has_0x40)
			ret = tap_dat_note(t->m->r, t->m->err,
					   "tasks with prev_state 64 or x are taken for parked: "
					   "before Linux 4.14 these were dead");
		if (!ret && k->nr_unfit)
			ret = tap_dat_note(
				t->m->r, t->m->err,
				"skipped lines of %.*s without the expected text: %" PRIu64,
				(int)k->name.len, k->name.s, k->nr_unfit);
	}
	return ret;
}

/* Events may be missing without a loss: perf prints none, and some lines were skipped. */
static bool hides_losses(const struct text *t)
{
	bool hides = (!t->has_dash && !t->other.has_losses) || t->nr_nameless;

	for (unsigned int i = 0; i < t->kinds.nr; i++)
		hides |= t->kinds.all[i]->nr_unfit;
	return hides;
}

static int note(const struct text *t)
{
	const struct tap_other *o = &t->other;
	struct tap_reader *r = t->m->r;
	struct tap_err *err = t->m->err;
	int ret = 0;

	if (t->is_rounded)
		ret = tap_dat_note(r, err,
				   "the text's times have microseconds: each time is off by up to "
				   "1 us");
	if (!ret && !t->has_dash && !o->has_losses)
		ret = tap_dat_note(r, err, "the text does not say whether events were lost");
	if (!ret && o->nr_overwritten)
		ret = tap_dat_note(
			r, err, "older events that were overwritten in the ring buffers: %" PRIu64,
			o->nr_overwritten);
	if (!ret && o->nr_lines)
		ret = tap_dat_note(r, err,
				   "skipped lines that are not events: %" PRIu64
				   ", of these lines of "
				   "stacks: %" PRIu64,
				   o->nr_lines, o->nr_frames);
	if (!ret && t->nr_nameless)
		ret = tap_dat_note(r, err,
				   "skipped events of names beyond the first 1024: %" PRIu64,
				   t->nr_nameless);
	if (!ret && t->nr_cut)
		ret = tap_dat_note(r, err, "the last line is incomplete and is skipped");
	return ret ?: note_kinds(t);
}

static int end_text(struct text *t)
{
	struct tap_made *m = t->m;
	const char *tool = find_tool(t);
	int ret;

	if (m->failed)
		return m->failed;
	if (!t->nr_events)
		return tap_made_fail(m, -EINVAL, "'%.300s' has no events", m->r->path);
	/* ftrace switches events on for all CPUs at once, as it does for a trace.dat; perf does not
	 */
	m->r->info.begins_at_once = t->has_dash;
	m->r->info.hides_losses = hides_losses(t);
	ret = tap_dat_set_text(&m->r->tool, tool, strlen(tool), m->err) ?: give_uname(t) ?: note(t);
	return ret ?: tap_made_end(m, "");
}

int tap_text_read(struct tap_made *m, const unsigned char *data, size_t len)
{
	const char *p = (const char *)data, *end = p + len;
	struct text *t = calloc(1, sizeof(*t));
	struct tap_line first = { 0 };
	int ret;

	if (!t)
		return tap_made_fail(m, -ENOMEM, "not enough memory");
	t->m = m;
	t->is_html = is_html(data, len);
	find_event(&first, p, end);
	t->has_dash = first.has_dash;
	t->has_system = first.system.len;
	t->kinds.is_escaped = t->has_dash && t->has_system && !t->is_html && first.unit_ns == 1;
	if (t->is_html)
		read_html(t, p, end);
	else
		read_lines(t, p, end, false);
	ret = end_text(t);
	tap_kinds_release(&t->kinds);
	free(t);
	return ret;
}
