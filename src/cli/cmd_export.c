// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap export: convert a recording to other tools' formats. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "file/group.h"
#include "timeline/run/unmatched.h"
#include "show/export/machines.h"
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

/* All exports of a command: one, or one for each machine. */
struct exports {
	struct tap_export *v; /* owned */
	unsigned int nr;
	struct tap_export_file file;
	struct tap_progress progress;
};

/* Make @nr exports, with the runs not open yet. Return: 0 or -ENOMEM. */
static int make_exports(struct exports *all, const struct tap_export_opts *o, unsigned int nr)
{
	all->v = calloc(nr, sizeof(*all->v));
	if (!all->v)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++)
		all->v[i] = (struct tap_export){ .opts = o,
						 .file = &all->file,
						 .begin = tap_cmd_output_begins,
						 .ctx = &all->progress };
	return 0;
}

/* Open a run for each group. --time is only for the first one, whose clock it refers to. */
static int open_runs(struct exports *all, const struct tap_export_opts *o,
		     struct tap_reader_group *groups, unsigned int nr, bool *usage,
		     struct tap_err *err)
{
	const struct tap_listener listener = tap_cmd_listener(&all->progress);
	unsigned int at = 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++) {
		struct tap_export *e = &all->v[i];

		all->nr = i + 1;
		e->input = o->input;
		e->input.window = i ? NULL : o->input.window;
		if (groups) /* a group's files are neighbours */
			e->input.input =
				(struct tap_strings){ o->input.input.v + at, groups[i].nr };
		at += e->input.input.nr;
		ret = tap_run_input_group(&e->run, &e->input, groups ? &groups[i] : NULL, &listener,
					  usage, err);
	}
	return ret ?: tap_export_machines(all->v, nr, err);
}

/* Open the files of several recorders as recordings of several machines. */
static int open_machines(struct exports *all, const struct tap_export_opts *o, bool *usage,
			 struct tap_err *err)
{
	const struct tap_strings *input = &o->input.input;
	struct tap_reader_group *groups = calloc(input->nr, sizeof(*groups));
	int nr = groups ? tap_reader_open_groups(input->v, input->nr, groups, err)
			: tap_err_nomem(err),
	    ret = nr < 0 ? nr : 0;

	*usage = false;
	if (!ret && make_exports(all, o, (unsigned int)nr))
		ret = tap_err_nomem(err);
	ret = ret ?: open_runs(all, o, groups, (unsigned int)nr, usage, err);
	for (int i = 0; i < nr; i++)
		tap_reader_free(groups[i].reader);
	free(groups);
	return ret;
}

static int open_exports(struct exports *all, const struct tap_export_opts *o,
			const struct tap_export_form *form, bool *usage, struct tap_err *err)
{
	if (form->side_by_side && o->input.input.nr > 1)
		return open_machines(all, o, usage, err);
	if (make_exports(all, o, 1))
		return tap_err_nomem(err);
	return open_runs(all, o, NULL, 1, usage, err);
}

/* Return true if nothing was written because options match nothing, and send notes about these. */
static bool is_unmatched(const struct exports *all)
{
	for (unsigned int i = 0; i < all->nr; i++)
		if (!all->v[i].is_empty)
			return false;
	return tap_unmatched(&all->v[0].run);
}

static void close_exports(struct exports *all)
{
	tap_export_file_close(&all->file);
	for (unsigned int i = 0; i < all->nr; i++) {
		tap_run_close(&all->v[i].run);
		tap_buf_release(&all->v[i].name);
		tap_buf_release(&all->v[i].window);
	}
	free(all->v);
}

static void note_recordings(struct exports *all, bool is_written)
{
	for (unsigned int i = 0; i < all->nr; i++) {
		const struct tap_recording *rec = &all->v[i].run.rec;

		tap_recording_note_damage(rec);
		tap_recording_note_incomplete(rec);
		if (is_written && all->v[i].is_empty && all->nr == 1)
			tap_recording_note(rec, "the selection contains nothing to write");
		else if (is_written && all->v[i].is_empty)
			tap_recording_note(rec, "'%.300s': the selection contains nothing to write",
					   rec->path);
	}
}

static int run_export(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct tap_export_opts *o = opts;
	const struct tap_export_form *form = find_form(o->to);
	struct exports all = { .file.fd = -1 };
	struct tap_err err = { 0 };
	bool usage = true, fits;
	int ret = check_form(form, o, &err);

	(void)operands;
	(void)rest;
	if (ret)
		return tap_cmd_fail(&err, usage);
	ret = open_exports(&all, o, form, &usage, &err) ?:
	      tap_export_file_open(&all.file, o->output ?: form->file ?: "-", o->max_bytes, &err);
	for (unsigned int i = 0; !ret && i < all.nr; i++)
		ret = form->write(&all.v[i], &err);
	fits = ret || !is_unmatched(&all);
	if (!ret && fits)
		ret = tap_export_file_commit(&all.file, &err);
	tap_progress_erase(&all.progress);
	note_recordings(&all, !ret && fits);
	if (!ret && fits && all.file.path)
		print_result(&all.file);
	ret = ret ? tap_cmd_fail(&err, usage) : fits ? TAP_EXIT_OK : TAP_EXIT_FAILED;
	close_exports(&all);
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
