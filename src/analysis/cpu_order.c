// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/cpu_order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int tap_cpu_order_set(struct tap_cpu_order *o, unsigned int cpu, uint64_t ns)
{
	struct tap_cpu_place *at = tap_array_at(&o->places, &o->nr, cpu + 1, sizeof(*at), NULL);
	struct tap_cpu_place *all = o->places;
	unsigned int older;

	if (!at)
		return -ENOMEM;
	if (at->used) {
		all[at->older].newer = at->newer;
		all[at->newer].older = at->older;
	}
	for (older = all[0].older; older && all[older].ns > ns;)
		older = all[older].older;
	*at = (struct tap_cpu_place){
		.ns = ns,
		.older = older,
		.newer = all[older].newer,
		.used = true,
	};
	all[at->newer].older = cpu + 1;
	all[older].newer = cpu + 1;
	return 0;
}

void tap_cpu_order_release(struct tap_cpu_order *o)
{
	free(o->places);
}
