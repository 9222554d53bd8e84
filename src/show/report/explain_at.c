// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/explain_at.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static bool is_same(const struct tap_explain_group *a, const struct tap_explain_group *b)
{
	return a->state == b->state && a->verdict == b->verdict &&
	       a->stack.kernel == b->stack.kernel && a->stack.user == b->stack.user;
}

/* Add one task to its group, or as a new group. @one: a group of one task. Return: 0 or -ENOMEM. */
static int add_to_group(struct tap_explain_groups *groups, const struct tap_explain_group *one)
{
	struct tap_explain_group *g;
	unsigned int i = 0;

	while (i < groups->nr && !is_same(&groups->v[i], one))
		i++;
	if (i == groups->nr) {
		if (tap_array_grow(&groups->v, groups->nr, &groups->cap, sizeof(*groups->v)))
			return -ENOMEM;
		groups->v[groups->nr++] = *one;
		return 0;
	}
	g = &groups->v[i];
	g->nr++;
	if (one->longest_ns > g->longest_ns) {
		g->longest_ns = one->longest_ns;
		g->longest = one->longest;
	}
	return 0;
}

int tap_explain_group_waits(struct tap_explain_groups *groups, const struct tap_explain *e)
{
	int ret = 0;

	for (unsigned int i = 0; i < e->nr_worst && !ret; i++) {
		const struct tap_explained_wait *w = &e->worst[i];

		ret = add_to_group(groups, &(const struct tap_explain_group){
						   .state = w->state,
						   .verdict = w->verdict,
						   .nr = 1,
						   .longest = i,
						   .longest_ns = w->to_ns - w->from_ns,
					   });
	}
	return ret;
}

static int largest_first(const void *a, const void *b)
{
	const struct tap_explain_group *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	if (x->longest_ns != y->longest_ns)
		return x->longest_ns > y->longest_ns ? -1 : 1;
	return (x->longest > y->longest) - (x->longest < y->longest);
}

int tap_explain_group_apart(struct tap_explain_groups *groups, const struct tap_explained_apart *v,
			    unsigned int nr)
{
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = add_to_group(groups, &(const struct tap_explain_group){
						   .state = v[i].state,
						   .stack = v[i].stack,
						   .nr = 1,
						   .longest = i,
						   .longest_ns = v[i].to_ns - v[i].from_ns,
					   });
	if (groups->nr)
		qsort(groups->v, groups->nr, sizeof(*groups->v), largest_first);
	return ret;
}

void tap_explain_groups_release(struct tap_explain_groups *groups)
{
	free(groups->v);
	*groups = (struct tap_explain_groups){ 0 };
}
