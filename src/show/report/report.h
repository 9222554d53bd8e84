/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A report is a command that reads a recording and answers one question about it. It declares the
 * data it needs, the watchers that the timeline calls, and sections of output: a table or free
 * text, for people, programs or both. This file does what all reports share: it opens the
 * recording, chooses the style, prints the head, refuses recordings that lack the data, and prints
 * notes.
 *
 * Each report is one file in this folder with one struct tap_report_type, tap_report_<name>, and a
 * line in cli/cmds.h.
 */
#ifndef TAP_REPORT_REPORT_H
#define TAP_REPORT_REPORT_H

#include <limits.h>

#include "timeline/run/stacks.h"
#include "analysis/pelt.h"
#include "show/out/input.h"
#include "show/out/plot.h"
#include "show/report/task_cells.h"

/*
 * Options that all reports have, as typed. A report's own options struct begins with this struct.
 */
struct tap_report_opts {
	struct tap_input_opts input;
	bool wide;
	int64_t top; /* argument of -n; -1: not given */
};

/* Rows for a report's table of options. Only reports about CPUs have -C. */
extern const struct tap_opt tap_report_text_options[];
#define TAP_REPORT_OPTIONS                                                                         \
	TAP_INPUT_OPTIONS(TAP_OPT_CPUS(struct tap_input_opts, select.cpus)),                       \
		TAP_OPT_ROWS(tap_report_text_options)
#define TAP_REPORT_OPTIONS_WITHOUT_CPUS TAP_INPUT_OPTIONS(), TAP_OPT_ROWS(tap_report_text_options)

/*
 * Row for -n, for a report with a .top. @what: such as "the N tasks that ran most [20". The
 * report's default for .common.top must be -1.
 */
/* clang-format off */
#define TAP_REPORT_TOP(what)                                                                       \
	{ .name = "number", .letter = 'n', .arg = "N", .type = TAP_OPT_INT,                        \
	  .help = "show " what "; all with --json and --csv]",                                     \
	  .offset = offsetof(struct tap_report_opts, top), .max = INT_MAX }
/* clang-format on */

/* Destination of a report's output. */
struct tap_screen {
	int fd;
	unsigned int columns; /* the terminal's width; 0: not a terminal */
	bool color;
	bool utf8; /* block and line drawing characters may be used */
	/*
	 * Called when output begins, to start a pager. After that .listener may get no more
	 * progress reports.
	 */
	void (*begin)(void *ctx);
	struct tap_listener listener; /* .begin gets the same ctx */
};

struct tap_report;

/* A part of a report's output. */
struct tap_section {
	unsigned int for_whom; /* bits of enum tap_audience */
	bool (*when)(const struct tap_report *r); /* condition to show it; NULL: always */
	const char *before; /* for people: text printed before it */
	/* For programs: the table's key. NULL: .put writes members of the report. */
	const char *key;
	const struct tap_column *columns; /* NULL: no table; .put writes to the page itself */
	bool is_object; /* for programs: a single row, without an array around it */
	/* Set either .put, or .row with .nr, the number of rows. */
	void (*put)(struct tap_report *r, struct tap_table *t);
	/* adds the cells of row @i */
	void (*row)(struct tap_report *r, struct tap_table *t, unsigned int i);
	unsigned int (*nr)(const struct tap_report *r);
	/*
	 * Name of a row, such as "task". If set, -n limits the rows, and people get a line with the
	 * number of rows omitted.
	 */
	const char *noun;
};

/* One run of a report. Each report's own struct begins with this struct. */
struct tap_report {
	const struct tap_report_type *type;
	const struct tap_report_opts *opts; /* the report's own options struct */
	const struct tap_screen *screen;
	struct tap_run run;
	const struct tap_section *sections; /* .type's sections, or those that its .begin has set */
	struct tap_watcher watchers[TAP_MAX_WATCHERS];
	unsigned int nr_watchers;
	/* NULL: the recording has none of the signals that the report wants */
	struct tap_pelt *signals;
	struct tap_event_stacks *stacks; /* NULL: the report does not use stacks */
	struct tap_page page;
	bool is_open; /* .page is open */
	struct tap_table rows; /* table whose rows are printed while the recording is read */
	bool has_rows;
	struct tap_task **tasks; /* tasks of a table in row order; owned */
	unsigned int nr_tasks;
	bool matched; /* set by a report that knows that the options matched something */
	/* the report found a problem, so that the exit code is 1: `summary --check` */
	bool is_wrong;
	bool usage; /* the failure was caused by the options */
};

/* A watcher that every run of a report adds. */
struct tap_report_watcher {
	const struct tap_watcher_ops *ops;
	size_t ctx; /* offset of the watcher's ctx in the report's own struct */
	unsigned int pick; /* enum tap_watcher_pick */
};

struct tap_report_type {
	struct tap_cmd cmd; /* name, help and options; .run is NULL, as all reports run alike */
	size_t size; /* size of the report's own struct */
	unsigned int needs; /* enum tap_needs */
	unsigned int top; /* default number of rows for people, without -n */
	/* Added after those that .begin adds; ends with an empty entry; or NULL. */
	const struct tap_report_watcher *watchers;
	const struct tap_section *sections; /* in order of output; ends with an empty entry */
	/*
	 * Return true for load-tracking signals that the report uses; or NULL. @r: struct
	 * tap_report.
	 */
	bool (*want_signal)(void *r, const struct tap_pelt_signal *s);
	/* Hooks, each may be NULL. Return: 0; -errno with a sentence. */
	/* rejects options that contradict each other */
	int (*check)(const void *opts, struct tap_err *err);
	/* called after the survey; adds the report's watchers */
	int (*begin)(struct tap_report *r, struct tap_err *err);
	int (*end)(struct tap_report *r, struct tap_err *err); /* called after the watchers' .end */
	void (*release)(struct tap_report *r);
};

enum tap_audience tap_report_audience(const struct tap_report *r);

/*
 * Run a report with @opts and show it. @out: free it in either case; NULL if out of memory. Return:
 * 0; -errno with a sentence: (*out)->usage says whether the options are to blame.
 */
int tap_report_run(const struct tap_report_type *type, const void *opts,
		   const struct tap_screen *screen, struct tap_report **out, struct tap_err *err);
/*
 * After tap_report_run(), print notes about options that match nothing in the window. Return: true
 * if there are any.
 */
bool tap_report_unmatched(struct tap_report *r);
void tap_report_free(struct tap_report *r);

/* For a .begin that prints something first: open the page, and print the head. */
void tap_report_open_page(struct tap_report *r);
/*
 * For a .begin: open .rows, a table whose rows are printed as they are read. @key: NULL: programs
 * get JSON Lines.
 */
void tap_report_open_rows(struct tap_report *r, const struct tap_column *columns, const char *key);
/*
 * For a .begin: add a watcher that only some runs need (schedtap/watcher.h). @ctx: @ops's context.
 * @pick: enum tap_watcher_pick. Return: the watcher, for further settings.
 */
struct tap_watcher *tap_report_watch(struct tap_report *r, const struct tap_watcher_ops *ops,
				     void *ctx, unsigned int pick);
/*
 * For a .begin: create .signals and its watcher, if the recording has events with signals that the
 * report wants. @opts: settings that differ between reports. Return: 0; -ENOMEM with a sentence.
 */
int tap_report_open_signals(struct tap_report *r, struct tap_pelt_opts opts, struct tap_err *err);
/*
 * For a .begin, before it adds watchers that use stacks: create .stacks and its watcher, or print a
 * note if the recording has no stacks. Return: 0; -ENOMEM with a sentence.
 */
int tap_report_open_stacks(struct tap_report *r, struct tap_err *err);
/*
 * For a .begin: find the instant that --at TIME names, in one of the forms of FROM in --time.
 * Return: 0; -EINVAL: not a time; -ENODATA: it lies outside the recording or outside --time, or is
 * a wall-clock time that the recording lacks; a reader's error. Each with a sentence.
 */
int tap_report_find_at(struct tap_report *r, const char *at, uint64_t *ns, struct tap_err *err);
/*
 * For an .end: set .tasks to the selected tasks that existed in the window, the one that ran
 * longest first. Return: 0; -ENOMEM with a sentence.
 */
int tap_report_find_tasks(struct tap_report *r, struct tap_err *err);
/*
 * For an .end: set .tasks to the tasks whose weight is not 0, the greatest weight first. @weight:
 * returns the weight of the task with this index, below @nr. Return: 0; -ENOMEM with a sentence.
 */
int tap_report_rank_tasks(struct tap_report *r, unsigned int nr,
			  uint64_t (*weight)(const struct tap_report *r, unsigned int index),
			  struct tap_err *err);
unsigned int tap_report_nr_tasks(const struct tap_report *r); /* for a section's .nr */
/* Return a plot of the window with the screen's width. */
struct tap_plot tap_report_plot(struct tap_report *r);
/* Print the head of every report: the recording, its date, the window, and lost events. */
void tap_report_head(struct tap_report *r);

/* Return the number of rows to show, of @nr, according to -n. */
unsigned int tap_report_shown(const struct tap_report *r, unsigned int nr);

/* Section for people: explain "~", if any row showed it. */
void tap_report_note_throttling(struct tap_report *r, struct tap_table *t);
/* Section for people: say what counts as sleep if no wakeups were recorded. */
void tap_report_note_sleep(struct tap_report *r, struct tap_table *t);
#define TAP_NOTE_THROTTLING                                                                        \
	{                                                                                          \
		TAP_FOR_PEOPLE, .put = tap_report_note_throttling                                  \
	}
#define TAP_NOTE_SLEEP                                                                             \
	{                                                                                          \
		TAP_FOR_PEOPLE, .put = tap_report_note_sleep                                       \
	}

#endif
