/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compare the metrics of a set of recordings, A, with those of another set, B. The sample is the
 * recording: events within a recording depend on each other, so tests on single events nearly
 * always find a difference. No value is dropped as an outlier.
 */
#ifndef TAP_COMPARE_COMPARE_H
#define TAP_COMPARE_COMPARE_H

#include "base/stats/confidence.h"
#include "analysis/metric/metrics.h"

/* Recordings that each side needs for a verdict: with fewer, p cannot be as low as 0.05. */
#define TAP_COMPARE_MIN 4u

enum tap_compare_verdict {
	TAP_COMPARE_UNCLEAR,
	TAP_COMPARE_SAME, /* the shift's interval lies within the least effect */
	TAP_COMPARE_CHANGED, /* it lies beyond, and the metric has no better direction */
	TAP_COMPARE_BETTER,
	TAP_COMPARE_WORSE,
};

const char *tap_compare_verdict_name(enum tap_compare_verdict verdict);

struct tap_compared_side {
	double *v; /* owned; one value per recording, sorted */
	unsigned int nr;
	double median;
	struct tap_confidence interval; /* of the median */
};

struct tap_compared {
	const char *name; /* borrowed from the metrics */
	enum tap_metric_unit unit;
	enum tap_metric_better better;
	struct tap_compared_side a, b;
	double shift; /* B minus A */
	struct tap_confidence interval; /* of the shift */
	double shift_pct; /* in % of A's median; NAN if that is 0 */
	double p, p_adjusted; /* NAN: too few recordings */
	enum tap_compare_verdict verdict;
	/*
	 * If unclear: the approximate number of further recordings per side that would give a
	 * verdict, if they are like these; 0: cannot be estimated.
	 */
	unsigned int more;
};

struct tap_compare_opts {
	double min_effect; /* least effect that matters, as a fraction of A's median */
	/* the window is the duration of the measured work, so shorter is better */
	bool window_is_cost;
	bool (*want)(void *ctx, const char *name); /* selects metrics by name; NULL: all */
	void *ctx;
};

/* The wanted metrics that every recording has, except those that are 0 in all recordings. */
struct tap_comparison {
	struct tap_compared *v; /* owned */
	unsigned int nr, cap;
	unsigned int nr_partial; /* wanted metrics that some recording lacks */
	const char *partial; /* one of these; borrowed from the metrics */
	/*
	 * The number of recordings per side with which a difference in a single metric could be
	 * significant, whatever the other metrics do.
	 */
	unsigned int needs;
};

/*
 * @a, @b: one per recording; neither side is empty. Return: 0 or -ENOMEM; the caller releases @out
 * in either case.
 */
int tap_compare(const struct tap_metrics *const *a, unsigned int nr_a,
		const struct tap_metrics *const *b, unsigned int nr_b,
		const struct tap_compare_opts *opts, struct tap_comparison *out);
void tap_comparison_release(struct tap_comparison *c);

#endif
