// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/request_waits.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void tap_request_waits_release(struct tap_request_waits *w)
{
	for (unsigned int i = 0; i < w->nr_requests; i++)
		free(w->requests[i].pieces);
	free(w->requests);
	free(w->v);
	tap_map_release(&w->near);
}

/* ---- finding waits ---- */

struct finding {
	struct tap_request_waits *w;
	unsigned int request;
	struct tap_task *const *tasks;
};

static int on_segment(void *ctx, const struct tap_path_segment *s)
{
	const struct finding *f = ctx;
	struct tap_request_waits *w = f->w;
	struct tap_request_why *why = &w->requests[f->request];
	struct tap_request_wait wait = { s->from_ns, s->to_ns, s->to_ns - s->from_ns,
					 f->tasks[s->task]->tid, f->request };

	if (s->state != TAP_PATH_WAKING && s->state != TAP_PATH_PREEMPTED)
		return 0;
	if (tap_array_grow(&w->v, w->nr, &w->cap, sizeof(*w->v)))
		return -ENOMEM;
	w->v[w->nr++] = wait;
	/* of equal ones the earliest, since the walk goes backwards */
	if (wait.left_ns >= why->longest.left_ns) {
		why->longest = wait;
		why->longest_task = s->task;
	}
	return 0;
}

int tap_request_waits_find(struct tap_request_waits *w, unsigned int number,
			   const struct tap_request *request, struct tap_walk *walk,
			   struct tap_task *const *tasks)
{
	struct tap_request_why *why =
		tap_array_at(&w->requests, &w->nr_requests, number, sizeof(*why), NULL);

	if (!why)
		return -ENOMEM;
	why->nr_pieces = 0;
	return tap_walk_back(walk, request->task, request->from_ns, request->to_ns, on_segment,
			     &(struct finding){ w, number, tasks });
}

static int by_task(const void *a, const void *b)
{
	const struct tap_request_wait *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

int tap_request_waits_begin(struct tap_request_waits *w)
{
	int ret = 0;

	tap_map_release(&w->near);
	if (w->nr)
		qsort(w->v, w->nr, sizeof(*w->v), by_task);
	for (unsigned int i = 0; !ret && i < w->nr; i++)
		if (!i || w->v[i].tid != w->v[i - 1].tid)
			ret = tap_map_set(&w->near, (uint64_t)w->v[i].tid, i);
	return ret;
}

/* ---- explaining waits ---- */

/*
 * Return the index of the task's first wait that begins at @from_ns or later, or the index after
 * its last wait. It is usually close to the result of the last search.
 */
static unsigned int find_first(const struct tap_request_waits *w, int tid, uint64_t from_ns)
{
	uint64_t *near = tap_map_get(&w->near, (uint64_t)tid);
	unsigned int i = near ? (unsigned int)*near : w->nr;

	if (!near)
		return i;
	while (i && w->v[i - 1].tid == tid && w->v[i - 1].from_ns >= from_ns)
		i--;
	while (i < w->nr && w->v[i].tid == tid && w->v[i].from_ns < from_ns)
		i++;
	*near = i;
	return i;
}

uint64_t tap_request_waits_split(const struct tap_request_waits *w, const struct tap_task *task,
				 uint64_t ns)
{
	unsigned int i = find_first(w, task->tid, ns + 1);
	uint64_t next_ns = i < w->nr && w->v[i].tid == task->tid ? w->v[i].from_ns : UINT64_MAX;

	/* waits that began before @ns: several requests may contain parts of one wait */
	for (; i && w->v[i - 1].tid == task->tid && w->v[i - 1].to_ns > ns; i--)
		if (w->v[i - 1].to_ns < next_ns)
			next_ns = w->v[i - 1].to_ns;
	return next_ns;
}

/* Return the task in @timeline that had this tid at that time. Tids are rarely reused. */
static const struct tap_task *same_task(const struct tap_timeline *timeline, int tid,
					uint64_t at_ns)
{
	const struct tap_task *newest = tap_timeline_task(timeline, tid);
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(timeline, &nr);

	for (unsigned int i = 0; newest && newest->born_ns > at_ns && i < nr; i++)
		if (tasks[i]->tid == tid && tasks[i]->born_ns <= at_ns &&
		    at_ns <= tasks[i]->died_ns)
			return tasks[i];
	return newest;
}

static int add_piece(struct tap_request_why *why, const struct tap_piece *piece)
{
	if (why->nr_pieces == why->cap_pieces) {
		why->nr_pieces = tap_pieces_merge(why->pieces, why->nr_pieces);
		if (why->nr_pieces >= why->cap_pieces / 2 &&
		    tap_array_grow(&why->pieces, why->cap_pieces, &why->cap_pieces, sizeof(*piece)))
			return -ENOMEM;
	}
	why->pieces[why->nr_pieces++] = *piece;
	return 0;
}

static int explain_wait(struct tap_request_waits *w, struct tap_request_wait *wait,
			const struct tap_wait_told *ended, const struct tap_timeline *timeline)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < ended->nr_pieces; i++) {
		const struct tap_piece *p = &ended->pieces[i];
		uint64_t ns = p->ns < wait->left_ns ? p->ns : wait->left_ns;

		if (p->from_ns < wait->from_ns || p->from_ns >= wait->to_ns || !ns)
			continue;
		wait->left_ns -= ns;
		ret = add_piece(
			&w->requests[wait->request],
			&(struct tap_piece){
				.kind = p->kind,
				.task = p->task ? same_task(timeline, p->task->tid, p->from_ns)
						: NULL,
				.from_ns = p->from_ns,
				.ns = ns,
			});
	}
	return ret;
}

int tap_request_waits_told(struct tap_request_waits *w, const struct tap_wait_told *ended,
			   const struct tap_timeline *timeline)
{
	unsigned int i = find_first(w, ended->task->tid, ended->from_ns);
	int ret = 0;

	for (;
	     !ret && i < w->nr && w->v[i].tid == ended->task->tid && w->v[i].from_ns < ended->to_ns;
	     i++)
		ret = explain_wait(w, &w->v[i], ended, timeline);
	return ret;
}

/* ---- end ---- */

static int by_begin(const void *a, const void *b)
{
	const struct tap_piece *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

int tap_request_waits_end(struct tap_request_waits *w)
{
	int ret = 0;

	for (unsigned int i = 0; i < w->nr && !ret; i++)
		if (w->v[i].left_ns)
			ret = add_piece(&w->requests[w->v[i].request],
					&(struct tap_piece){
						.kind = TAP_PIECE_UNKNOWN,
						.from_ns = w->v[i].from_ns,
						.ns = w->v[i].left_ns,
					});
	for (struct tap_request_why *why = w->requests; why < w->requests + w->nr_requests; why++) {
		if (why->nr_pieces)
			qsort(why->pieces, why->nr_pieces, sizeof(*why->pieces), by_begin);
		why->nr_pieces = tap_pieces_merge(why->pieces, why->nr_pieces);
	}
	w->nr = 0;
	return ret;
}

bool tap_request_why_is_known(const struct tap_request_why *why)
{
	for (unsigned int i = 0; i < why->nr_pieces; i++)
		if (why->pieces[i].kind == TAP_PIECE_UNKNOWN)
			return false;
	return true;
}
