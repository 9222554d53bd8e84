// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/delayers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void tap_delayers_release(struct tap_delayers *d)
{
	tap_map_release(&d->by_key);
	free(d->of_task);
	free(d->v);
}

/*
 * Return true if the task still belongs to the entry: its name may have changed, or its process may
 * have become known.
 */
static bool is_of(const struct tap_delayers *d, const struct tap_delayer *v,
		  const struct tap_task *task)
{
	if (d->by_comm)
		return !memcmp(v->comm, task->comm, sizeof(v->comm));
	return v->task == task ||
	       (tap_task_tgid(task) >= 0 && tap_task_tgid(v->task) == tap_task_tgid(task));
}

static uint64_t key_of(const struct tap_delayers *d, const struct tap_task *task)
{
	int tgid = tap_task_tgid(task), ids[] = { tgid, tgid >= 0 ? 0 : (int)task->index };

	return d->by_comm ? tap_map_key(task->comm, sizeof(task->comm))
			  : tap_map_key(ids, sizeof(ids));
}

static struct tap_delayer *add_delayer(struct tap_delayers *d, const struct tap_task *task,
				       uint64_t *place)
{
	if (tap_array_grow(&d->v, d->nr, &d->cap, sizeof(*d->v)))
		return NULL;
	d->v[d->nr] = (struct tap_delayer){ .task = task };
	memcpy(d->v[d->nr].comm, task->comm, sizeof(task->comm));
	*place = d->nr + 1;
	return &d->v[d->nr++];
}

/* Return: NULL when out of memory. */
static struct tap_delayer *find_delayer(struct tap_delayers *d, const struct tap_task *task)
{
	unsigned int *last =
		tap_array_at(&d->of_task, &d->nr_of_task, task->index, sizeof(*last), NULL);
	uint64_t key = key_of(d, task), *place;
	struct tap_delayer *v = NULL;

	if (!last)
		return NULL;
	if (*last && is_of(d, &d->v[*last - 1], task))
		return &d->v[*last - 1];
	/* on a hash collision try the next key */
	while ((place = tap_map_put(&d->by_key, key)) && *place &&
	       !is_of(d, &d->v[*place - 1], task))
		key++;
	if (place)
		v = *place ? &d->v[*place - 1] : add_delayer(d, task, place);
	if (!v)
		return NULL;
	v->nr_tasks++;
	*last = (unsigned int)*place;
	return v;
}

int tap_delayers_wait(struct tap_delayers *d, const struct tap_wait_told *w)
{
	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		struct tap_delayer *v =
			w->pieces[i].task ? find_delayer(d, w->pieces[i].task) : NULL;

		if (v)
			v->sum.wait_ns += w->pieces[i].ns;
		else if (w->pieces[i].task)
			return -ENOMEM;
	}
	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		struct tap_delayer *v =
			w->pieces[i].task ? &d->v[d->of_task[w->pieces[i].task->index] - 1] : NULL;

		if (v && v->sum.wait_ns) {
			tap_explained_add(&v->sum, v->sum.wait_ns);
			v->sum.wait_ns = 0;
		}
	}
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const struct tap_delayer *x = a, *y = b;

	if (x->sum.ns != y->sum.ns)
		return x->sum.ns > y->sum.ns ? -1 : 1;
	return (x->task->index > y->task->index) - (x->task->index < y->task->index);
}

void tap_delayers_end(struct tap_delayers *d)
{
	if (d->nr)
		qsort(d->v, d->nr, sizeof(*d->v), by_ns);
}
