// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/top/now.h"

#include <math.h>
#include <stdlib.h>

#define FIRST_BUCKET_NS (1e9 / (1 << 20)) /* upper limit of a task's first bucket */

void tap_now_release(struct tap_now *now)
{
	free(now->culprits);
	free(now->cpus);
	free(now->cgroups);
	free(now->tasks);
}

/* Waits are taken to be spread evenly on a logarithmic scale within a bucket. */
uint64_t tap_now_task_quantile(const struct tap_tally_task_waits *w, double part)
{
	double count = 0, before = 0, rank;

	for (unsigned int i = 0; i < TAP_TALLY_TASK_BUCKETS; i++)
		count += w->buckets[i];
	rank = part * count;
	for (unsigned int i = 0; i < TAP_TALLY_TASK_BUCKETS; i++) {
		double here = w->buckets[i], ns;

		if (!w->buckets[i] || before + here < rank) {
			before += here;
			continue;
		}
		ns = FIRST_BUCKET_NS * exp2(i - 1 + (rank - before) / here);
		return ns < (double)w->max_wait_ns ? (uint64_t)ns : w->max_wait_ns;
	}
	return 0;
}
