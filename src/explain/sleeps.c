// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/sleeps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void tap_sleeps_release(struct tap_sleeps *l)
{
	free(l->v);
	free(l->last);
	tap_map_release(&l->by_key);
}

static bool are_alike(const struct tap_sleep *a, const struct tap_sleep *b)
{
	return a->task == b->task && a->state == b->state && a->stack.kernel == b->stack.kernel && a->stack.user == b->stack.user;
}

/* Return: NULL when out of memory. */
static struct tap_sleep *find(struct tap_sleeps *l, const struct tap_sleep *sleep)
{
	uint32_t ids[] = { sleep->task->index, sleep->state, sleep->stack.kernel, sleep->stack.user };

	/* others may have the same key */
	for (uint64_t key = tap_map_key(ids, sizeof(ids));; key++) {
		uint64_t *place = tap_map_put(&l->by_key, key);

		if (!place || tap_array_grow(&l->v, l->nr, &l->cap, sizeof(*l->v)))
			return NULL;
		if (!*place) {
			l->v[l->nr] = (struct tap_sleep){ .task = sleep->task, .state = sleep->state, .stack = sleep->stack };
			*place = ++l->nr;
		}
		if (are_alike(&l->v[*place - 1], sleep))
			return &l->v[*place - 1];
	}
}

/* The task's last one, which was none in vain. */
static int add_last(struct tap_sleeps *l, struct tap_sleep *last)
{
	struct tap_sleep *sum;

	if (!last->task)
		return 0;
	sum = find(l, last);
	if (!sum)
		return -ENOMEM;
	sum->ns += last->ns;
	sum->sleeps++;
	if (last->ns >= sum->max_ns) {
		sum->max_ns = last->ns;
		sum->max_from_ns = last->max_from_ns;
	}
	last->task = NULL;
	return 0;
}

int tap_sleeps_stretch(struct tap_sleeps *l, const struct tap_stretch *s, struct tap_stack_pair stack)
{
	struct tap_sleep *last = tap_array_at(&l->last, &l->nr_last, s->task->index, sizeof(*last), NULL);

	if (!last)
		return -ENOMEM;
	if (s->state == TAP_UNKNOWN) {
		if (s->back != TAP_UNKNOWN)
			last->task = NULL;
		return 0;
	}
	if (!tap_state_is_sleep(s->state))
		return 0;
	if (add_last(l, last))
		return -ENOMEM;
	*last = (struct tap_sleep){
		.task = s->task, .state = s->state, .stack = stack, .ns = tap_window_part_ns(&l->window, s->from_ns, s->to_ns),
		.max_from_ns = s->from_ns,
	};
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const struct tap_sleep *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->task != y->task)
		return x->task->index < y->task->index ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return x->max_from_ns < y->max_from_ns ? -1 : x->max_from_ns > y->max_from_ns;
}

int tap_sleeps_end(struct tap_sleeps *l)
{
	for (unsigned int i = 0; i < l->nr_last; i++)
		if (add_last(l, &l->last[i]))
			return -ENOMEM;
	if (l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), by_ns);
	return 0;
}
