// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap export: convert a recording to other tools' formats. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "timeline/run/unmatched.h"
#include "show/export/export.h"
#include "cli/cmd_report.h"

static const struct tap_opt options[] = {
	TAP_OPT_ROWS(tap_input_task_options),
	TAP_OPT_CPUS(struct tap_export_opts, input.select.cpus),
	TAP_OPT_WINDOW(struct tap_export_opts, input.window),
	TAP_OPTION(struct tap_export_opts, to, "to", 0, "FORM", TAP_OPT_STRING,
		   "write folded: a line per stack, for flame graph tools; html: a page that needs "
		   "no network; perfetto: for ui.perfetto.dev; ftrace: text as in tracefs; or csv: "
		   "a table of events [folded]"),
	TAP_OPTION(struct tap_export_opts, output, "output", 'o', "FILE", TAP_OPT_STRING,
		   "write to this file; - is stdout [html: schedtap.html; perfetto: trace.pftrace; "
		   "others: -]"),
	TAP_OPTION(struct tap_export_opts, of, "of", 0, "WHAT", TAP_OPT_STRING,
		   "with --to folded: count off-cpu, preemptions, wakeups or waits [off-cpu]"),
	TAP_OPTION(struct tap_export_opts, slices, "slices", 0, "START,DONE", TAP_OPT_STRING,
		   "with --to perfetto: draw a slice from each START event to the next DONE event; "
		   "both are SYSTEM:NAME"),
	TAP_OPTION(struct tap_export_opts, by, "by", 0, "FIELD", TAP_OPT_STRING,
		   "with --slices: the field that pairs START and DONE [the task]"),
	TAP_OPTION(struct tap_export_opts, max_bytes, "max-size", 0, "SIZE", TAP_OPT_SIZE,
		   "fail if the output would be larger than this, such as 500M [no limit]"),
	{ 0 }
};

static const struct tap_export_form *const forms[] = { &tap_export_folded, &tap_export_html,
						       &tap_export_perfetto, &tap_export_ftrace,
						       &tap_export_csv };

static const struct tap_export_form *find_form(const char *name)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (!strcmp(forms[i]->name, name))
			return forms[i];
	return NULL;
}

static int check_form(const struct tap_export_form *form, const struct tap_export_opts *o,
		      struct tap_err *err)
{
	if (!form)
		return tap_err_set(err, -EINVAL,
				   "bad --to '%s': use folded, html, perfetto, ftrace, or csv",
				   o->to);
	return form->check(o, err);
}

/* Print the output file's name, which may be a default that the user did not type. */
static void print_result(const struct tap_export_file *f)
{
	struct tap_buf name = { 0 };

	tap_text_escape(&name, f->path, strlen(f->path));
	fprintf(stderr, "%.1f MB in %s\n", (double)f->bytes / 1e6, tap_buf_str(&name));
	tap_buf_release(&name);
}

static int run_export(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct tap_export_opts *o = opts;
	const struct tap_export_form *form = find_form(o->to);
	struct tap_progress progress = { 0 };
	struct tap_export e = {
		.opts = o, .file.fd = -1, .begin = tap_cmd_output_begins, .ctx = &progress
	};
	const struct tap_listener listener = tap_cmd_listener(&progress);
	struct tap_err err = { 0 };
	bool usage = true, fits;
	int ret = check_form(form, o, &err);

	(void)operands;
	(void)rest;
	if (ret)
		return tap_cmd_fail(&err, usage);
	ret = tap_run_input(&e.run, &o->input, &listener, &usage, &err) ?:
	      tap_export_file_open(&e.file, o->output ?: form->file ?: "-", o->max_bytes, &err) ?:
	      form->write(&e, &err);
	fits = ret || !e.is_empty || !tap_unmatched(&e.run);
	if (!ret && fits)
		ret = tap_export_file_commit(&e.file, &err);
	tap_progress_erase(&progress);
	tap_recording_note_damage(&e.run.rec);
	tap_recording_note_incomplete(&e.run.rec);
	if (!ret && fits && e.is_empty)
		tap_recording_note(&e.run.rec, "the selection contains nothing to write");
	if (!ret && fits && e.file.path)
		print_result(&e.file);
	ret = ret ? tap_cmd_fail(&err, usage) : fits ? TAP_EXIT_OK : TAP_EXIT_FAILED;
	tap_export_file_close(&e.file);
	tap_run_close(&e.run);
	return ret;
}

const struct tap_cmd tap_cmd_export = {
	.name = "export",
	.help = "convert to HTML, Perfetto, flame graphs, ftrace or CSV",
	.operands = TAP_CMD_FILE,
	.example = "schedtap export --to perfetto",
	.opts = options,
	.opts_size = sizeof(struct tap_export_opts),
	.defaults = &(const struct tap_export_opts){ .to = "folded" },
	.run = run_export,
};
