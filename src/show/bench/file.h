/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The JSON of `schedtap bench`, read back: figures of the run and of each of its rounds. The file
 * may come from anywhere, so its size, the memory of its values and each number are limited.
 */
#ifndef TAP_BENCH_FILE_H
#define TAP_BENCH_FILE_H

#include <jansson.h>

#include "analysis/metric/metrics.h"

/* Above this share of other processes the machine was not quiet. */
#define TAP_BENCH_QUIET_PCT 2.0

/* All zero: empty. */
struct tap_bench_file {
	const char *path; /* borrowed; the caller sets it */
	json_t *json; /* owned */
	struct tap_metrics all; /* of all rounds together */
	struct tap_metrics *rounds; /* owned */
	unsigned int nr_rounds;
	uint64_t lost; /* events */
};

/* Return true if the file looks like JSON: no recording begins as JSON does. */
bool tap_bench_is_file(const char *path);
/* Return: 0; -errno with a sentence. The caller releases @f in either case. */
int tap_bench_file_read(struct tap_bench_file *f, struct tap_err *err);
void tap_bench_file_release(struct tap_bench_file *f);

/*
 * Return: 0 if both ran the same load with the same options, other than the number of rounds;
 * -ENODATA with a sentence that says what differs.
 */
int tap_bench_file_compare(const struct tap_bench_file *a, const struct tap_bench_file *b,
			   struct tap_err *err);

/* Return the text or the number of "machine" with this key; NULL and -1: unknown. */
const char *tap_bench_file_text(const struct tap_bench_file *f, const char *key);
int64_t tap_bench_file_number(const struct tap_bench_file *f, const char *key);
/* Return the CPU time of other processes in percent of all CPUs' time; NAN: unknown. */
double tap_bench_file_others_pct(const struct tap_bench_file *f);
/* Return the number of matrix products of a request; 0: the load has none. */
uint64_t tap_bench_file_products(const struct tap_bench_file *f);

#endif
