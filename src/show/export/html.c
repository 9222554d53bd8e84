// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A recording as an HTML page in a single file (docs/html.md). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "show/drawn/part.h"
#include "show/export/export.h"
#include "show/export/html_file.h"
#include "show/export/html_head.h"
#include "show/export/html_parts.h"
#include "show/export/html_reports.h"

#define MAX_SLICES 1000000u
#define MAX_TASKS 256u
/* Size of an element: browsers draw between script elements, but not within one. */
#define PIECE_BYTES (512u << 10)

struct html {
	struct tap_export *e;
	struct tap_lanes lanes;
	struct tap_drawn drawn; /* summary of the part for the page's window */
	uint64_t nr_held; /* number of slices in the page */
	struct tap_html_windows windows; /* windows of further parts, around the longest waits */
	unsigned int nr_parts;
	/*
	 * The page's elements: .first before its script, needed for the first drawing; .parts after
	 * it.
	 */
	struct tap_buf first, parts;
	/* contents of members of the head data, as JSON */
	struct tap_buf report_names, failed, part_windows;
};

static int check_options(const struct tap_export_opts *opts, struct tap_err *err)
{
	if (opts->of)
		return tap_err_set(err, -EINVAL, "--of needs --to folded");
	if (opts->slices || opts->by)
		return tap_err_set(err, -EINVAL, "--slices and --by need --to perfetto");
	return 0;
}

static int put_element(struct tap_buf *out, const char *kind, const char *id, const char *data,
		       size_t len)
{
	struct tap_html_packer packer;
	int ret;

	tap_buf_printf(out, "<script type=\"text/plain\" class=\"%s\" id=\"%s-%s\">", kind, kind,
		       id);
	ret = tap_html_packer_begin(&packer, out);
	if (!ret)
		tap_html_packer_add(&packer, data, len);
	tap_html_packer_end(&packer);
	tap_buf_puts(out, "</script>\n");
	return ret ?: out->err;
}

/* ---- reports ---- */

static void put_failed(struct html *h, const char *name, const struct tap_err *why)
{
	tap_buf_printf(&h->failed, "%s\"%s\":", h->failed.len ? "," : "", name);
	tap_text_json(&h->failed, why->text, strlen(why->text));
}

/* Add a report. If it fails, the page is made without it. */
static int put_report(struct html *h, unsigned int i)
{
	/* drop notes: the page's own run prints the same ones */
	const struct tap_listener listener = { .progress = h->e->run.rec.listener.progress,
					       .ctx = h->e->run.rec.listener.ctx };
	const char *name = tap_html_report_name(i);
	struct tap_buf json = { 0 };
	struct tap_err why = { 0 };
	int ret = tap_html_report_run(i, &h->e->input, &listener, &json, &why);

	if (ret) {
		put_failed(h, name, &why);
		ret = h->failed.err;
	} else {
		tap_buf_printf(&h->report_names, "%s\"%s\"", h->report_names.len ? "," : "", name);
		ret = put_element(&h->first, "report", name, json.data, json.len);
		if (!strcmp(name, "explain") && !h->drawn.has_slices)
			tap_html_windows_find(&h->windows, &json, h->e->run.window,
					      h->drawn.slices);
	}
	tap_buf_release(&json);
	return ret;
}

static int put_reports(struct html *h, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && tap_html_report_name(i); i++)
		ret = put_report(h, i);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot store the reports in the HTML page: %m") : 0;
}

/* ---- parts ---- */

static unsigned int pieces_of(size_t bytes)
{
	return (unsigned int)((bytes + PIECE_BYTES - 1) / PIECE_BYTES);
}

static int put_piece(struct html *h, struct tap_buf *out, const struct tap_buf *part,
		     unsigned int piece)
{
	const size_t at = (size_t)piece * PIECE_BYTES, left = part->len - at;
	char id[32];

	snprintf(id, sizeof(id), "%u-%u", h->nr_parts, piece);
	return put_element(out, "part", id, part->data + at,
			   left < PIECE_BYTES ? left : PIECE_BYTES);
}

/*
 * @first_bytes: size of the beginning of @part that is needed first; its pieces go before the
 * page's script.
 */
static int add_part(struct html *h, struct tap_window window, const struct tap_drawn *drawn,
		    const struct tap_buf *part, size_t first_bytes, struct tap_err *err)
{
	const uint64_t origin_ns = h->e->run.window.from_ns;
	const unsigned int nr_first = pieces_of(first_bytes), nr = pieces_of(part->len);
	int ret = 0;

	tap_buf_printf(&h->part_windows,
		       "%s{\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64
		       ",\"slices\":%s,\"pieces\":[%u,%u]}",
		       h->nr_parts ? "," : "", window.from_ns - origin_ns, window.to_ns - origin_ns,
		       drawn->has_slices ? "true" : "false", nr_first, nr - nr_first);
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = put_piece(h, i < nr_first ? &h->first : &h->parts, part, i);
	h->nr_parts++;
	if (drawn->has_slices)
		h->nr_held += drawn->slices;
	return ret ? tap_err_set(err, ret,
				 "the HTML page would be too large: export a part of the recording "
				 "with --time")
		   : 0;
}

static int put_window(struct html *h, struct tap_err *err)
{
	const struct tap_drawn_opts opts = {
		.origin_ns = h->e->run.window.from_ns,
		.lanes = &h->lanes,
		.max_slices = MAX_SLICES,
		.has_levels = true,
		.max_tasks = MAX_TASKS,
		.has_curves = true,
	};
	struct tap_buf part = { 0 };
	int ret = tap_drawn_part(&h->e->run, &opts, &part, &h->drawn, err)
			  ?: add_part(h, h->e->run.window, &h->drawn, &part, h->drawn.first_bytes,
				      err);

	tap_buf_release(&part);
	return ret;
}

static int draw_around(struct html *h, struct tap_window window, struct tap_buf *part,
		       struct tap_drawn *drawn, struct tap_err *err)
{
	const struct tap_drawn_opts opts = {
		.origin_ns = h->e->run.window.from_ns,
		.lanes = &h->lanes,
		.max_slices = TAP_HTML_WINDOWS * TAP_HTML_PART_SLICES,
		.buckets = 1,
	};
	struct tap_input_opts input = h->e->input;
	struct tap_buf text = { 0 };
	struct tap_run run;
	bool usage;
	int ret;

	tap_text_ns(&text, window.from_ns);
	tap_buf_char(&text, ',');
	tap_text_ns(&text, window.to_ns);
	input.window = tap_buf_str(&text);
	ret = tap_run_input(&run, &input, NULL, &usage, err) ?:
	      tap_run_survey(&run, err) ?:
	      tap_drawn_part(&run, &opts, part, drawn, err);
	tap_run_close(&run);
	tap_buf_release(&text);
	return ret;
}

/*
 * Add a part around a wait. If that has more slices than expected, only the window's end is drawn,
 * which shows what ended the wait.
 */
static int put_around(struct html *h, struct tap_window window, struct tap_err *err)
{
	struct tap_drawn drawn = { 0 };
	struct tap_buf part = { 0 };
	int ret = draw_around(h, window, &part, &drawn, err);

	if (!ret && drawn.has_slices)
		ret = add_part(h, window, &drawn, &part, 0, err);
	tap_buf_release(&part);
	return ret;
}

static int put_parts(struct html *h, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < h->windows.nr; i++)
		ret = put_around(h, h->windows.v[i], err);
	return ret;
}

/* ---- the file ---- */

/* Write a part of the page, and empty it. Beside other pages it is the value of an attribute. */
static int write_part(struct html *h, struct tap_buf *part, struct tap_err *err)
{
	struct tap_buf value = { 0 };
	int ret;

	if (h->e->machine.nr == 1)
		return tap_export_file_write(h->e->file, part, err);
	tap_html_put_attribute(&value, part->data, part->len);
	value.err = value.err ?: part->err;
	tap_buf_clear(part);
	ret = tap_export_file_write(h->e->file, &value, err);
	tap_buf_release(&value);
	return ret;
}

/* Write what is before, or after, a page among those of several machines. */
static int write_beside(struct html *h, bool before, struct tap_err *err)
{
	const struct tap_pf_machine *m = &h->e->machine;
	struct tap_buf out = { 0 };
	int ret;

	if (m->nr == 1)
		return 0;
	if (before && !m->number)
		tap_html_put_beside(&out, true);
	if (before) {
		tap_buf_puts(&out, "<iframe title=\"");
		tap_html_put_attribute(&out, m->name, strlen(m->name));
		tap_buf_puts(&out, "\" srcdoc=\"");
	} else {
		tap_buf_puts(&out, "\"></iframe>\n");
		if (m->number == m->nr - 1)
			tap_html_put_beside(&out, false);
	}
	ret = tap_export_file_write(h->e->file, &out, err);
	tap_buf_release(&out);
	return ret;
}

static int write_file(struct html *h, struct tap_err *err)
{
	const struct tap_html_head members = {
		.input = &h->e->input,
		.machine = h->e->machine.nr > 1 ? &h->e->machine : NULL,
		.run = &h->e->run,
		.lanes = &h->lanes,
		.nr_held = h->nr_held,
		.nr_slices = h->drawn.slices,
		.reports = tap_buf_str(&h->report_names),
		.failed = tap_buf_str(&h->failed),
		.parts = tap_buf_str(&h->part_windows),
	};
	struct tap_buf out = { 0 }, head = { 0 };
	int ret;

	tap_html_head_put(&members, &head);
	tap_html_put_until(&out, TAP_HTML_CONNECT);
	tap_html_put_until(&out, TAP_HTML_HEAD);
	tap_html_put_json(&out, head.data, head.len);
	out.err = out.err ?: head.err;
	tap_html_put_until(&out, TAP_HTML_REPORTS);
	ret = write_beside(h, true, err) ?: write_part(h, &out, err) ?: write_part(h, &h->first, err);
	tap_html_put_until(&out, TAP_HTML_PARTS);
	ret = ret ?: write_part(h, &out, err) ?: write_part(h, &h->parts, err);
	tap_html_put_until(&out, TAP_HTML_END);
	ret = ret ?: write_part(h, &out, err) ?: write_beside(h, false, err);
	tap_buf_release(&head);
	tap_buf_release(&out);
	return ret;
}

static int write_html(struct tap_export *e, struct tap_err *err)
{
	struct html h = { .e = e };
	int ret = tap_run_survey(&e->run, err)
			  ?: tap_run_check_needs(&e->run, TAP_NEEDS_SWITCHES, err);

	if (!ret && tap_lanes_init(&h.lanes, &e->run))
		ret = tap_err_nomem(err);
	ret = ret ?: put_window(&h, err) ?: put_reports(&h, err) ?:
	      put_parts(&h, err) ?: write_file(&h, err);
	e->is_empty = !ret && !tap_export_has_picked(&e->run);
	tap_lanes_release(&h.lanes);
	tap_buf_release(&h.first);
	tap_buf_release(&h.parts);
	tap_buf_release(&h.report_names);
	tap_buf_release(&h.failed);
	tap_buf_release(&h.part_windows);
	return ret;
}

const struct tap_export_form tap_export_html = { .name = "html",
						 .file = "schedtap.html",
						 .side_by_side = true,
						 .check = check_options,
						 .write = write_html };
