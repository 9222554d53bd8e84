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
	free(w->last);
	tap_map_release(&w->by_tids);
	*w = (struct tap_wakers){ 0 };
}

/* Sets *@place, which is the wakee's, to this pair's. Return: 0 or -ENOMEM. */
static int find_pair(struct tap_wakers *w, const struct tap_timeline *t,
		     const struct tap_stretch *s, unsigned int *place)
{
	int tid = s->task->waker_tid;
	uint64_t *found = tap_map_put(&w->by_tids, (uint64_t)(uint32_t)tid << 32 | s->task->index);

	if (!found)
		return -ENOMEM;
	if (!*found) {
		if (tap_array_grow(&w->pairs, w->nr_pairs, &w->max_pairs, sizeof(*w->pairs)))
			return -ENOMEM;
		w->pairs[w->nr_pairs] = (struct tap_waker_pair){
			.waker = tid > 0 ? tap_timeline_task(t, tid) : NULL, .waker_tid = tid,
			.wakee = s->task, .waits = TAP_HIST_INIT,
		};
		*found = ++w->nr_pairs;
	}
	*place = (unsigned int)*found;
	return 0;
}

int tap_wakers_stretch(struct tap_wakers *w, const struct tap_timeline *t,
		       const struct tap_stretch *s)
{
	/* the place of the wakee's last pair */
	unsigned int *last = tap_array_at(&w->last, &w->nr_last, s->task->index, sizeof(*last),
					  NULL);
	struct tap_waker_pair *pair;

	if (!last)
		return -ENOMEM;
	if ((!*last || w->pairs[*last - 1].waker_tid != s->task->waker_tid) &&
	    find_pair(w, t, s, last))
		return -ENOMEM;
	pair = &w->pairs[*last - 1];
	pair->count++;
	if (!s->whole || s->next != TAP_RUNNING)
		return 0;
	pair->same_cpu += s->next_cpu == s->task->waker_cpu;
	pair->other_cpu += s->next_cpu != s->task->waker_cpu;
	return tap_hist_add(&pair->waits, s->to_ns - s->from_ns);
}

static int by_count(const void *a, const void *b)
{
	const struct tap_waker_pair *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->wakee->index != y->wakee->index)
		return x->wakee->index < y->wakee->index ? -1 : 1;
	return x->waker_tid < y->waker_tid ? -1 : 1;
}

void tap_wakers_end(struct tap_wakers *w)
{
	if (w->nr_pairs)
		qsort(w->pairs, w->nr_pairs, sizeof(*w->pairs), by_count);
}
