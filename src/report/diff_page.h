/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of a comparison: what it is made of (diff.c), and how it is shown. */
#ifndef TAP_REPORT_DIFF_PAGE_H
#define TAP_REPORT_DIFF_PAGE_H

#include "compare/compare.h"
#include "report/diff.h"
#include "report/measured.h"

#define TAP_DIFF_PARTS 4u /* quantiles */

/* One recording against one: a quantile of waits in both. */
struct tap_diff_within {
	char name[32]; /* the metric's */
	double a, b;
	struct tap_interval interval; /* of the difference */
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

/* Return: 0; -errno with a sentence. */
int tap_diff_show(struct tap_diff *d, const struct tap_screen *to, struct tap_err *err);

#endif
