// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calculate: the statistics of lines on stdin, for tests/stats/scipy.t to compare:
 *
 *   two A... / B...       p, shift, its interval, A's median and its interval
 *   adjust P...           the adjusted ones
 *   quantiles PART BLOCK... / BLOCK...   the interval of the difference; a BLOCK is values with
 * commas between
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/stats/adjust.h"
#include "base/stats/bootstrap.h"
#include "base/stats/median.h"
#include "base/stats/rank_sum.h"
#include "base/stats/shift.h"

#define MAX 4096

struct words {
	char *v[MAX];
	unsigned int nr;
};

/* Up to a '/' or the line's end. */
static char *take_words(char *line, struct words *w)
{
	char *save = line;

	for (w->nr = 0; (w->v[w->nr] = strtok_r(NULL, " \n", &save)) && strcmp(w->v[w->nr], "/") &&
			w->nr < MAX - 1;
	     w->nr++)
		;
	return save;
}

static unsigned int take_numbers(const struct words *w, double *v)
{
	for (unsigned int i = 0; i < w->nr; i++)
		v[i] = strtod(w->v[i], NULL);
	return w->nr;
}

static void two(char *line)
{
	static struct words words;
	double a[MAX], b[MAX], p, shift;
	struct tap_confidence of_shift, of_median;
	unsigned int nr_a, nr_b;

	line = take_words(line, &words);
	nr_a = take_numbers(&words, a);
	take_words(line, &words);
	nr_b = take_numbers(&words, b);
	if (tap_rank_sum_p(a, nr_a, b, nr_b, &p) || tap_shift(a, nr_a, b, nr_b, &shift, &of_shift))
		abort();
	tap_stats_sort(a, nr_a);
	of_median = tap_median_interval(a, nr_a);
	printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", p, shift, of_shift.low, of_shift.high,
	       tap_median(a, nr_a), of_median.low, of_median.high);
}

static void adjust(char *line)
{
	static struct words words;
	double p[MAX];
	unsigned int nr;

	take_words(line, &words);
	nr = take_numbers(&words, p);
	if (tap_adjust_p(p, nr))
		abort();
	for (unsigned int i = 0; i < nr; i++)
		printf("%.17g%s", p[i], i + 1 < nr ? " " : "\n");
}

static struct tap_blocks take_blocks(const struct words *w, unsigned int from,
				     struct tap_hist *hists)
{
	for (unsigned int i = from; i < w->nr; i++) {
		hists[i - from] = (struct tap_hist)TAP_HIST_INIT;
		for (char *save, *v = strtok_r(w->v[i], ",", &save); v;
		     v = strtok_r(NULL, ",", &save))
			if (tap_hist_add(&hists[i - from], strtoull(v, NULL, 10)))
				abort();
	}
	return (struct tap_blocks){ hists, w->nr - from };
}

static void quantiles(char *line)
{
	static struct words a, b;
	static struct tap_hist hists[2][MAX];
	struct tap_confidence interval;
	double part;

	take_words(take_words(line, &a), &b);
	part = strtod(a.v[0], NULL);
	if (tap_bootstrap_quantiles(take_blocks(&a, 1, hists[0]), take_blocks(&b, 0, hists[1]),
				    &part, 1, &interval))
		abort();
	printf("%.17g %.17g\n", interval.low, interval.high);
	for (unsigned int side = 0; side < 2; side++)
		for (unsigned int i = 0; i < MAX; i++)
			tap_hist_release(&hists[side][i]);
}

int main(void)
{
	static char line[1 << 20];

	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line + strcspn(line, " ");

		*rest++ = '\0';
		if (!strcmp(line, "two"))
			two(rest);
		else if (!strcmp(line, "adjust"))
			adjust(rest);
		else
			quantiles(rest);
	}
	return 0;
}
