/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `schedtap ab 'SET-UP A' 'SET-UP B' -- schedtap bench ...`: each run is a set-up, and then a bench
 * in the same shell, so that the set-up can also change the shell's own limits, priority or cgroup.
 * bench records itself, so ab does not.
 */
#ifndef TAP_CLI_AB_BENCH_H
#define TAP_CLI_AB_BENCH_H

#include <schedtap/err.h>

struct tap_ab_bench {
	char *const *words; /* borrowed: "schedtap", "bench", "messages", ..., NULL */
	unsigned long long products; /* work of all runs, from the first one's JSON; 0: not known */
};

/* Return: 0 if the words are those of a bench; -EINVAL with a sentence. */
int tap_ab_bench_check(char *const *words, struct tap_err *err);
/*
 * Become a run of bench, in a child: its JSON goes to @file, its messages to @log, and exec resets
 * signal handlers. Exits on failure.
 */
_Noreturn void tap_ab_bench_become(const struct tap_ab_bench *b, const char *set_up,
				   const char *file, int log);
/*
 * Take the work of a request from a run's JSON, so that later runs do equal work: each would
 * measure anew how much work takes 30 us. Return: 0; -errno with a sentence.
 */
int tap_ab_bench_take_work(struct tap_ab_bench *b, const char *file, struct tap_err *err);

#endif
