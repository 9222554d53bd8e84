// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/library/by_tid.h"
#include "analysis/library/handle.h"
#include "analysis/states.h"

struct tap_longest_states {
	struct tap_states states;
	struct tap_map by_tid;
};

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_longest_states *h = ctx;

	return tap_states_ops.interval(&h->states, t, s);
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_longest_states *h = ctx;

	return tap_by_tid_fill(&h->by_tid, t);
}

static const struct tap_watcher_ops ops = {
	.size = sizeof(ops),
	.states = TAP_STATE_ALL & ~TAP_STATE_BIT(TAP_STATE_DEAD),
	.interval = on_interval,
	.end = on_end,
};

struct tap_longest_states *tap_longest_states_new(struct tap_err *err)
{
	return tap_handle_new(sizeof(struct tap_longest_states), err);
}

void tap_longest_states_free(struct tap_longest_states *h)
{
	if (!h)
		return;
	tap_states_release(&h->states);
	tap_map_release(&h->by_tid);
	free(h);
}

struct tap_watcher tap_longest_states_watcher(struct tap_longest_states *h)
{
	return (struct tap_watcher){ .ops = &ops, .ctx = h, .pick = TAP_PICK_TASKS };
}

uint64_t tap_longest_states_ns(const struct tap_longest_states *h, int tid, enum tap_state state,
			       uint64_t *from_ns)
{
	const struct tap_longest *l;
	unsigned int index;

	if ((unsigned int)state >= TAP_NR_STATES || !tap_by_tid_find(&h->by_tid, tid, &index) ||
	    index >= h->states.nr)
		return 0;
	l = &h->states.tasks[index].longest[state];
	if (from_ns && l->ns)
		*from_ns = l->at_ns;
	return l->ns;
}
