// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/top/past.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void tap_top_past_note(struct tap_top_past *p, uint64_t nr, uint64_t ns)
{
	p->ns[nr % TAP_TOP_PAST] = ns;
	p->at[nr % TAP_TOP_PAST] = nr + 1;
}

uint64_t tap_top_past_at(const struct tap_top_past *p, uint64_t nr)
{
	return p->at[nr % TAP_TOP_PAST] == nr + 1 ? p->ns[nr % TAP_TOP_PAST] : TAP_NOW_UNKNOWN;
}

int tap_top_pasts_note(struct tap_top_pasts *p, const struct tap_now *now, uint64_t nr)
{
	tap_top_past_note(&p->p99, nr, now->all.p99_ns);
	for (unsigned int i = 0; i < now->nr_cpus; i++) {
		struct tap_top_past *cpu =
			tap_array_at(&p->cpus, &p->nr_cpus, now->cpus[i].cpu, sizeof(*cpu), NULL);

		if (!cpu)
			return -ENOMEM;
		tap_top_past_note(cpu, nr, now->cpus[i].max_wait_ns);
	}
	return 0;
}

void tap_top_pasts_release(struct tap_top_pasts *p)
{
	free(p->cpus);
}
