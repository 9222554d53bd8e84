/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `schedtap explain` says in sentences, which add to @b, and of pieces as members. */
#ifndef TAP_REPORT_EXPLAIN_WORDS_H
#define TAP_REPORT_EXPLAIN_WORDS_H

#include "timeline/run/run.h"
#include "analysis/explain/explain.h"
#include "analysis/explain/sleeps.h"
#include "show/out/page.h"

/* ": 14.200 ms cc1plus [4410] ran, 9.300 ms its CPU was idle, 1.000 ms 12 others": those of one
 * wait, or of some. */
void tap_explain_pieces_words(struct tap_run *run, const struct tap_piece *pieces, unsigned int nr,
			      struct tap_buf *b);
/* One of them, for programs. */
void tap_explain_piece_members(struct tap_run *run, const struct tap_piece *piece,
			       struct tap_page *p);
/* "  schedtap COMMAND -i FILE", for each file, as a shell takes it. */
void tap_explain_command_words(const char *command, const struct tap_strings *files,
			       struct tap_buf *b);

/* What a task did at the time that was asked for, other than wait for a CPU. */
struct tap_explained_apart {
	const struct tap_task *task;
	enum tap_state state;
	uint64_t from_ns, to_ns;
	struct tap_stack_pair stack; /* asleep: with which it left its CPU */
};

/* "nginx [812] waited 35.500 ms until 12.345678901 on CPU 0, preempted: 14.200 ms cc1plus [4410]
 * ran, .... Verdict: contention." */
void tap_explain_wait_words(struct tap_run *run, const struct tap_explained_wait *w,
			    struct tap_buf *b);
/* "At 12.345678901 12 tasks waited for a CPU, preempted, verdict contention. The longest wait: ",
 * before that wait's sentence. */
void tap_explain_waits_words(struct tap_run *run, const struct tap_explained_wait *longest,
			     unsigned int nr, uint64_t at_ns, struct tap_buf *b);
/*
 * "At 12.345678901 nginx [812] was blocked, from 12.300000000 on for 50.000 ms: io_schedule <- ....
 * Verdict: not the scheduler." For several tasks: "At 12.345678901 40 tasks were blocked, the
 * longest nginx [812] from 12.300000000 on for ...".
 * @nr: tasks that did the same, of which @a did it longest. @stacks: NULL: none were recorded; here
 * and below.
 */
void tap_explain_apart_words(struct tap_run *run, const struct tap_explained_apart *a,
			     unsigned int nr, uint64_t at_ns, const struct tap_event_stacks *stacks,
			     struct tap_buf *b);
/* "nginx [812] was blocked 14 times for 120.000 ms, at most 50.000 ms from 12.300000000 on:
 * io_schedule <- .... Verdict: ..." */
void tap_explain_sleep_words(struct tap_run *run, const struct tap_sleep *s,
			     const struct tap_event_stacks *stacks, struct tap_buf *b);
/* Where the time went of all tasks that the options pick: "Of 5.000 s these 2 tasks ran for 12.0 %,
 * waited ...". */
void tap_explain_share_words(struct tap_run *run, struct tap_buf *b);
/* Commands that go on from here, a line each, as a shell takes them. @files: the recording. */
void tap_explain_next_words(struct tap_run *run, const struct tap_explain *e,
			    const struct tap_strings *files, struct tap_buf *b);

#endif
