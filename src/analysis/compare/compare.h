/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The metrics of some recordings, A, against those of others, B. The unit is the recording: what
 * happens within one hangs together, so that tests on single events find a difference nearly
 * always. No value is left out as an outlier.
 */
#ifndef TAP_COMPARE_COMPARE_H
#define TAP_COMPARE_COMPARE_H

#include "base/stats/confidence.h"
#include "analysis/metric/metrics.h"

/* So many recordings each side must have for a verdict: with fewer, no p is as low as 0.05. */
#define TAP_COMPARE_MIN 4u

enum tap_compare_verdict {
	TAP_COMPARE_UNCLEAR,
	TAP_COMPARE_SAME, /* the shift's interval lies within the least effect */
	TAP_COMPARE_CHANGED, /* it lies beyond, and of this metric nobody says which is better */
	TAP_COMPARE_BETTER,
	TAP_COMPARE_WORSE,
};

const char *tap_compare_verdict_name(enum tap_compare_verdict verdict);

struct tap_compared_side {
	double *v; /* owned; of each recording, sorted */
	unsigned int nr;
	double median;
	struct tap_confidence interval; /* of the median */
};

struct tap_compared {
	const char *name; /* borrowed from the metrics */
	enum tap_metric_unit unit;
	enum tap_metric_better better;
	struct tap_compared_side a, b;
	double shift; /* of B above A */
	struct tap_confidence interval; /* of the shift */
	double shift_pct; /* of A's median; NAN where that is 0 */
	double p, p_adjusted; /* NAN: too few recordings */
	enum tap_compare_verdict verdict;
	/* Unclear: about how many recordings more on each side would tell, if they are as these; 0:
	 * there is no telling. */
	unsigned int more;
};

struct tap_compare_opts {
	double min_effect; /* what matters, as a part of A's median */
	bool window_is_cost; /* a recording is as long as what was to be done took */
	bool (*want)(void *ctx, const char *name); /* NULL: all metrics */
	void *ctx;
};

/* All metrics that are wanted and that every recording has, but those that are 0 in all of them. */
struct tap_comparison {
	struct tap_compared *v; /* owned */
	unsigned int nr, cap;
	unsigned int nr_partial; /* wanted, and not in every recording */
	const char *partial; /* one of these; borrowed from the metrics */
	/* With how many recordings a side a difference in one of the metrics alone could be told,
	 * whatever the others do. */
	unsigned int needs;
};

/* @a, @b: of each recording; there are some on both sides. Return: 0 or -ENOMEM; release in either
 * case. */
int tap_compare(const struct tap_metrics *const *a, unsigned int nr_a,
		const struct tap_metrics *const *b, unsigned int nr_b,
		const struct tap_compare_opts *opts, struct tap_comparison *out);
void tap_comparison_release(struct tap_comparison *c);

#endif
