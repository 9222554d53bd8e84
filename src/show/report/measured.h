/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read recordings as metrics (analysis/metric/measure.h), and bench's JSON. Each file is read once,
 * several in parallel.
 */
#ifndef TAP_REPORT_MEASURED_H
#define TAP_REPORT_MEASURED_H

#include "analysis/metric/measure.h"
#include "show/out/input.h"
#include "show/report/facts.h"

struct tap_measured {
	const char *path; /* borrowed; the caller sets it, and the rest to 0 */
	struct tap_facts facts;
	struct tap_metrics metrics; /* of a recording; empty for bench's JSON, which has .bench */
	struct tap_bench_file bench; /* .nr_rounds is 0 for a recording */
	struct tap_measure measure; /* kept only if opts.has_blocks, for the blocks */
	struct tap_buf notes; /* notes for the user, one per line */
	bool is_unmatched; /* the task options match no task of this recording */
};

struct tap_measured_opts {
	const struct tap_input_opts *input; /* selection options; .input is not used */
	bool by_task, has_blocks;
	bool has_bounds; /* also measure bounds (analysis/metric/bounds.h) */
	bool has_paths; /* also measure tasks' critical paths (analysis/metric/paths.h) */
	/*
	 * Also measure requests, as `schedtap critical --between` does. Already checked; or NULL.
	 */
	const char *between, *between_by;
};

/*
 * Return: 0; -EINVAL with a sentence if @opts need a recording, and bench's JSON, called @what,
 * would not do.
 */
int tap_measured_check_bench(const struct tap_measured_opts *opts, const char *what,
			     struct tap_err *err);
/*
 * Read @nr recordings or files of bench's JSON. Return: 0; -errno with the sentence of the first
 * failure: @usage says whether the options are to blame. Release each of @v in either case.
 */
int tap_measured_read(struct tap_measured *v, unsigned int nr, const struct tap_measured_opts *opts,
		      bool *usage, struct tap_err *err);
/* Return the metrics of all of a file: of a recording, or of all rounds of bench. */
const struct tap_metrics *tap_measured_all(const struct tap_measured *m);
void tap_measured_release(struct tap_measured *m);

#endif
