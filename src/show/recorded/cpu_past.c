// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/recorded/cpu_past.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void tap_cpu_past_release(struct tap_cpu_past *p)
{
	free(p->slices);
	*p = (struct tap_cpu_past){ 0 };
}

static uint64_t end_ns(const struct tap_cpu_past *p)
{
	return p->nr ? p->slices[p->nr - 1].end_ns : p->from_ns;
}

static int extend(struct tap_cpu_past *p, uint64_t to_ns, uint32_t slot)
{
	if (!p->nr || p->slices[p->nr - 1].slot != slot) {
		if (tap_array_grow(&p->slices, p->nr, &p->cap, sizeof(*p->slices)))
			return -ENOMEM;
		p->slices[p->nr++].slot = slot;
	}
	p->slices[p->nr - 1].end_ns = to_ns;
	return 0;
}

int tap_cpu_past_add(struct tap_cpu_past *p, uint64_t from_ns, uint64_t to_ns, uint32_t slot)
{
	if (!p->nr)
		p->from_ns = from_ns;
	if (from_ns > end_ns(p) && extend(p, from_ns, TAP_TALLY_NO_SLOT))
		return -ENOMEM;
	return to_ns > end_ns(p) ? extend(p, to_ns, slot) : 0;
}

int tap_cpu_past_split(const struct tap_cpu_past *p, uint64_t from_ns, uint64_t to_ns,
		       int (*part)(void *ctx, uint32_t slot, uint64_t ns), void *ctx)
{
	const uint64_t last_ns = end_ns(p) > from_ns ? end_ns(p) : from_ns;
	int ret = 0;

	if (last_ns < to_ns) {
		ret = part(ctx, TAP_TALLY_NO_SLOT, to_ns - last_ns);
		to_ns = last_ns;
	}
	for (unsigned int i = p->nr; !ret && i && to_ns > from_ns; i--) {
		uint64_t begin_ns = i > 1 ? p->slices[i - 2].end_ns : p->from_ns;

		if (begin_ns < from_ns)
			begin_ns = from_ns;
		if (begin_ns >= to_ns)
			continue;
		ret = part(ctx, (uint32_t)p->slices[i - 1].slot, to_ns - begin_ns);
		to_ns = begin_ns;
	}
	return ret || to_ns <= from_ns ? ret : part(ctx, TAP_TALLY_NO_SLOT, to_ns - from_ns);
}
