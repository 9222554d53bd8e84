// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/slices.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* bits of the column slices.how */
enum { CAME_WAKING = 1, CAME_PREEMPTED, CAME_THROTTLED };
enum { LEFT_PREEMPTED = 1, LEFT_SLEEPING, LEFT_BLOCKED, LEFT_STOPPED, LEFT_DEAD, LEFT_THROTTLED };
#define LEFT_SHIFT 2
#define BEGAN_BEFORE (1u << 5)

enum { GAP, NS, RUNNER, HOW, WAIT, WAKER, FROM, NR_COLUMNS };
static const struct {
	const char *name;
	enum tap_number_type type;
} kinds[NR_COLUMNS] = {
	[GAP] = { "slices.gap", TAP_NUMBER_VARINT },
	[NS] = { "slices.ns", TAP_NUMBER_VARINT },
	[RUNNER] = { "slices.runner", TAP_NUMBER_VARINT },
	[HOW] = { "slices.how", TAP_NUMBER_U8 },
	[WAIT] = { "slices.wait", TAP_NUMBER_VARINT },
	[WAKER] = { "slices.waker", TAP_NUMBER_VARINT },
	[FROM] = { "slices.from", TAP_NUMBER_VARINT },
};

/* How a task came to run on the CPU. */
struct coming {
	const struct tap_task *task; /* NULL: how the current task came is unknown */
	uint64_t at_ns, wait_ns;
	uint8_t how;
	uint32_t waker; /* TAP_WAKER_..., or TAP_WAKER_TASKS + the waker's index */
	uint32_t from; /* lane it ran on before + 1; 0: none */
};

/* How a task left the CPU. */
struct leaving {
	const struct tap_task *task;
	uint64_t at_ns;
	uint8_t how;
};

struct slice {
	const struct tap_task *task; /* NULL: not a task; see .runner */
	/* TAP_RUNNER_... if .task is NULL; otherwise a task's index, or TAP_OTHERS */
	uint32_t runner;
	uint64_t from_ns, to_ns;
	struct coming came;
	uint8_t left;
};

struct tap_slice_lane {
	struct tap_buf columns[NR_COLUMNS];
	uint32_t nr;
	uint64_t end_ns; /* end of the last slice written */
	bool is_open; /* .slice is valid and not written yet */
	struct slice slice;
	struct coming coming;
	struct leaving leaving;
};

int tap_drawn_slices_init(struct tap_drawn_slices *s)
{
	const uint64_t from_ns = s->run->window.from_ns;

	s->v = calloc((size_t)s->lanes->nr + 1, sizeof(*s->v));
	for (unsigned int i = 0; s->v && i < s->lanes->nr; i++)
		s->v[i].end_ns = from_ns;
	return s->v ? 0 : -ENOMEM;
}

static void drop_columns(struct tap_drawn_slices *s)
{
	for (unsigned int i = 0; s->v && i < s->lanes->nr; i++)
		for (unsigned int c = 0; c < NR_COLUMNS; c++)
			tap_buf_release(&s->v[i].columns[c]);
}

void tap_drawn_slices_release(struct tap_drawn_slices *s)
{
	drop_columns(s);
	free(s->v);
	free(s->wakers);
	tap_buf_release(&s->nr_column);
}

/* ---- columns ---- */

static uint64_t runner_code(struct tap_drawn_slices *s, const struct slice *slice)
{
	return slice->task
		       ? (uint64_t)TAP_RUNNER_TASKS + tap_runner_number(s->runners, slice->runner)
		       : slice->runner;
}

static uint64_t waker_code(struct tap_drawn_slices *s, uint32_t waker)
{
	return waker < TAP_WAKER_TASKS
		       ? waker
		       : (uint64_t)TAP_WAKER_TASKS +
				 tap_runner_number(s->runners, waker - TAP_WAKER_TASKS);
}

static int write_slice(struct tap_drawn_slices *s, struct tap_slice_lane *lane)
{
	const struct slice *slice = &lane->slice;
	const struct coming *came = &slice->came;
	const bool began_before = came->how & BEGAN_BEFORE;
	struct tap_buf *columns = lane->columns;

	lane->is_open = false;
	if (++s->nr > s->max && !s->is_over) {
		s->is_over = true;
		drop_columns(s);
		tap_runners_clear(s->runners);
	}
	if (s->is_over)
		return 0;
	lane->nr++;
	tap_varint_put(&columns[GAP], slice->from_ns - lane->end_ns);
	tap_varint_put(&columns[NS], slice->to_ns - slice->from_ns);
	tap_varint_put(&columns[RUNNER], runner_code(s, slice));
	tap_buf_char(&columns[HOW], (char)(came->how | slice->left << LEFT_SHIFT));
	tap_varint_put(&columns[WAIT], came->wait_ns);
	tap_varint_put(&columns[WAKER], waker_code(s, came->waker));
	tap_varint_put(&columns[FROM], began_before ? 0 : came->from);
	lane->end_ns = slice->to_ns;
	return columns[NS].err ?: s->runners->err;
}

int tap_drawn_slices_end(struct tap_drawn_slices *s, struct tap_drawn_columns *columns)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->lanes->nr; i++)
		ret = s->v[i].is_open ? write_slice(s, &s->v[i]) : 0;
	if (ret || s->is_over)
		return ret;
	for (unsigned int i = 0; i < s->lanes->nr; i++)
		tap_u32_put(&s->nr_column, s->v[i].nr);
	ret = tap_drawn_columns_add(columns, "slices.nr", TAP_NUMBER_U32, &s->nr_column);
	for (unsigned int c = 0; !ret && c < NR_COLUMNS; c++)
		for (unsigned int i = 0; !ret && i < s->lanes->nr; i++)
			ret = tap_drawn_columns_add(columns, kinds[c].name, kinds[c].type,
						    &s->v[i].columns[c]);
	return ret;
}

/* ---- callbacks ---- */

/*
 * Return true if both slices are of tasks that are not selected, and adjoin: they are drawn as one
 * slice.
 */
static bool is_continued(const struct slice *slice, const struct slice *next)
{
	return slice->task && next->task && slice->runner == TAP_OTHERS &&
	       next->runner == TAP_OTHERS && slice->to_ns == next->from_ns;
}

static struct slice make_slice(struct tap_drawn_slices *s, const struct tap_slice_lane *lane,
			       const struct tap_cpu_interval *c)
{
	struct slice slice = { .task = c->task, .from_ns = c->from_ns, .to_ns = c->to_ns };

	if (!c->task) {
		slice.runner = c->what == TAP_CPU_OFFLINE ? TAP_RUNNER_OFFLINE : TAP_RUNNER_UNKNOWN;
		return slice;
	}
	slice.runner = tap_drawn_index(c->task);
	if (slice.runner == TAP_OTHERS)
		return slice;
	if (lane->coming.task == c->task && lane->coming.at_ns == c->from_ns)
		slice.came = lane->coming;
	else if (c->task->state == TAP_STATE_RUNNING && c->task->since_ns < s->run->window.from_ns)
		slice.came.how = BEGAN_BEFORE;
	if (lane->leaving.task == c->task && lane->leaving.at_ns == c->to_ns)
		slice.left = lane->leaving.how;
	return slice;
}

static uint8_t how_left(const struct tap_interval *t)
{
	static const uint8_t left[TAP_NR_STATES] = {
		[TAP_STATE_PREEMPTED] = LEFT_PREEMPTED, [TAP_STATE_WAKING] = LEFT_SLEEPING,
		[TAP_STATE_SLEEPING] = LEFT_SLEEPING,	[TAP_STATE_BLOCKED] = LEFT_BLOCKED,
		[TAP_STATE_STOPPED] = LEFT_STOPPED,	[TAP_STATE_DEAD] = LEFT_DEAD,
		[TAP_STATE_THROTTLED] = LEFT_THROTTLED,
	};

	return left[t->next];
}

static void leave_cpu(struct tap_slice_lane *lane, const struct tap_interval *t)
{
	struct slice *slice = &lane->slice;

	if (lane->is_open && slice->task == t->task && slice->to_ns == t->to_ns &&
	    slice->runner != TAP_OTHERS)
		slice->left = how_left(t);
	else
		lane->leaving = (struct leaving){ t->task, t->to_ns, how_left(t) };
}

static uint32_t waker_of(const struct tap_drawn_slices *s, const struct tap_timeline *t,
			 const struct tap_task *task)
{
	const struct tap_task *waker;

	if (task->woken_ns >= s->run->window.from_ns)
		return task->index < s->nr_wakers ? s->wakers[task->index] : TAP_WAKER_UNKNOWN;
	/* wakeups before the window are not reported */
	waker = tap_timeline_task(t, task->waker_tid);
	return waker		 ? TAP_WAKER_TASKS + waker->index
	       : task->waker_tid ? TAP_WAKER_UNKNOWN
				 : TAP_WAKER_INTERRUPT;
}

static void enter_cpu(struct tap_drawn_slices *s, const struct tap_timeline *t,
		      struct tap_slice_lane *lane, const struct tap_interval *i)
{
	static const uint8_t came[TAP_NR_STATES] = {
		[TAP_STATE_WAKING] = CAME_WAKING,
		[TAP_STATE_PREEMPTED] = CAME_PREEMPTED,
		[TAP_STATE_THROTTLED] = CAME_THROTTLED,
	};
	const uint32_t from = tap_lane(s->lanes, i->task->run_cpu);
	struct coming *c = &lane->coming;

	*c = (struct coming){ .task = i->task,
			      .at_ns = i->to_ns,
			      .from = from == TAP_NO_LANE ? 0 : from + 1 };
	if (!i->whole || !came[i->state])
		return;
	c->how = came[i->state];
	c->wait_ns = i->to_ns - i->from_ns;
	if (i->state == TAP_STATE_WAKING)
		c->waker = waker_of(s, t, i->task);
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *i)
{
	struct tap_drawn_slices *s = ctx;
	const uint32_t at =
		tap_lane(s->lanes, i->state == TAP_STATE_RUNNING ? i->cpu : i->next_cpu);

	if (at == TAP_NO_LANE)
		return 0;
	if (i->state == TAP_STATE_RUNNING)
		leave_cpu(&s->v[at], i);
	else if (i->next == TAP_STATE_RUNNING)
		enter_cpu(s, t, &s->v[at], i);
	return 0;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *c)
{
	struct tap_drawn_slices *s = ctx;
	const uint32_t at = tap_lane(s->lanes, c->cpu);
	struct tap_slice_lane *lane =
		at == TAP_NO_LANE || c->what == TAP_CPU_IDLE ? NULL : &s->v[at];
	struct slice slice;

	(void)t;
	if (!lane)
		return 0;
	slice = make_slice(s, lane, c);
	if (lane->is_open && is_continued(&lane->slice, &slice)) {
		lane->slice.to_ns = slice.to_ns;
		return 0;
	}
	if (lane->is_open && write_slice(s, lane))
		return -ENOMEM;
	lane->slice = slice;
	lane->is_open = true;
	return 0;
}

static int on_wakeup(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *w)
{
	struct tap_drawn_slices *s = ctx;
	uint32_t *waker =
		tap_array_at(&s->wakers, &s->nr_wakers, w->task->index, sizeof(*waker), NULL);

	(void)t;
	if (!waker)
		return -ENOMEM;
	*waker = w->in_interrupt || !w->waker_tid ? TAP_WAKER_INTERRUPT
		 : w->waker			  ? TAP_WAKER_TASKS + w->waker->index
						  : TAP_WAKER_UNKNOWN;
	return 0;
}

const struct tap_watcher_ops tap_drawn_slices_ops = {
	.states = TAP_STATE_ALL,
	.interval = on_interval,
	.cpu = on_cpu,
	.wakeup = on_wakeup,
};
