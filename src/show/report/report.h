/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A report: a command that reads a recording and answers one question about it. It says what it
 * needs, whom the timeline is to tell, and what is shown: sections, of which each is a table or
 * something else, for people, for programs, or for both. Opening the recording, choosing the style,
 * what all reports begin with, refusals and notes are common to all, and here.
 *
 * A report is one file of this room with one struct tap_report_type, tap_report_<name>, and a line
 * in cli/cmds.h.
 */
#ifndef TAP_REPORT_REPORT_H
#define TAP_REPORT_REPORT_H

#include <limits.h>

#include "timeline/run/stacks.h"
#include "analysis/pelt.h"
#include "show/out/input.h"
#include "show/out/plot.h"
#include "show/report/task_cells.h"

/* What all reports have in common, as typed. Their own options structs begin with it. */
struct tap_report_opts {
	struct tap_input_opts input;
	bool wide;
	int64_t top; /* -n; -1: not given */
};

/* Rows in the table of a report's options: only what is about CPUs has -C. */
extern const struct tap_opt tap_report_text_options[];
#define TAP_REPORT_OPTIONS                                                                         \
	TAP_INPUT_OPTIONS(TAP_OPT_CPUS(struct tap_input_opts, select.cpus)),                       \
		TAP_OPT_ROWS(tap_report_text_options)
#define TAP_REPORT_OPTIONS_WITHOUT_CPUS TAP_INPUT_OPTIONS(), TAP_OPT_ROWS(tap_report_text_options)

/* -n, for a report that has a .top. @what: "the N tasks that ran most [20"; with .common.top = -1
 * as default. */
/* clang-format off */
#define TAP_REPORT_TOP(what)                                                                       \
	{ .name = "number", .letter = 'n', .arg = "N", .type = TAP_OPT_INT,                        \
	  .help = "show " what "; all with --json and --csv]",                                     \
	  .offset = offsetof(struct tap_report_opts, top), .max = INT_MAX }
/* clang-format on */

/* Where a report is shown. */
struct tap_screen {
	int fd;
	unsigned int columns; /* of a terminal; 0: it is none */
	bool color;
	bool utf8; /* it has blocks and lines to draw with */
	/* Output begins: a pager may come in between. Then .listener is told no more of progress,
	 * if it must not. */
	void (*begin)(void *ctx);
	struct tap_listener listener; /* its ctx is that of .begin, too */
};

struct tap_report;

/* A part of what is shown. */
struct tap_section {
	unsigned int for_whom; /* enum tap_audience */
	bool (*when)(const struct tap_report *r); /* NULL: always */
	const char *before; /* for people: a line before it */
	/* for programs: of the table; NULL: what .put writes are members of the report */
	const char *key;
	const struct tap_column *columns; /* NULL: no table, .put writes to the page as it likes */
	bool is_object; /* for programs one row, without an array around it */
	/* Either of these, with .nr how many rows there are. */
	void (*put)(struct tap_report *r, struct tap_table *t);
	void (*row)(struct tap_report *r, struct tap_table *t, unsigned int i); /* its cells */
	unsigned int (*nr)(const struct tap_report *r);
	/* "task": -n says how many rows are shown, and for people a line how many are not */
	const char *noun;
};

/* One run of a report. Each report's own struct begins with it. */
struct tap_report {
	const struct tap_report_type *type;
	const struct tap_report_opts *opts; /* the report's own */
	const struct tap_screen *screen;
	struct tap_run run;
	const struct tap_section *sections; /* .type's, or set by its .begin */
	struct tap_watcher watchers[TAP_MAX_WATCHERS];
	unsigned int nr_watchers;
	struct tap_pelt *signals; /* NULL: of those that the report wants nothing was recorded */
	struct tap_event_stacks *stacks; /* NULL: the report wants none */
	struct tap_page page;
	bool is_open; /* .page */
	struct tap_table rows; /* that are printed as they are read */
	bool has_rows;
	struct tap_task **tasks; /* of a table of tasks, in the order of its rows; owned */
	unsigned int nr_tasks;
	bool matched; /* a report sets it where it knows that the options picked something */
	bool is_wrong; /* the answer is one that should not be: `summary --check` */
	bool usage; /* what failed are the options */
};

/* A watcher that every run of a report has. */
struct tap_report_watcher {
	const struct tap_watcher_ops *ops;
	size_t ctx; /* offset of its ctx in the report's own struct */
	unsigned int pick; /* enum tap_watcher_pick */
};

struct tap_report_type {
	struct tap_cmd cmd; /* .run is NULL */
	size_t size; /* of its own struct */
	unsigned int needs; /* enum tap_needs */
	unsigned int top; /* how many rows people see, without -n */
	/* come after those that .begin adds; ends with an empty one; or NULL */
	const struct tap_report_watcher *watchers;
	const struct tap_section *sections; /* in their order; ends with an empty one */
	/* Load-tracking signals that it is about, or NULL. @r: struct tap_report */
	bool (*want_signal)(void *r, const struct tap_pelt_signal *s);
	/* Each may be NULL. Return: 0; -errno with a sentence. */
	int (*check)(const void *opts, struct tap_err *err); /* options that do not go together */
	/* after the survey: adds its watchers */
	int (*begin)(struct tap_report *r, struct tap_err *err);
	int (*end)(struct tap_report *r, struct tap_err *err); /* after the watchers' .end */
	void (*release)(struct tap_report *r);
};

enum tap_audience tap_report_audience(const struct tap_report *r);

/*
 * Runs a report on what @opts names, and shows it. @out: to be freed in either case; NULL if there
 * was no memory for it. Return: 0; -errno with a sentence: (*out)->usage says whether the options
 * are to blame.
 */
int tap_report_run(const struct tap_report_type *type, const void *opts,
		   const struct tap_screen *screen, struct tap_report **out, struct tap_err *err);
/* Behind that: notes which options fit nothing in the window. Return: whether some do not. */
bool tap_report_unmatched(struct tap_report *r);
void tap_report_free(struct tap_report *r);

/* For a .begin that has something to print before all else: behind the head. */
void tap_report_open_page(struct tap_report *r);
/* For a .begin: rows are printed as they are read, to .rows. @key: NULL: programs get lines. */
void tap_report_open_rows(struct tap_report *r, const struct tap_column *columns, const char *key);
/*
 * For a .begin: a watcher that only some runs have (schedtap/watcher.h). @ctx: as @ops wants it.
 * @pick: enum tap_watcher_pick. Return: it, for more precise wishes.
 */
struct tap_watcher *tap_report_watch(struct tap_report *r, const struct tap_watcher_ops *ops,
				     void *ctx, unsigned int pick);
/*
 * For a .begin: makes .signals and watches them, if events have some of those that are wanted.
 * @opts: what reports differ in. Return: 0; -ENOMEM with a sentence.
 */
int tap_report_open_signals(struct tap_report *r, struct tap_pelt_opts opts, struct tap_err *err);
/*
 * For a .begin, before it adds watchers that ask for stacks: makes .stacks and watches them; notes
 * it if none were recorded. Return: 0; -ENOMEM with a sentence.
 */
int tap_report_open_stacks(struct tap_report *r, struct tap_err *err);
/*
 * For a .begin: find the instant that --at TIME names, in one of the forms of FROM in --time.
 * Return: 0; -EINVAL: not a time; -ENODATA: it lies outside the recording or outside --time, or is
 * a wall-clock time that the recording lacks; a reader's error. Each with a sentence.
 */
int tap_report_find_at(struct tap_report *r, const char *at, uint64_t *ns, struct tap_err *err);
/*
 * For an .end: .tasks are those that lived in the window and that the options pick, who ran most
 * first. Return: 0; -ENOMEM with a sentence.
 */
int tap_report_find_tasks(struct tap_report *r, struct tap_err *err);
/*
 * Likewise: .tasks are those whose weight is not 0, the greatest first. @weight: of the task with
 * this index, of @nr. Return: 0; -ENOMEM with a sentence.
 */
int tap_report_rank_tasks(struct tap_report *r, unsigned int nr,
			  uint64_t (*weight)(const struct tap_report *r, unsigned int index),
			  struct tap_err *err);
unsigned int tap_report_nr_tasks(const struct tap_report *r); /* a section's .nr */
/* A plot of the window that is as wide as the screen. */
struct tap_plot tap_report_plot(struct tap_report *r);
/* What all reports begin with: the recording, its date, the window, what was lost. */
void tap_report_head(struct tap_report *r);

/* How many of @nr rows to show: by -n. */
unsigned int tap_report_shown(const struct tap_report *r, unsigned int nr);

/* Sections for people. What "~" means, if it was shown. */
void tap_report_note_throttling(struct tap_report *r, struct tap_table *t);
/* What else is sleep, where no wakeups were recorded. */
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
