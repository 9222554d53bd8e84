// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/folded.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"

/* A task's last sleep, kept until the wait after it is over. */
struct tap_folded_task {
	struct tap_stack_pair stack;
	uint64_t from_ns, to_ns;
	int cpu; /* CPU where it went to sleep; -1: not known */
	unsigned int line; /* 1 + index of the line in which it is counted; 0: none */
};

_Static_assert(sizeof(struct tap_folded_key) == 2 * (TAP_TASK_COMM + 4) + 6 * 4, "no padding");
_Static_assert(offsetof(struct tap_folded_line, ns) == sizeof(struct tap_folded_key),
	       "base/keyed.h");

#define SLEEPS                                                                                     \
	(TAP_STATE_BIT(TAP_STATE_SLEEPING) | TAP_STATE_BIT(TAP_STATE_BLOCKED) |                    \
	 TAP_STATE_BIT(TAP_STATE_STOPPED))

uint32_t tap_folded_states(enum tap_folded_of of)
{
	if (of == TAP_FOLDED_PREEMPTIONS)
		return TAP_STATE_BIT(TAP_STATE_PREEMPTED);
	return SLEEPS | TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_UNKNOWN);
}

void tap_folded_release(struct tap_folded *f)
{
	tap_keyed_release(&f->lines);
	free(f->tasks);
}

/* ---- counting ---- */

/* Add time to the line of @key. *@place: set to the line's index plus one. Return: 0 or -ENOMEM. */
static int add_time(struct tap_folded *f, const struct tap_folded_key *key, uint64_t from_ns,
		    uint64_t to_ns, unsigned int *place)
{
	struct tap_folded_line *line = tap_keyed_get(&f->lines, key, sizeof(*key), sizeof(*line));

	if (!line)
		return -ENOMEM;
	line->ns += tap_window_part_ns(&f->window, from_ns, to_ns);
	*place = (unsigned int)(line - (struct tap_folded_line *)f->lines.v) + 1;
	return 0;
}

struct tap_folded_who tap_folded_who(const struct tap_task *task)
{
	struct tap_folded_who who = { .tid = *task->comm ? 0 : task->tid };

	memcpy(who.comm, task->comm, strnlen(task->comm, TAP_TASK_COMM));
	return who;
}

static struct tap_folded_key key_of(const struct tap_task *task, struct tap_stack_pair stack)
{
	return (struct tap_folded_key){ .task = tap_folded_who(task), .stack = stack };
}

/*
 * Find the stack and CPU with which the task entered the state. They are unknown if the state may
 * have begun before the interval.
 */
static void find_stack(const struct tap_folded *f, const struct tap_interval *s,
		       struct tap_folded_task *of)
{
	const struct tap_task_stacks *left = tap_event_stacks_left(f->stacks, s->task, s->from_ns);

	*of = (struct tap_folded_task){
		.stack = left ? left->left : (struct tap_stack_pair){ 0 },
		.cpu = left ? left->left_cpu : -1,
		.from_ns = s->from_ns,
		.to_ns = s->to_ns,
	};
}

static void note_waker(const struct tap_folded *f, const struct tap_timeline *timeline,
		       const struct tap_interval *s, struct tap_folded_key *key)
{
	int tid = s->task->waker_tid;
	const struct tap_task *waker = tid > 0 ? tap_timeline_task(timeline, tid) : NULL;

	key->waker_stack = tap_event_stacks_woken(f->stacks, s->task);
	key->waker = waker ? tap_folded_who(waker) : (struct tap_folded_who){ .tid = tid };
	key->has_waker = true;
}

/* A wait after a wakeup ended, so the sleep before it is confirmed: count it. */
static int end_waking(struct tap_folded *f, const struct tap_timeline *timeline,
		      const struct tap_interval *s, const struct tap_folded_task *sleep,
		      unsigned int *place)
{
	struct tap_folded_key key = key_of(s->task, sleep->stack);

	if (f->of == TAP_FOLDED_OFF_CPU)
		return add_time(f, &key, s->from_ns, s->to_ns, place);
	note_waker(f, timeline, s, &key);
	return add_time(f, &key, sleep->from_ns, sleep->to_ns, place);
}

/* Count unknown time, with the sleep before it if that is taken back. */
static int add_unknown(struct tap_folded *f, const struct tap_interval *s, unsigned int *place)
{
	struct tap_folded_key key = key_of(s->task, (struct tap_stack_pair){ 0 });

	key.is_unknown = true;
	return f->of == TAP_FOLDED_OFF_CPU
		       ? add_time(f, &key, s->from_ns - s->back_ns, s->to_ns, place)
		       : 0;
}

/* Subtract a sleep that was counted and proved not to have happened. */
static void take_back(struct tap_folded *f, const struct tap_folded_task *of,
		      const struct tap_interval *s)
{
	if (s->back != TAP_STATE_UNKNOWN && of->line)
		((struct tap_folded_line *)f->lines.v)[of->line - 1].ns -=
			tap_window_part_ns(&f->window, of->from_ns, of->to_ns);
}

/* Count time asleep or preempted. */
static int add_left(struct tap_folded *f, const struct tap_interval *s, struct tap_folded_task *of)
{
	struct tap_folded_key key = key_of(s->task, of->stack);
	unsigned int place;
	int ret = add_time(f, &key, s->from_ns, s->to_ns, &place);

	of->line = ret ? 0 : place;
	return ret;
}

static int on_interval(void *ctx, const struct tap_timeline *timeline, const struct tap_interval *s)
{
	struct tap_folded *f = ctx;
	struct tap_folded_task *of =
		tap_array_at(&f->tasks, &f->nr_tasks, s->task->index, sizeof(*of), NULL);
	bool is_wakeup = f->of == TAP_FOLDED_WAKEUPS;
	struct tap_folded_task sleep;
	unsigned int place;

	if (!of)
		return -ENOMEM;
	take_back(f, of, s);
	sleep = *of;
	of->line = 0;
	if (s->state == TAP_STATE_UNKNOWN)
		return f->picks(f->ctx, s->task, -1) ? add_unknown(f, s, &place) : 0;
	if (s->state != TAP_STATE_WAKING) {
		find_stack(f, s, of);
		return !is_wakeup && f->picks(f->ctx, s->task, of->cpu) ? add_left(f, s, of) : 0;
	}
	if (sleep.to_ns != s->from_ns) /* woken while going to sleep, or a new task */
		find_stack(f, s, &sleep);
	if (is_wakeup && sleep.to_ns != s->from_ns) /* it did not sleep */
		return 0;
	return f->picks(f->ctx, s->task, is_wakeup ? s->task->waker_cpu : sleep.cpu)
		       ? end_waking(f, timeline, s, &sleep, &place)
		       : 0;
}

static int on_end(void *ctx, const struct tap_timeline *timeline)
{
	struct tap_folded *f = ctx;

	(void)timeline;
	tap_keyed_greatest_first(&f->lines, sizeof(struct tap_folded_key),
				 sizeof(struct tap_folded_line));
	return 0;
}

const struct tap_watcher_ops tap_folded_ops = {
	.states = SLEEPS | TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_PREEMPTED) |
		  TAP_STATE_BIT(TAP_STATE_UNKNOWN),
	.interval = on_interval,
	.end = on_end,
};

/* ---- lines ---- */

/*
 * Append a name, and replace what flamegraph.pl would misread: a semicolon ends a name, and a
 * number after a blank at a line's end is a weight (a second one is taken for a difference).
 */
static void put_name(struct tap_buf *out, const char *s, size_t len)
{
	size_t from = out->len, end;

	tap_text_escape(out, s, len);
	if (out->err)
		return;
	for (size_t i = from; i < out->len; i++)
		if (out->data[i] == ';')
			out->data[i] = ':';
	for (end = out->len; end > from && strchr("0123456789.", out->data[end - 1]); end--)
		;
	if (end > from && out->data[end - 1] == ' ')
		out->data[end - 1] = '_';
}

void tap_folded_put_who(struct tap_buf *out, const struct tap_folded_who *who)
{
	if (*who->comm)
		put_name(out, who->comm, strnlen(who->comm, TAP_TASK_COMM));
	else if (who->tid > 0)
		tap_buf_printf(out, ":%d", who->tid);
	else
		tap_buf_puts(out, who->tid ? "[unknown]" : "<idle>");
}

/* Append a stack's names, each with a semicolon before it. */
static void put_names(const struct tap_folded *f, uint32_t number, bool outermost_first,
		      struct tap_buf *out)
{
	struct span names = tap_event_stacks_names(f->stacks, number);
	const char *nl;
	size_t len;

	while (names.len) {
		nl = (outermost_first ? memrchr : memchr)(names.s, '\n', names.len);
		tap_buf_char(out, ';');
		if (outermost_first) {
			len = nl ? (size_t)(nl - names.s) : 0;
			put_name(out, names.s + len + !!nl, names.len - len - !!nl);
			names.len = len;
		} else {
			len = nl ? (size_t)(nl - names.s) : names.len;
			put_name(out, names.s, len);
			names = (struct span){ names.s + len + !!nl, names.len - len - !!nl };
		}
	}
}

static void put_stack(const struct tap_folded *f, struct tap_stack_pair stack, bool outermost_first,
		      struct tap_buf *out)
{
	put_names(f, outermost_first ? stack.user : stack.kernel, outermost_first, out);
	if (stack.user && stack.kernel)
		tap_buf_puts(out, ";-");
	put_names(f, outermost_first ? stack.kernel : stack.user, outermost_first, out);
	if (tap_stack_pair_is_none(stack))
		tap_buf_puts(out, ";[no stack]");
}

void tap_folded_put(const struct tap_folded *f, const struct tap_folded_line *line,
		    struct tap_buf *out)
{
	const struct tap_folded_key *key = &line->key;

	tap_folded_put_who(out, &key->task);
	if (key->is_unknown)
		tap_buf_puts(out, ";[unknown]");
	else
		put_stack(f, key->stack, true, out);
	if (key->has_waker) {
		tap_buf_puts(out, ";--");
		put_stack(f, key->waker_stack, false, out);
		tap_buf_char(out, ';');
		tap_folded_put_who(out, &key->waker);
	}
	tap_buf_printf(out, " %" PRIu64 "\n", line->ns);
}
