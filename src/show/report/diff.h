/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Some recordings against others (analysis/compare/compare.h), read and shown. */
#ifndef TAP_REPORT_DIFF_H
#define TAP_REPORT_DIFF_H

#include "analysis/compare/compare.h"
#include "show/report/measured.h"
#include "show/report/report.h"

/* As typed. The options structs of commands that compare begin with it. */
struct tap_diff_opts {
	struct tap_input_opts input; /* but .input */
	struct tap_strings metrics;
	const char *by, *between, *min_effect;
	bool wide;
};

/* Rows in the table of such a command, and what .min_effect is then. */
extern const struct tap_opt tap_diff_options[];
#define TAP_DIFF_MIN_EFFECT "2%"

struct tap_diff_sides {
	const char *const *a, *const *b; /* paths */
	unsigned int nr_a, nr_b;
	bool window_is_cost; /* as of struct tap_compare_opts */
};

/* What can be said of the options without recordings. Return: 0; -EINVAL. */
int tap_diff_check(const struct tap_diff_opts *opts, struct tap_err *err);
/* Return: 0; -errno with a sentence: @usage says whether the options are to blame. */
int tap_diff_run(const struct tap_diff_opts *opts, const struct tap_diff_sides *sides,
		 const struct tap_screen *screen, bool *usage, struct tap_err *err);

/* ---- inside ---- */

#define TAP_DIFF_PARTS 4u /* quantiles */

/* One recording against one: a quantile of waits in both. */
struct tap_diff_within {
	char name[32]; /* the metric's */
	double a, b;
	struct tap_confidence interval; /* of the difference */
};

struct tap_diff {
	const struct tap_diff_opts *opts;
	const struct tap_diff_sides *sides;
	struct tap_measured *measured; /* owned; A's, then B's */
	struct tap_comparison comparison;
	struct tap_diff_within within[TAP_NR_MEASURED * TAP_DIFF_PARTS];
	unsigned int nr_within;
	double min_effect;
	struct tap_buf warnings; /* one a line */
	struct tap_page page;
};

/* diff_page.c: shows it. Return: 0; -errno with a sentence. */
int tap_diff_show(struct tap_diff *d, const struct tap_screen *to, struct tap_err *err);

#endif
