/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Read two sets of recordings, compare them (analysis/compare/compare.h), and show the result. */
#ifndef TAP_REPORT_DIFF_H
#define TAP_REPORT_DIFF_H

#include "analysis/compare/compare.h"
#include "show/report/measured.h"
#include "show/report/report.h"

/* Options as typed. The options struct of a command that compares begins with this struct. */
struct tap_diff_opts {
	struct tap_input_opts input; /* common options; .input is not used */
	struct tap_strings metrics;
	const char *by, *between, *min_effect;
	bool wide;
};

/* Rows for such a command's table of options, and its default for .min_effect. */
extern const struct tap_opt tap_diff_options[];
#define TAP_DIFF_MIN_EFFECT "2%"

struct tap_diff_sides {
	const char *const *a, *const *b; /* paths of the recordings, or of bench's JSON */
	unsigned int nr_a, nr_b;
	bool window_is_cost; /* see struct tap_compare_opts */
};

/*
 * Check the options that can be checked before recordings or, if @is_bench, bench's JSON. Return:
 * 0; -EINVAL.
 */
int tap_diff_check(const struct tap_diff_opts *opts, bool is_bench, struct tap_err *err);
/*
 * Compare the recordings of both sides and show the result. Return: 0; -errno with a sentence:
 * @usage says whether the options are to blame.
 */
int tap_diff_run(const struct tap_diff_opts *opts, const struct tap_diff_sides *sides,
		 const struct tap_screen *screen, bool *usage, struct tap_err *err);

/* ---- private to diff.c and diff_page.c ---- */

#define TAP_DIFF_PARTS 4u /* number of quantiles compared per metric */

/* A quantile of waits in both recordings, if each side has only one. */
struct tap_diff_within {
	char name[32]; /* the metric's name */
	double a, b;
	struct tap_confidence interval; /* confidence interval of the difference */
};

struct tap_diff {
	const struct tap_diff_opts *opts;
	const struct tap_diff_sides *sides;
	struct tap_measured *measured; /* owned; side A's files, then side B's */
	/* what is compared: "recording", or "round" of bench's JSON; how many of each side */
	const char *sample;
	unsigned int nr_a, nr_b;
	struct tap_comparison comparison;
	struct tap_diff_within within[TAP_NR_MEASURED * TAP_DIFF_PARTS];
	unsigned int nr_within;
	double min_effect;
	struct tap_buf warnings; /* one per line */
	struct tap_page page;
};

/* Show the result (diff_page.c). Return: 0; -errno with a sentence. */
int tap_diff_show(struct tap_diff *d, const struct tap_screen *to, struct tap_err *err);

#endif
