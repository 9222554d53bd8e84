/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of `schedtap bench`, and the load that they choose. */
#ifndef TAP_CLI_BENCH_OPTIONS_H
#define TAP_CLI_BENCH_OPTIONS_H

#include "base/opt.h"
#include "show/bench/bench.h"

struct tap_bench_opts {
	const struct tap_style *style; /* NULL: text */
	const char *scheduler, *like, *output;
	uint64_t duration_ns, warm_up_ns, work_ns; /* UINT64_MAX: not given */
	int64_t rounds, threads, messengers, products; /* 0: not given */
	bool no_record;
};

#define TAP_BENCH_MAX_ROUNDS 1000u

extern const struct tap_opt tap_bench_options[];
extern const struct tap_bench_opts tap_bench_defaults;

/*
 * Check the options, and set the load in @b, all of which was zero. A load with work is calibrated,
 * which takes some ms. Return: 0; -EINVAL with a sentence.
 */
int tap_bench_choose(struct tap_bench *b, const struct tap_bench_opts *o,
		     const struct tap_strings *operands, enum tap_bench_like *like,
		     struct tap_err *err);

#endif
