// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/path.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static struct tap_path_sum *sum_of(struct tap_path *p, unsigned int task)
{
	unsigned int *place = tap_array_at(&p->places, &p->nr_places, task, sizeof(*place), NULL);

	if (!place)
		return NULL;
	if (!*place) {
		if (tap_array_grow(&p->tasks, p->nr_tasks, &p->cap_tasks, sizeof(*p->tasks)))
			return NULL;
		p->tasks[p->nr_tasks] = (struct tap_path_sum){ .task = task };
		*place = ++p->nr_tasks;
	}
	return &p->tasks[*place - 1];
}

static int on_segment(void *ctx, const struct tap_path_segment *s)
{
	struct tap_path *p = ctx;
	struct tap_path_sum *sum = sum_of(p, s->task);
	uint64_t ns = s->to_ns - s->from_ns;

	if (!sum || (p->keeps &&
		     tap_array_grow(&p->segments, p->nr_segments, &p->cap_segments, sizeof(*s))))
		return -ENOMEM;
	sum->ns += ns;
	sum->state_ns[s->state] += ns;
	p->all.ns += ns;
	p->all.state_ns[s->state] += ns;
	if (p->keeps)
		p->segments[p->nr_segments++] = *s;
	return 0;
}

static int most_first(const void *a, const void *b)
{
	const struct tap_path_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

static void turn_round(struct tap_path_segment *s, unsigned int nr)
{
	for (unsigned int i = 0; i < nr / 2; i++) {
		struct tap_path_segment other = s[i];

		s[i] = s[nr - 1 - i];
		s[nr - 1 - i] = other;
	}
}

int tap_path_find(struct tap_path *path, struct tap_walk *w, unsigned int task, uint64_t from_ns,
		  uint64_t to_ns)
{
	int ret = tap_walk_back(w, task, from_ns, to_ns, on_segment, path);

	if (path->nr_tasks)
		qsort(path->tasks, path->nr_tasks, sizeof(*path->tasks), most_first);
	turn_round(path->segments, path->nr_segments);
	return ret;
}

void tap_path_release(struct tap_path *path)
{
	free(path->tasks);
	free(path->segments);
	free(path->places);
}

uint64_t tap_path_scheduling_ns(const struct tap_path_sum *sum)
{
	return sum->state_ns[TAP_PATH_WAKING] + sum->state_ns[TAP_PATH_PREEMPTED];
}
