/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the numbers of `schedtap top` come from: the tally, /proc and the cgroups if the tally
 * cannot be used, or a recording.
 */
#ifndef TAP_CLI_TOP_SOURCE_H
#define TAP_CLI_TOP_SOURCE_H

#include "show/recorded/recorded.h"
#include "show/top/now.h"

struct tap_top_source_opts {
	uint64_t delay_ns; /* time between refreshes; of a recording, the length of each step */
	bool reads_tasks, from_waking;
};

struct tap_top_source {
	struct tap_top_source_opts o;
	struct tap_tally *tally; /* NULL: it could not be opened, or a recording */
	struct tap_err why; /* then: the reason */
	struct tap_accounts *accounts; /* then: what takes its place */
	struct tap_recorded *recorded; /* of a recording */
	struct tap_run run;
	struct tap_wall wall;
	struct tap_strings files;
	uint64_t bytes; /* size of all .files as they were opened */
	uint64_t own_ns; /* CPU time of this process at the last refresh */
	uint64_t sampled_ns, ns_per_switch; /* when the overhead was measured, and the result */
};

/* One refresh; valid until the next one. */
struct tap_top_reading {
	struct tap_tally_view tally; /* if .refresh.view is set */
	struct tap_accounts_view accounts;
	struct tap_top_refresh refresh;
	struct tap_top_accounts proc; /* if .refresh.view is NULL */
};

/* Open the machine. Return: 0; -errno with a sentence. Close in either case. */
int tap_top_source_live(struct tap_top_source *s, const struct tap_top_source_opts *o,
			struct tap_err *err);
/* Open a recording. @files: borrowed. @usage: the command line is wrong. */
int tap_top_source_recording(struct tap_top_source *s, const struct tap_top_source_opts *o,
			     const struct tap_strings *files, bool *usage, struct tap_err *err);
void tap_top_source_close(struct tap_top_source *s);

/*
 * Find the step of a recording that ends at or after a time. @at: as typed; NULL: the start.
 * Return: 0; -EINVAL with a sentence.
 */
int tap_top_source_find(struct tap_top_source *s, const char *at, uint64_t *step,
			struct tap_err *err);

/* Return: the number of steps of a recording, the last of which may be shorter. */
uint64_t tap_top_source_steps(const struct tap_top_source *s);

#define TAP_TOP_SAMPLE_NS 20000000u /* that tap_top_source_sample() takes */
/* Measure the overhead for 20 ms, if the time for it has come. Live only. */
void tap_top_source_sample(struct tap_top_source *s);
/*
 * Read the numbers since the last reading; of a recording those of the step that ends at @to_ns.
 * Return: 0; -errno with a sentence.
 */
int tap_top_source_read(struct tap_top_source *s, uint64_t to_ns, struct tap_top_reading *r,
			struct tap_err *err);

#endif
