// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/states.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static const struct tap_longest none[TAP_NR_STATES];

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *st)
{
	const uint64_t start_ns = tap_timeline_window(t).from_ns;
	struct tap_states *s = ctx;
	uint64_t from_ns = st->from_ns - st->back_ns;
	struct tap_states_task *task;
	struct tap_longest *l;

	if (from_ns < start_ns)
		from_ns = start_ns;
	if (st->to_ns <= from_ns)
		return 0;
	task = tap_array_at(&s->tasks, &s->nr, st->task->index, sizeof(*task), NULL);
	if (!task)
		return -ENOMEM;
	if (st->back != TAP_STATE_UNKNOWN)
		task->longest[st->back] = task->before;
	l = &task->longest[st->state];
	if (tap_state_is_sleep(st->state))
		task->before = *l;
	if (st->to_ns - from_ns > l->ns)
		*l = (struct tap_longest){ .ns = st->to_ns - from_ns, .at_ns = from_ns };
	return 0;
}

const struct tap_watcher_ops tap_states_ops = {
	.states = TAP_STATE_ALL & ~TAP_STATE_BIT(TAP_STATE_DEAD), .interval = on_interval
};

const struct tap_longest *tap_states_longest(const struct tap_states *s,
					     const struct tap_task *task)
{
	return task->index < s->nr ? s->tasks[task->index].longest : none;
}

void tap_states_release(struct tap_states *s)
{
	free(s->tasks);
	*s = (struct tap_states){ 0 };
}
