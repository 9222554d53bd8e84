// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "show/top/top.h"

static uint64_t take(struct tap_top_culprit *c, const char *name, uint64_t ns)
{
	c->name = name;
	c->ns += ns;
	return ns;
}

static int by_ns(const void *a, const void *b)
{
	const struct tap_top_culprit *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->name ?: "", y->name ?: "");
}

enum { OWN, IDLE, KERNEL, OTHER, ELSEWHERE, NR_FIXED };

/* @all: NR_FIXED entries, then one for each slot. */
static void add_row(struct tap_top_culprit *all, const struct tap_tally_view *view,
		    const struct tap_tally_row *row)
{
	take(&all[OWN], "own cgroup", row->self_ns);
	take(&all[IDLE], "idle CPU", row->idle_ns);
	take(&all[KERNEL], "kernel threads", row->kernel_ns);
	take(&all[OTHER], "other cgroups", row->other_ns);
	take(&all[ELSEWHERE], "elsewhere", row->elsewhere_ns);
	for (unsigned int i = 0; i < TAP_TALLY_CULPRITS; i++) {
		const struct tap_tally_culprit *c = &row->culprits[i];

		if (c->ns && c->slot < view->nr_slots)
			take(&all[NR_FIXED + c->slot], view->names[c->slot] ?: "(removed)", c->ns);
	}
}

unsigned int tap_top_culprits(const struct tap_tally_view *view, const struct tap_tally_row *row,
			      struct tap_top_culprit **list)
{
	unsigned int max = NR_FIXED + view->nr_slots, nr = 0;
	struct tap_top_culprit *all = calloc(max, sizeof(*all));

	*list = all;
	if (!all)
		return 0;
	if (row)
		add_row(all, view, row);
	for (unsigned int i = 0; !row && i < view->nr_slots; i++)
		add_row(all, view, &view->rows[i]);
	qsort(all, max, sizeof(*all), by_ns);
	while (nr < max && all[nr].ns)
		nr++;
	return nr;
}
