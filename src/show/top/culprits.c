// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "show/top/top.h"

static void take(struct tap_top_culprit *c, const char *name, uint64_t ns)
{
	c->name = name;
	c->ns += ns;
}

static int by_ns(const void *a, const void *b)
{
	const struct tap_top_culprit *x = a, *y = b;

	return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : strcmp(x->name ?: "", y->name ?: "");
}

enum { OWN, IDLE, KERNEL, OTHER, ELSEWHERE, NR_FIXED };

/* Return: the first of a row's culprits with this slot. Two CPUs may have entered it at once. */
static unsigned int first_with(const struct tap_tally_row *row, uint64_t slot)
{
	unsigned int i = 0;

	while (row->culprits[i].slot != slot)
		i++;
	return i;
}

/* @all: NR_FIXED entries, then with @by_slot one for each slot, otherwise one for each culprit. */
static void add_row(struct tap_top_culprit *all, const struct tap_tally_view *view,
		    const struct tap_tally_row *row, bool by_slot)
{
	take(&all[OWN], "own cgroup", row->self_ns);
	take(&all[IDLE], "idle CPU", row->idle_ns);
	take(&all[KERNEL], "kernel threads", row->kernel_ns);
	take(&all[OTHER], "other cgroups", row->other_ns);
	take(&all[ELSEWHERE], "elsewhere", row->elsewhere_ns);
	for (unsigned int i = 0; i < TAP_TALLY_CULPRITS; i++) {
		const struct tap_tally_culprit *c = &row->culprits[i];

		if (c->ns && c->slot < view->nr_slots)
			take(&all[NR_FIXED + (by_slot ? c->slot : first_with(row, c->slot))],
			     view->names[c->slot] ?: "(removed)", c->ns);
	}
}

unsigned int tap_top_culprits(const struct tap_tally_view *view, const struct tap_tally_row *row,
			      struct tap_top_culprit **list)
{
	unsigned int max = NR_FIXED + (row ? TAP_TALLY_CULPRITS : view->nr_slots), nr = 0;
	struct tap_top_culprit *all = calloc(max, sizeof(*all));

	*list = all;
	if (!all)
		return 0;
	if (row)
		add_row(all, view, row, false);
	for (unsigned int i = 0; !row && i < view->nr_slots; i++)
		add_row(all, view, &view->rows[i], true);
	qsort(all, max, sizeof(*all), by_ns);
	while (nr < max && all[nr].ns)
		nr++;
	return nr;
}
