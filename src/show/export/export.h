/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording in the form of other tools. A form is one file of this room with one struct
 * tap_export_form, and a row in the table of cli/cmd_export.c.
 */
#ifndef TAP_EXPORT_EXPORT_H
#define TAP_EXPORT_EXPORT_H

#include "show/export/file.h"
#include "show/out/input.h"

/* As typed. */
struct tap_export_opts {
	struct tap_input_opts input;
	const char *to, *of, *output, *slices, *by;
	uint64_t max_bytes; /* 0: any */
};

/* One run. */
struct tap_export {
	const struct tap_export_opts *opts;
	struct tap_run run;
	struct tap_export_file file;
	/* Output is about to begin. */
	void (*begin)(void *ctx);
	void *ctx;
	bool is_empty; /* of what the options pick nothing was there */
};

struct tap_export_form {
	const char *name; /* of --to */
	const char *file; /* where it goes without -o; NULL: to stdout */
	/* Options that do not go with it, or are wrong. Return: 0; -EINVAL with a sentence. */
	int (*check)(const struct tap_export_opts *opts, struct tap_err *err);
	/* .run is open, .file too. Return: 0; -errno with a sentence. */
	int (*write)(struct tap_export *e, struct tap_err *err);
};

extern const struct tap_export_form tap_export_folded, tap_export_html, tap_export_perfetto,
	tap_export_ftrace, tap_export_csv;

/* -p -t -c -g -C: whether what the task does there is asked for. */
static inline bool tap_export_picks(struct tap_export *e, const struct tap_task *task, int cpu)
{
	return task->selected && tap_run_cpu(&e->run, cpu);
}

/* Whether a task that was there is. @run: fed. */
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
