/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every report does: open the recording, look at the options that all reports share, survey
 * it, and feed the timeline, which tells the report's observer. Reports differ in what they
 * observe and how they print it.
 */
#ifndef TAP_CLI_PASS_H
#define TAP_CLI_PASS_H

#include "analysis/pick.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "out/table.h"
#include "timeline/timeline.h"

/* As typed. Its member in a report's options struct is called .pass. */
struct tap_pass_opts {
	const char *input, *clock;
	struct tap_pick_opts pick; /* -e is for dump and pelt alone */
	bool json, csv, wide;
};

#define TAP_PASS_OPTIONS(T)                                                                        \
	TAP_OPT_INPUT(T, pass.input), TAP_OPT_PIDS(T, pass.pick.tgids),                            \
		TAP_OPT_TIDS(T, pass.pick.tids), TAP_OPT_COMMS(T, pass.pick.comms),                \
		TAP_OPT_CGROUPS(T, pass.pick.cgroups), TAP_OPT_CPUS(T, pass.pick.cpus),            \
		TAP_OPT_WINDOW(T, pass.pick.window), TAP_OPT_CLOCK(T, pass.clock),                 \
		TAP_OPT_JSON(T, pass.json), TAP_OPT_CSV(T, pass.csv), TAP_OPT_WIDE(T, pass.wide)

/* What lies this far before --time is read as well: it tells the states at the window's start. */
#define TAP_PASS_LOOKBACK_NS 100000000u

struct tap_pass {
	const struct tap_pass_opts *opts; /* borrowed */
	struct tap_input in;
	struct tap_pick pick;
	bool all_tasks; /* no option picks some */
	bool matched;	/* a report sets it where it knows that the options picked something */
	struct tap_survey survey;
	struct tap_timeline *timeline;
	/* the window: --time within the recording's own; after tap_pass_open() */
	uint64_t start_ns, end_ns;
	uint64_t read_from_ns; /* start_ns, or a little before */
	struct tap_pass_name *names; /* by task's index */
	unsigned int nr_names;
	/* Tasks that may be throttled are marked in labels: set by reports that show waits. */
	bool mark_throttling;
	bool any_throttling; /* some were */
	struct tap_buf scratch;
};

/* What a report wants beside the timeline's observer. */
struct tap_pass_events {
	/* Whether events of this kind are to be handed to .event. */
	bool (*wants)(void *ctx, const struct tap_format *fmt);
	/* After the timeline has seen it; only events in the window. Return: 0 or -errno. */
	int (*event)(void *ctx, const struct tap_event *ev);
};

/*
 * What all that read a recording begin with: checks the options, opens, and finds the window.
 * Return: 0; -errno with a sentence, and @usage says whether the options are to blame (for
 * tap_cmd_fail()). Release @pick and close @in in either case.
 */
int tap_pass_input(const struct tap_pass_opts *opts, struct tap_input *in, struct tap_pick *pick,
		   struct tap_window *w, bool *usage, struct tap_err *err);
/*
 * The same, and surveys. Close in either case.
 */
int tap_pass_open(struct tap_pass *p, const struct tap_pass_opts *opts, bool *usage,
		  struct tap_err *err);
/*
 * For reports that print as they read: what tap_pass_run() would refuse without @events is better
 * refused before the first line. Return: 0; -ENODATA.
 */
int tap_pass_check(const struct tap_pass *p, struct tap_err *err);
/*
 * Feeds the timeline to its end. @events may be NULL. Refuses a recording that has no
 * sched_switch (-ENODATA), unless @events is given and wants something in it.
 */
int tap_pass_run(struct tap_pass *p, const struct tap_observer *observer,
		 const struct tap_pass_events *events, void *ctx, struct tap_err *err);
void tap_pass_close(struct tap_pass *p);
/*
 * At a report's end: says why it failed, where @ret is below 0, or which options fit nothing in
 * the window; then closes. Return: the exit code.
 */
int tap_pass_finish(struct tap_pass *p, int ret, const struct tap_err *err, bool usage);

/*
 * Opens a report, with what all of them begin with: the recording, its date, the window, what was
 * lost. A line in text, a member "recording" in JSON, in JSON Lines a line with it.
 */
void tap_pass_begin(struct tap_pass *p, struct tap_report *r, enum tap_style style);

enum tap_style tap_pass_style(const struct tap_pass *p);

bool tap_pass_picks(struct tap_pass *p, const struct tap_task *task); /* tap_pass_task()'s */
/* How many rows to show: -n, or where it is -1 (not given) @in_text, and all in JSON and CSV. */
unsigned int tap_pass_top(const struct tap_pass *p, int64_t n, unsigned int in_text);
/* Text: a line that says how many of @nr ("task", "pair") are not shown. */
void tap_pass_more(struct tap_report *r, const char *what, size_t nr, unsigned int top);

/* -p -t -c -g: whether the report shows this task. Cheap: the answer is kept per task. */
static inline bool tap_pass_task(struct tap_pass *p, const struct tap_task *task)
{
	return p->all_tasks || tap_pass_picks(p, task);
}

/* -C */
static inline bool tap_pass_cpu(const struct tap_pass *p, int cpu)
{
	return !p->opts->pick.cpus || (cpu >= 0 && tap_cpus_has(&p->pick.cpus, (unsigned int)cpu));
}

/*
 * "comm [tid/tgid]", "comm [tid]" where it is the leader or that is not known, with a "*" behind it
 * for the recorder's own, and with .mark_throttling a "~" for a task that may be throttled;
 * escaped. Borrowed until the task's name changes.
 */
const char *tap_pass_label(struct tap_pass *p, const struct tap_task *task, uint32_t *len);
/*
 * Who a task is, in the four cells that every table has: a label for text, and three that are not.
 * @prefix: of the keys, for a second task in a row.
 */
#define TAP_PASS_WHO_COLUMNS(prefix, title, w)                                                     \
	{ NULL, title, TAP_CELL_LABEL, .width = w }, { prefix "tid", NULL, TAP_CELL_INT },         \
		{ prefix "tgid", NULL, TAP_CELL_INT }, { prefix "comm", NULL, TAP_CELL_TEXT }
void tap_pass_who(struct tap_pass *p, struct tap_table *t, const struct tap_task *task);
/* The same as members of an object in JSON. */
void tap_pass_who_json(struct tap_pass *p, struct tap_report *r, const struct tap_task *task);
/* As events tell, else as the recording's list has it. Return: -1: not known. */
int tap_pass_tgid(struct tap_pass *p, const struct tap_task *task);
/* Where its last event was, else as the recording's own table has it; 0: not known. */
uint64_t tap_pass_cgroup_id(struct tap_pass *p, const struct tap_task *task);
/* Whether its cgroup has a CPU quota. Return: 1 or 0; -1: not known. */
int tap_pass_throttles(struct tap_pass *p, const struct tap_task *task);
/* The same as a cell of the column "throttling_possible". @task: NULL: none. */
void tap_pass_put_throttling(struct tap_pass *p, struct tap_table *t, const struct tap_task *task);
#define TAP_PASS_THROTTLING { "throttling_possible", NULL, TAP_CELL_COUNT }
/* Text: what "~" means, if it was shown. */
void tap_pass_note_throttling(const struct tap_pass *p, struct tap_report *r);
/* Text: a line that says what else is sleep, where no wakeups were recorded. */
void tap_pass_note_sleep(const struct tap_pass *p, struct tap_report *r);
/* The path of the task's cgroup, or NULL. */
const char *tap_pass_cgroup(struct tap_pass *p, const struct tap_task *task);

#endif
