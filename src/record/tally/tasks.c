// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tally/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/array.h"
#include "record/object/object.h"
#include "record/object/task_list.h"

static size_t counts_bytes(const struct tap_tally_counts *c)
{
	return 2 * c->nr_tags * sizeof(*c->v);
}

int tap_tally_tasks_map(struct tap_tally_tasks *t, const struct bpf_object *obj,
			struct tap_err *err)
{
	struct tap_tally_counts *c = &t->counts;

	c->nr_tags = bpf_map__max_entries(bpf_object__find_map_by_name(obj, "tap_tags"));
	c->v = tap_bpf_map_array(obj, "tap_task_waits", counts_bytes(c));
	return c->v ? 0 : tap_err_set(err, -errno, "cannot map the waits of tasks: %m");
}

/* Return the waits of a task in an epoch; NULL if none ended or waits are not counted. */
static const struct tap_tally_task_count *
find_count(const struct tap_tally_counts *c, const struct tap_tally_task *task, uint32_t epoch)
{
	const struct tap_tally_task_count *count;

	if (!c->v)
		return NULL;
	count = &c->v[(epoch & 1) * c->nr_tags + task->tid % c->nr_tags];
	return count->epoch == epoch && count->start == (uint32_t)task->start_ns ? count : NULL;
}

/* Return: the difference of two readings of a task. @before: zero if the task is new. */
static struct tap_tally_task between(const struct tap_tally_task *before,
				     const struct tap_tally_task *now)
{
	struct tap_tally_task d = *now;

	d.run_ns -= before->run_ns;
	d.wait_ns -= before->wait_ns;
	d.waits -= before->waits;
	d.voluntary -= before->voluntary;
	d.involuntary -= before->involuntary;
	d.migrations -= before->migrations;
	return d;
}

/* Find a task among those from index @at on, and advance @at. Return: NULL if it is not there. */
static const struct tap_tally_task *find_task(const struct tap_tally_task *v, unsigned int nr,
					      unsigned int *at, const struct tap_tally_task *task)
{
	while (*at < nr && v[*at].tid < task->tid)
		++*at;
	return *at < nr && v[*at].tid == task->tid && v[*at].start_ns == task->start_ns ? &v[*at]
											: NULL;
}

/*
 * Add a task to the list if it has numbers. @was_listed: at the last reading: between the epoch's
 * begin and the moment when the tasks were listed, it may have ended a wait that the kernel's
 * numbers of the last reading have, but not the waits of that reading.
 */
static int add(struct tap_tally_tasks *t, const struct tap_tally_task *d, bool was_listed,
	       uint32_t epoch)
{
	static const struct tap_tally_task_waits none;
	const struct tap_tally_task_count *count = NULL;
	bool has_run = d->run_ns || d->waits;

	if (has_run || was_listed)
		count = find_count(&t->counts, d, epoch);
	if (!has_run && !count)
		return 0;
	if (tap_array_grow(&t->list.v, t->list.nr, &t->list.cap, sizeof(*t->list.v)) ||
	    tap_array_grow(&t->waits, t->list.nr, &t->waits_cap, sizeof(*t->waits)))
		return -ENOMEM;
	t->waits[t->list.nr] = count ? count->waits : none;
	t->list.v[t->list.nr++] = *d;
	return 0;
}

/* The kernel lists tasks by their tids, so one pass over both readings finds all pairs. */
static int compare(struct tap_tally_tasks *t, uint64_t from_ns, uint32_t epoch)
{
	static const struct tap_tally_task none;
	const struct tap_tally_task *now = (const void *)t->rows.data;
	const struct tap_tally_task *before = (const void *)t->rows_before.data;
	unsigned int nr_before = (unsigned int)(t->rows_before.len / sizeof(*before));
	unsigned int at = 0, at_listed = 0;
	int ret = 0;

	t->nr_all = (unsigned int)(t->rows.len / sizeof(*now));
	for (unsigned int i = 0; !ret && i < t->nr_all; i++) {
		const struct tap_tally_task *known = find_task(before, nr_before, &at, &now[i]);
		const struct tap_tally_task *listed =
			find_task(t->list_before.v, t->list_before.nr, &at_listed, &now[i]);
		struct tap_tally_task d = between(known ?: &none, &now[i]);

		if (known || now[i].start_ns >= from_ns)
			ret = add(t, &d, listed || !t->is_compared, epoch);
	}
	t->is_compared = true;
	return ret;
}

int tap_tally_tasks_list(struct tap_tally_tasks *t, struct bpf_object *obj, struct tap_err *err)
{
	struct tap_buf rows = t->rows_before;
	int ret;

	t->rows_before = t->rows;
	t->rows = rows;
	tap_buf_clear(&t->rows);
	ret = tap_bpf_list_tasks(obj, &t->rows);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot list the tasks: %m") : 0;
}

int tap_tally_tasks_compare(struct tap_tally_tasks *t, uint64_t from_ns, uint32_t epoch,
			    struct tap_err *err)
{
	struct tap_tally_list list = t->list_before;

	t->list_before = t->list;
	t->list = list;
	t->list.nr = 0;
	return compare(t, from_ns, epoch) ? tap_err_nomem(err) : 0;
}

void tap_tally_tasks_release(struct tap_tally_tasks *t)
{
	tap_buf_release(&t->rows);
	tap_buf_release(&t->rows_before);
	free(t->list.v);
	free(t->list_before.v);
	free(t->waits);
	if (t->counts.v)
		munmap((void *)(uintptr_t)t->counts.v, counts_bytes(&t->counts));
}
