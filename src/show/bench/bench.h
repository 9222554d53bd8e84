/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The results of `schedtap bench`: what a load measured itself, what a recording of it says, and
 * how both are printed.
 */
#ifndef TAP_SHOW_BENCH_H
#define TAP_SHOW_BENCH_H

#include <sys/utsname.h>

#include "record/kernel/settings.h"
#include "record/load/load.h"
#include "timeline/run/recording.h"
#include "analysis/explain/above.h"
#include "show/bench/machine.h"
#include "show/out/page.h"

/* The percentiles above which waits are explained. */
#define TAP_BENCH_ABOVE 2u
extern const struct tap_bench_percentile {
	const char *key, *title; /* "p99", "p99.9" */
	double part;
} tap_bench_percentiles[TAP_BENCH_ABOVE];

/* What a recording of one round says about the measured time. All times in ns. */
struct tap_bench_recorded {
	/*
	 * the waits that the load is about: after wakeups; for yield and hog, of runnable tasks
	 */
	struct tap_hist waits;
	uint64_t lost; /* events */
	uint64_t censored; /* possibly long waits whose length is uncertain: not in .above */
	/* CPU time of the load, of schedtap, of other tasks; and of all CPUs, idle or not */
	uint64_t own_ns, recorder_ns, other_ns, cpus_ns;
	uint64_t switches, migrations; /* switches to tasks of the load; migrations of these */
	struct tap_above above[TAP_BENCH_ABOVE];
};

#define TAP_BENCH_RECORDED_INIT                                                                    \
	{                                                                                          \
		.waits = TAP_HIST_INIT                                                             \
	}

void tap_bench_recorded_release(struct tap_bench_recorded *r);
/*
 * Read the recording of a round. @recorder: the recorder's process. @r: TAP_BENCH_RECORDED_INIT;
 * the caller releases it in either case. Return: 0; -errno with a sentence.
 */
int tap_bench_read(const char *path, enum tap_load_kind kind, const struct tap_load_result *load,
		   pid_t recorder, const struct tap_listener *listener,
		   struct tap_bench_recorded *r, struct tap_err *err);

struct tap_bench_round {
	struct tap_load_result load;
	bool is_recorded;
	struct tap_bench_recorded recorded; /* if .is_recorded */
	struct tap_bench_machine before, after;
};

/* Return: the share of all CPUs' time that neither the load nor schedtap used, in percent. */
double tap_bench_others_pct(const struct tap_bench_round *r);

/* A finished benchmark. */
struct tap_bench {
	const char *name; /* "messages" */
	const char *unit; /* "requests" */
	struct tap_load_opts load;
	uint64_t work_ns; /* duration of .load's products; 0: given as a number of products */
	struct tap_settings settings;
	struct utsname kernel;
	struct tap_bench_round *rounds; /* owned */
	unsigned int nr_rounds;
	const char *kept; /* the file with the last round's recording; NULL: none */
};

/* The sum of all rounds. */
struct tap_bench_sum {
	struct tap_hist request, wakeup, rate, waits;
	uint64_t operations, lost, censored, switches, migrations;
	double seconds, others_pct;
	struct tap_bench_machine machine; /* changes, summed up; .khz as of the last round */
	struct tap_above above[TAP_BENCH_ABOVE];
	unsigned int nr_recorded; /* rounds that were recorded */
};

/* Return: 0 or -ENOMEM; the caller releases @s in either case. */
int tap_bench_sum(struct tap_bench_sum *s, const struct tap_bench *b);
void tap_bench_sum_release(struct tap_bench_sum *s);

/* Print the results in the page's style: text, or one JSON object. */
void tap_bench_put(const struct tap_bench *b, const struct tap_bench_sum *s, struct tap_page *p);

/* Other benchmarks whose lines can be printed too. */
enum tap_bench_like { TAP_LIKE_NONE, TAP_LIKE_SCHBENCH, TAP_LIKE_HACKBENCH };
void tap_bench_put_like(enum tap_bench_like like, const struct tap_bench *b,
			const struct tap_bench_sum *s, struct tap_buf *out);

#endif
