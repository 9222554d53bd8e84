/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Export recordings to other tools' formats. A format is one file in this folder with one struct
 * tap_export_form, and a row in the table of cli/cmd_export.c.
 */
#ifndef TAP_EXPORT_EXPORT_H
#define TAP_EXPORT_EXPORT_H

#include "show/export/file.h"
#include "show/out/input.h"
#include "show/perfetto/machine.h"

/* Options as typed. */
struct tap_export_opts {
	struct tap_input_opts input;
	const char *to, *of, *output, *slices, *by;
	uint64_t max_bytes; /* maximum size of the output; 0: no limit */
};

/* The export of one recording: of each machine, if the recordings of several go into one file. */
struct tap_export {
	const struct tap_export_opts *opts;
	/* opts->input with this machine's files, and the window on its clock, in .window */
	struct tap_input_opts input;
	struct tap_buf window;
	struct tap_run run;
	struct tap_export_file *file; /* borrowed */
	struct tap_pf_machine machine;
	struct tap_buf name; /* owned: the machine's */
	/* Called when output is about to begin. */
	void (*begin)(void *ctx);
	void *ctx;
	bool is_empty; /* nothing in the recording matches the options */
};

struct tap_export_form {
	const char *name; /* name for --to */
	const char *file; /* default output file without -o; NULL: stdout */
	bool side_by_side; /* one file may have the recordings of several machines */
	/* Refuse wrong options and combinations. Return: 0; -EINVAL with a sentence. */
	int (*check)(const struct tap_export_opts *opts, struct tap_err *err);
	/* Write the output; .run and .file are open. Return: 0; -errno with a sentence. */
	int (*write)(struct tap_export *e, struct tap_err *err);
};

extern const struct tap_export_form tap_export_folded, tap_export_html, tap_export_perfetto,
	tap_export_ftrace, tap_export_csv;

/* Return true if -p, -t, -c, -g and -C select what the task does on this CPU. */
static inline bool tap_export_picks(struct tap_export *e, const struct tap_task *task, int cpu)
{
	return task->selected && tap_run_cpu(&e->run, cpu);
}

/* Return true if a selected task existed in the window. @run: its events have been read. */
static inline bool tap_export_has_picked(struct tap_run *run)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(run->timeline, &nr);

	for (unsigned int i = 0; i < nr; i++)
		if (tap_run_has_task(run, tasks[i]))
			return true;
	return run->all_tasks && run->survey.events;
}

#endif
