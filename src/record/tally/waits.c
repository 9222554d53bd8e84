// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tally/waits.h"

#include <math.h>

const char *const tap_wait_kinds[TAP_TALLY_KINDS] = { "waking", "preempted", "throttled" };
const char *const tap_migration_scopes[TAP_TALLY_SCOPES] = { "llc", "node", "system" };

void tap_waits_add(struct tap_waits *w, const struct tap_tally_row *row, enum tap_tally_kind kind)
{
	w->sum_ns += row->wait_ns[kind];
	for (unsigned int i = 0; i < TAP_TALLY_BUCKETS; i++) {
		w->buckets[i] += row->buckets[kind][i];
		w->count += row->buckets[kind][i];
	}
}

uint64_t tap_waits_quantile(const struct tap_waits *w, double part)
{
	double rank = part * (double)w->count, before = 0, octaves;

	for (unsigned int i = 0; i < TAP_TALLY_BUCKETS; i++) {
		double here = (double)w->buckets[i];

		if (!w->buckets[i] || before + here < rank) {
			before += here;
			continue;
		}
		if (!i)
			return 0;
		octaves = (i - 1 + (rank - before) / here) / TAP_TALLY_SUB_BUCKETS;
		return (uint64_t)(1e9 * exp2(octaves + TAP_TALLY_FIRST_OCTAVE));
	}
	return 0;
}
