// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/condition/waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static void put_due(struct tap_waits *w, unsigned int at, struct tap_wait_due due)
{
	w->heap[at] = due;
	w->waits[due.wait].place = at + 1;
}

/* Put @due where it belongs in the heap. Its present place, or a free one, is @at. */
static void settle_due(struct tap_waits *w, unsigned int at, struct tap_wait_due due)
{
	while (at && w->heap[(at - 1) / 2].at_ns > due.at_ns) {
		put_due(w, at, w->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (unsigned int child; (child = 2 * at + 1) < w->nr; at = child) {
		if (child + 1 < w->nr && w->heap[child + 1].at_ns < w->heap[child].at_ns)
			child++;
		if (w->heap[child].at_ns >= due.at_ns)
			break;
		put_due(w, at, w->heap[child]);
	}
	put_due(w, at, due);
}

struct tap_watched_wait *tap_waits_get(struct tap_waits *w, unsigned int i)
{
	return tap_array_at(&w->waits, &w->nr_waits, i, sizeof(*w->waits), NULL);
}

int tap_waits_set(struct tap_waits *w, unsigned int i, uint64_t since_ns, unsigned int nr_told,
		  uint64_t at_ns)
{
	struct tap_watched_wait *wait = tap_waits_get(w, i);

	if (!wait || (!wait->place && tap_array_grow(&w->heap, w->nr, &w->cap, sizeof(*w->heap))))
		return -ENOMEM;
	wait->since_ns = since_ns;
	wait->nr_told = nr_told;
	if (!wait->place)
		wait->place = ++w->nr;
	settle_due(w, wait->place - 1, (struct tap_wait_due){ at_ns, i });
	return 0;
}

void tap_waits_drop(struct tap_waits *w, unsigned int i)
{
	unsigned int place = i < w->nr_waits ? w->waits[i].place : 0;

	if (!place)
		return;
	w->waits[i].place = 0;
	w->nr--;
	if (place - 1 < w->nr)
		settle_due(w, place - 1, w->heap[w->nr]);
}

void tap_waits_release(struct tap_waits *w)
{
	free(w->waits);
	free(w->heap);
	*w = (struct tap_waits){ 0 };
}
