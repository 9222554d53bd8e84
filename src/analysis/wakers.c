// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/wakers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void tap_wakers_release(struct tap_wakers *w)
{
	for (unsigned int i = 0; i < w->nr_pairs; i++)
		tap_hist_release(&w->pairs[i].waits);
	free(w->pairs);
	free(w->wakees);
	tap_map_release(&w->by_tids);
	free(w->stacks);
	tap_map_release(&w->by_frames);
	tap_map_release(&w->by_pair);
	*w = (struct tap_wakers){ 0 };
}

/*
 * Find or add the pair of the task and its waker. *@place: set to the pair's index plus one.
 * Return: 0 or -ENOMEM.
 */
static int find_pair(struct tap_wakers *w, const struct tap_timeline *t,
		     const struct tap_interval *s, unsigned int *place)
{
	int tid = s->task->waker_tid;
	uint64_t *found = tap_map_put(&w->by_tids, (uint64_t)(uint32_t)tid << 32 | s->task->index);

	if (!found)
		return -ENOMEM;
	if (!*found) {
		if (tap_array_grow(&w->pairs, w->nr_pairs, &w->max_pairs, sizeof(*w->pairs)))
			return -ENOMEM;
		w->pairs[w->nr_pairs] = (struct tap_waker_pair){
			.waker = tid > 0 ? tap_timeline_task(t, tid) : NULL,
			.waker_tid = tid,
			.wakee = s->task,
			.waits = TAP_HIST_INIT,
		};
		*found = ++w->nr_pairs;
	}
	*place = (unsigned int)*found;
	return 0;
}

/* Return: 0 or -ENOMEM. */
static int add_stack(struct tap_wakers *w, unsigned int pair, struct tap_stack_pair stack)
{
	uint64_t *both = tap_map_put(&w->by_frames, (uint64_t)stack.kernel << 32 | stack.user),
		 *found;

	if (!both)
		return -ENOMEM;
	if (!*both)
		*both = w->by_frames.nr;
	found = tap_map_put(&w->by_pair, (uint64_t)pair << 32 | (uint32_t)*both);
	if (!found || tap_array_grow(&w->stacks, w->nr_stacks, &w->cap_stacks, sizeof(*w->stacks)))
		return -ENOMEM;
	if (!*found) {
		w->stacks[w->nr_stacks] = (struct tap_waker_stack){ .stack = stack, .pair = pair };
		*found = ++w->nr_stacks;
	}
	w->stacks[*found - 1].count++;
	return 0;
}

/* Return: 0 or -ENOMEM. */
static int take_stack(struct tap_wakers *w, unsigned int pair, const struct tap_interval *s)
{
	struct tap_stack_pair stack = tap_event_stacks_woken(w->of_stacks, s->task);

	return tap_stack_pair_is_none(stack) ? 0 : add_stack(w, pair, stack);
}

/* Count a wait that ended. Return: 0 or -ENOMEM. */
static int add_wait(struct tap_waker_pair *pair, const struct tap_interval *s)
{
	if (!s->whole || s->next != TAP_STATE_RUNNING) {
		pair->censored++;
		return 0;
	}
	pair->same_cpu += s->next_cpu == s->task->waker_cpu;
	pair->other_cpu += s->next_cpu != s->task->waker_cpu;
	return tap_hist_add(&pair->waits, s->to_ns - s->from_ns);
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_wakers *w = ctx;
	struct tap_wakee *wakee =
		tap_array_at(&w->wakees, &w->nr_wakees, s->task->index, sizeof(*wakee), NULL);
	bool is_throttled = s->whole && s->next == TAP_STATE_THROTTLED;

	if (w->wants && !w->wants(w->ctx, t, s->task))
		return 0;
	if (!wakee)
		return -ENOMEM;
	if ((!wakee->pair || w->pairs[wakee->pair - 1].waker_tid != s->task->waker_tid) &&
	    find_pair(w, t, s, &wakee->pair))
		return -ENOMEM;
	if (!wakee->throttled_ns || wakee->throttled_ns != s->task->woken_ns) {
		w->pairs[wakee->pair - 1].count++;
		if (w->of_stacks && take_stack(w, wakee->pair - 1, s))
			return -ENOMEM;
	}
	wakee->throttled_ns = is_throttled ? s->task->woken_ns : 0;
	return is_throttled ? 0 : add_wait(&w->pairs[wakee->pair - 1], s);
}

const struct tap_watcher_ops tap_wakers_ops = { .states = TAP_STATE_BIT(TAP_STATE_WAKING),
						.interval = on_interval };

static int by_count(const void *a, const void *b)
{
	const struct tap_waker_pair *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->wakee->index != y->wakee->index)
		return x->wakee->index < y->wakee->index ? -1 : 1;
	return x->waker_tid < y->waker_tid ? -1 : 1;
}

static int by_pair(const void *a, const void *b)
{
	const struct tap_waker_stack *x = a, *y = b;

	if (x->pair != y->pair)
		return x->pair < y->pair ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	/* by number: in the order in which they were seen first */
	if (x->stack.kernel != y->stack.kernel)
		return x->stack.kernel < y->stack.kernel ? -1 : 1;
	return x->stack.user < y->stack.user ? -1 : 1;
}

/* Set each pair's stacks. */
static void share_out_stacks(struct tap_wakers *w)
{
	struct tap_waker_pair *pair;

	if (w->nr_stacks)
		qsort(w->stacks, w->nr_stacks, sizeof(*w->stacks), by_pair);
	for (unsigned int i = 0; i < w->nr_stacks; i++) {
		pair = &w->pairs[w->stacks[i].pair];
		if (!pair->nr_stacks++)
			pair->stacks = &w->stacks[i];
	}
}

void tap_wakers_end(struct tap_wakers *w)
{
	share_out_stacks(w);
	if (w->nr_pairs)
		qsort(w->pairs, w->nr_pairs, sizeof(*w->pairs), by_count);
}
