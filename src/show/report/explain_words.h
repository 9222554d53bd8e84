/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sentences of `schedtap explain`, each appended to @b, and components of waits as JSON members. */
#ifndef TAP_REPORT_EXPLAIN_WORDS_H
#define TAP_REPORT_EXPLAIN_WORDS_H

#include "timeline/run/run.h"
#include "analysis/explain/explain.h"
#include "analysis/explain/sleeps.h"
#include "show/out/page.h"

/*
 * Append the components of one wait, or of several: ": 14.200 ms cc1plus [4410] ran, 9.300 ms its
 * CPU was idle, 1.000 ms 12 others".
 */
void tap_explain_pieces_words(struct tap_run *run, const struct tap_piece *pieces, unsigned int nr,
			      struct tap_buf *b);
/* Write one component's members, for programs. */
void tap_explain_piece_members(struct tap_run *run, const struct tap_piece *piece,
			       struct tap_page *p);
/* Append " schedtap COMMAND -i FILE", with an -i for each file, quoted for a shell. */
void tap_explain_command_words(const char *command, const struct tap_strings *files,
			       struct tap_buf *b);

/* A task that did not wait for a CPU at the requested time, and its state. */
struct tap_explained_apart {
	const struct tap_task *task;
	enum tap_state state;
	uint64_t from_ns, to_ns;
	struct tap_stack_pair stack; /* for a sleeping task: its stack as it left its CPU */
};

/*
 * Append "nginx [812] waited 35.500 ms until 12.345678901 on CPU 0, preempted: 14.200 ms cc1plus
 * [4410] ran, .... Verdict: contention."
 */
void tap_explain_wait_words(struct tap_run *run, const struct tap_explained_wait *w,
			    struct tap_buf *b);
/*
 * Append "At 12.345678901 12 tasks waited for a CPU, preempted, verdict contention. The longest
 * wait: ". That wait's sentence follows.
 */
void tap_explain_waits_words(struct tap_run *run, const struct tap_explained_wait *longest,
			     unsigned int nr, uint64_t at_ns, struct tap_buf *b);
/*
 * Append "At 12.345678901 nginx [812] was blocked, from 12.300000000 on for 50.000 ms: io_schedule
 * <- .... Verdict: not the scheduler." For several tasks: "At 12.345678901 40 tasks were blocked,
 * the longest nginx [812] from 12.300000000 on for ...". @nr: number of tasks in the same state; @a
 * is the one that was in it longest. @stacks: NULL if no stacks were recorded; also in the
 * functions below.
 */
void tap_explain_apart_words(struct tap_run *run, const struct tap_explained_apart *a,
			     unsigned int nr, uint64_t at_ns, const struct tap_event_stacks *stacks,
			     struct tap_buf *b);
/*
 * Append "nginx [812] was blocked 14 times for 120.000 ms, at most 50.000 ms from 12.300000000 on:
 * io_schedule <- .... Verdict: ..."
 */
void tap_explain_sleep_words(struct tap_run *run, const struct tap_sleep *s,
			     const struct tap_event_stacks *stacks, struct tap_buf *b);
/*
 * Append how the time of the selected tasks was spent: "Of 5.000 s these 2 tasks ran for 12.0 %,
 * waited ...".
 */
void tap_explain_share_words(struct tap_run *run, struct tap_buf *b);
/*
 * Append commands that investigate further, one per line, quoted for a shell. @files: the
 * recording.
 */
void tap_explain_next_words(struct tap_run *run, const struct tap_explain *e,
			    const struct tap_strings *files, struct tap_buf *b);

#endif
