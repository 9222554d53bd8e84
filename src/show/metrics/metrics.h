/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The metrics of `schedtap serve`: docs/metrics.md lists them. */
#ifndef TAP_SHOW_METRICS_METRICS_H
#define TAP_SHOW_METRICS_METRICS_H

#include "show/metrics/totals.h"
#include "show/metrics/writer.h"

/* Numbers of schedtap itself, since it began. */
struct tap_metrics_own {
	bool from_waking; /* waits begin at the waking */
	bool has_probe_ns; /* false: this user may not measure BPF programs */
	uint64_t probe_ns,
		cpu_ns; /* CPU time: of the BPF program, estimated, and of this process */
	uint64_t lost; /* switches for which the kernel did not run the BPF program */
	uint64_t folded; /* cgroups that count with an ancestor, because there was no place */
	uint64_t dropped; /* series that were left out, because there were too many */
	int64_t start_ns; /* when it began, ns since 1970 */
};

/*
 * Write all metrics. At most @max_series series of cgroups; those left out are added to
 * @own->dropped.
 */
void tap_metrics_write(struct tap_metrics_writer *w, const struct tap_totals *totals,
		       struct tap_metrics_own *own, unsigned int max_series);

#endif
