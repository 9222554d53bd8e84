// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tally/tasks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/array.h"
#include "record/object/task_list.h"

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

/* The kernel lists tasks by their tids, so one pass over both readings finds all pairs. */
static int compare(struct tap_tally_tasks *t, uint64_t from_ns)
{
	static const struct tap_tally_task none;
	const struct tap_tally_task *now = (const void *)t->rows.data;
	const struct tap_tally_task *before = (const void *)t->rows_before.data;
	unsigned int nr_before = (unsigned int)(t->rows_before.len / sizeof(*before)), at = 0;

	t->nr = 0;
	t->nr_all = (unsigned int)(t->rows.len / sizeof(*now));
	for (unsigned int i = 0; i < t->nr_all; i++) {
		bool is_known;

		while (at < nr_before && before[at].tid < now[i].tid)
			at++;
		is_known = at < nr_before && before[at].tid == now[i].tid &&
			   before[at].start_ns == now[i].start_ns;
		if (!is_known && now[i].start_ns < from_ns)
			continue;
		if (tap_array_grow(&t->v, t->nr, &t->cap, sizeof(*t->v)))
			return -ENOMEM;
		t->v[t->nr] = between(is_known ? &before[at] : &none, &now[i]);
		if (t->v[t->nr].run_ns || t->v[t->nr].waits)
			t->nr++;
	}
	return 0;
}

int tap_tally_tasks_read(struct tap_tally_tasks *t, struct bpf_object *obj, uint64_t from_ns,
			 struct tap_err *err)
{
	struct tap_buf rows = t->rows_before;
	int ret;

	t->rows_before = t->rows;
	t->rows = rows;
	tap_buf_clear(&t->rows);
	ret = tap_bpf_list_tasks(obj, &t->rows) ?: compare(t, from_ns);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot list the tasks: %m") : 0;
}

void tap_tally_tasks_release(struct tap_tally_tasks *t)
{
	tap_buf_release(&t->rows);
	tap_buf_release(&t->rows_before);
	free(t->v);
}
