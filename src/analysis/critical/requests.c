// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/requests.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int tap_requests_begin(struct tap_requests *r, uint64_t key, uint64_t ns)
{
	uint64_t *began = tap_map_put(&r->open, key);

	if (!began)
		return -ENOMEM;
	r->unfinished += *began != 0;
	*began = ns + 1;
	return 0;
}

int tap_requests_finish(struct tap_requests *r, uint64_t key, uint64_t ns, unsigned int task)
{
	uint64_t *began = tap_map_get(&r->open, key);

	if (!began || !*began) {
		r->unbegun++;
		return 0;
	}
	if (tap_array_grow(&r->v, r->nr, &r->cap, sizeof(*r->v)))
		return -ENOMEM;
	r->v[r->nr++] = (struct tap_request){ *began - 1, ns, task };
	*began = 0;
	return 0;
}

void tap_requests_end(struct tap_requests *r)
{
	tap_map_for_each(&r->open, s)
		r->unfinished += s->value != 0;
}

void tap_requests_keep_selected(struct tap_requests *r, const struct tap_timeline *timeline)
{
	unsigned int nr_tasks, nr = 0;
	struct tap_task *const *tasks = tap_timeline_tasks(timeline, &nr_tasks);

	for (unsigned int i = 0; i < r->nr; i++)
		if (tasks[r->v[i].task]->selected)
			r->v[nr++] = r->v[i];
	r->nr = nr;
}

void tap_requests_release(struct tap_requests *r)
{
	free(r->v);
	tap_map_release(&r->open);
}

/* ---- paths ---- */

struct request_sum {
	unsigned int task;
	uint64_t others_ns, state_ns[TAP_NR_PATH_STATES];
};

static int on_segment(void *ctx, const struct tap_path_segment *s)
{
	struct request_sum *sum = ctx;

	sum->state_ns[s->state] += s->to_ns - s->from_ns;
	if (s->task != sum->task)
		sum->others_ns += s->to_ns - s->from_ns;
	return 0;
}

static int add_request(struct tap_request_times *t, const struct tap_request *request,
		       const struct request_sum *sum)
{
	int ret = tap_hist_add(&t->all, request->to_ns - request->from_ns)
			  ?: tap_hist_add(&t->others, sum->others_ns);

	for (unsigned int s = 0; !ret && s < TAP_NR_PATH_STATES; s++)
		ret = tap_hist_add(&t->states[s], sum->state_ns[s]);
	return ret;
}

static int longest_first(const void *a, const void *b)
{
	const struct tap_request *x = a, *y = b;
	uint64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	if (x->to_ns != y->to_ns)
		return x->to_ns < y->to_ns ? -1 : 1;
	return x->task < y->task ? -1 : x->task > y->task;
}

int tap_requests_add_up(struct tap_requests *r, struct tap_walk *w, struct tap_request_times *t)
{
	int ret = 0;

	t->all = t->others = (struct tap_hist)TAP_HIST_INIT;
	for (unsigned int s = 0; s < TAP_NR_PATH_STATES; s++)
		t->states[s] = (struct tap_hist)TAP_HIST_INIT;
	for (unsigned int i = 0; !ret && i < r->nr; i++) {
		struct request_sum sum = { .task = r->v[i].task };

		ret = tap_walk_back(w, r->v[i].task, r->v[i].from_ns, r->v[i].to_ns, on_segment,
				    &sum);
		ret = ret ?: add_request(t, &r->v[i], &sum);
	}
	if (r->nr)
		qsort(r->v, r->nr, sizeof(*r->v), longest_first);
	return ret;
}

void tap_request_times_release(struct tap_request_times *t)
{
	tap_hist_release(&t->all);
	tap_hist_release(&t->others);
	for (unsigned int s = 0; s < TAP_NR_PATH_STATES; s++)
		tap_hist_release(&t->states[s]);
}

uint64_t tap_request_times_scheduling_ns(const struct tap_request_times *t)
{
	return (uint64_t)(t->states[TAP_PATH_WAKING].sum + t->states[TAP_PATH_PREEMPTED].sum);
}
