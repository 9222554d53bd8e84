/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The results for programs, and what both forms share. */
#ifndef TAP_BENCH_JSON_H
#define TAP_BENCH_JSON_H

#include "show/bench/bench.h"
#include "show/bench/file.h"

void tap_bench_put_json(const struct tap_bench *b, const struct tap_bench_sum *s,
			struct tap_page *p);

enum tap_bench_hist { TAP_BENCH_REQUEST, TAP_BENCH_WAKEUP, TAP_BENCH_WAITS };
/* Return a round's histogram, which may be empty. */
const struct tap_hist *tap_bench_hist(const struct tap_bench_round *r, enum tap_bench_hist which);
/* Return a round's operations per second. */
double tap_bench_rate(const struct tap_load_result *l);
/*
 * Find the least and the greatest share of a hog in these rounds, in percent of an equal share.
 * Without hogs, @least is above @greatest.
 */
void tap_bench_share_range(const struct tap_bench_round *rounds, unsigned int nr, double *least,
			   double *greatest);
/* Return a hog's CPU time in percent of an equal share. */
double tap_bench_share_pct(const struct tap_load_result *l, unsigned int hog);

#endif
