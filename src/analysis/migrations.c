// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/migrations.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Return the pair; NULL: out of memory. */
static struct tap_migrations_pair *pair_get(struct tap_migrations *m, int from, int to)
{
	uint64_t *slot = tap_map_put(&m->by_pair, (uint64_t)(uint32_t)from << 32 | (uint32_t)to);

	if (!slot)
		return NULL;
	if (*slot)
		return &m->pairs[*slot - 1];
	if (tap_array_grow(&m->pairs, m->nr_pairs, &m->cap_pairs, sizeof(*m->pairs)))
		return NULL;
	m->pairs[m->nr_pairs] = (struct tap_migrations_pair){ .from = from, .to = to };
	*slot = ++m->nr_pairs;
	return &m->pairs[m->nr_pairs - 1];
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *one)
{
	struct tap_migrations *m = ctx;
	struct tap_migrations_task *task =
		tap_array_at(&m->tasks, &m->nr_tasks, one->task->index, sizeof(*task), NULL);
	struct tap_migrations_pair *pair = pair_get(m, one->from, one->to);

	(void)t;
	if (!task || !pair)
		return -ENOMEM;
	task->task = one->task;
	task->total++;
	task->by[one->why]++;
	pair->total++;
	pair->by[one->why]++;
	m->total++;
	m->by[one->why]++;
	return 0;
}

const struct tap_watcher_ops tap_migrations_ops = { .migration = on_migration };
const struct tap_watcher_ops tap_moves_ops = { .moves = true, .migration = on_migration };

static int by_total(uint64_t x, uint64_t y)
{
	return (x < y) - (x > y);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct tap_migrations_task *x = a, *y = b;
	int order = by_total(x->total, y->total);

	return order ? order
		     : (x->task->index > y->task->index) - (x->task->index < y->task->index);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct tap_migrations_pair *x = a, *y = b;
	int order = by_total(x->total, y->total);

	if (!order)
		order = x->from - y->from;
	return order ? order : x->to - y->to;
}

void tap_migrations_end(struct tap_migrations *m)
{
	unsigned int i, nr = 0;

	for (i = 0; i < m->nr_tasks; i++)
		if (m->tasks[i].task)
			m->tasks[nr++] = m->tasks[i];
	m->nr_tasks = nr;
	if (!nr)
		return;
	qsort(m->tasks, nr, sizeof(*m->tasks), compare_tasks);
	qsort(m->pairs, m->nr_pairs, sizeof(*m->pairs), compare_pairs);
}

void tap_migrations_release(struct tap_migrations *m)
{
	free(m->tasks);
	free(m->pairs);
	tap_map_release(&m->by_pair);
	*m = (struct tap_migrations){ 0 };
}

const char *tap_migration_why_name(enum tap_migration_why why)
{
	static const char *const names[TAP_NR_MIGRATE] = { "wakeup", "balance", "other" };

	return names[why];
}
