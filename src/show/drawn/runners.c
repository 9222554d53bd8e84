// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/runners.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"

uint32_t tap_runner_number(struct tap_runners *r, uint32_t index)
{
	uint32_t *number = index == TAP_OTHERS ? &r->others
					       : tap_array_at(&r->numbers, &r->nr_numbers, index,
							      sizeof(*number), NULL);

	if (!number || (!*number && tap_array_grow(&r->tasks, r->nr, &r->cap, sizeof(*r->tasks)))) {
		r->err = -ENOMEM;
		return 0;
	}
	if (!*number) {
		r->tasks[r->nr++] = index;
		*number = r->nr;
	}
	return *number - 1;
}

void tap_runners_clear(struct tap_runners *r)
{
	if (r->nr_numbers)
		memset(r->numbers, 0, r->nr_numbers * sizeof(*r->numbers));
	r->nr = r->others = 0;
}

void tap_runners_release(struct tap_runners *r)
{
	free(r->numbers);
	free(r->tasks);
	*r = (struct tap_runners){ 0 };
}

static void put_task(const struct tap_task *task, struct tap_buf *json)
{
	const int tgid = tap_task_tgid(task);

	tap_buf_printf(json, "[%d,%d,", task->tid, tgid > 0 ? tgid : 0);
	tap_text_json(json, task->comm, strnlen(task->comm, TAP_TASK_COMM));
	tap_buf_char(json, ']');
}

void tap_runners_put(const struct tap_runners *r, const struct tap_timeline *t,
		     struct tap_buf *json)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(t, &nr);

	tap_buf_puts(json, ",\"tasks\":[");
	for (unsigned int i = 0; i < r->nr; i++) {
		if (i)
			tap_buf_char(json, ',');
		if (r->tasks[i] < nr)
			put_task(tasks[r->tasks[i]], json);
		else
			tap_buf_puts(json, "[-1,0,\"others\"]");
	}
	tap_buf_char(json, ']');
}
