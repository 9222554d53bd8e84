// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/sleeps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define STATES                                                                                     \
	(TAP_STATE_BIT(TAP_STATE_SLEEPING) | TAP_STATE_BIT(TAP_STATE_BLOCKED) |                    \
	 TAP_STATE_BIT(TAP_STATE_STOPPED) | TAP_STATE_BIT(TAP_STATE_UNKNOWN))

void tap_sleeps_release(struct tap_sleeps *l)
{
	tap_keyed_release(&l->sums);
	free(l->last);
}

/* Add the task's last sleep, which was not revoked, to its sum. */
static int add_last(struct tap_sleeps *l, struct tap_sleep *last)
{
	struct tap_sleep *sum;

	if (!last->task)
		return 0;
	sum = tap_keyed_get(&l->sums, &last->key, sizeof(last->key), sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	sum->task = last->task;
	sum->ns += last->ns;
	sum->sleeps++;
	if (last->ns >= sum->max_ns) {
		sum->max_ns = last->ns;
		sum->max_from_ns = last->max_from_ns;
	}
	last->task = NULL;
	return 0;
}

struct tap_stack_pair tap_sleep_stack(const struct tap_event_stacks *stacks,
				      const struct tap_interval *s)
{
	const struct tap_task_stacks *left = NULL;

	if (stacks && tap_state_is_sleep(s->state))
		left = tap_event_stacks_left(stacks, s->task, s->from_ns);
	return left ? left->left : (struct tap_stack_pair){ 0 };
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	const struct tap_window window = tap_timeline_window(t);
	struct tap_sleeps *l = ctx;
	struct tap_sleep *last =
		tap_array_at(&l->last, &l->nr_last, s->task->index, sizeof(*last), NULL);

	if (!last)
		return -ENOMEM;
	if (s->state == TAP_STATE_UNKNOWN) {
		if (s->back != TAP_STATE_UNKNOWN)
			last->task = NULL;
		return 0;
	}
	if (!tap_state_is_sleep(s->state))
		return 0;
	if (add_last(l, last))
		return -ENOMEM;
	*last = (struct tap_sleep){
		.key = { s->task->index, s->state, tap_sleep_stack(l->stacks, s) },
		.task = s->task,
		.ns = tap_window_part_ns(&window, s->from_ns, s->to_ns),
		.max_from_ns = s->from_ns,
	};
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const struct tap_sleep *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->key.task != y->key.task)
		return x->key.task < y->key.task ? -1 : 1;
	if (x->key.state != y->key.state)
		return x->key.state < y->key.state ? -1 : 1;
	return x->max_from_ns < y->max_from_ns ? -1 : x->max_from_ns > y->max_from_ns;
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_sleeps *l = ctx;

	(void)t;
	for (unsigned int i = 0; i < l->nr_last; i++)
		if (add_last(l, &l->last[i]))
			return -ENOMEM;
	if (l->sums.nr)
		qsort(l->sums.v, l->sums.nr, sizeof(struct tap_sleep), by_ns);
	return 0;
}

const struct tap_watcher_ops tap_sleeps_ops = {
	.states = STATES, .lost_states = STATES, .interval = on_interval, .end = on_end
};
