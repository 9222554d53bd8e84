// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/piece.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/sched_pick.h"

#define FEW 16u
#define SOME 16384u

const char *tap_piece_name(enum tap_piece_kind kind)
{
	static const char *const names[TAP_NR_PIECE_KINDS] = {
		[TAP_PIECE_UNKNOWN] = "unknown",     [TAP_PIECE_THROTTLED] = "throttled",
		[TAP_PIECE_PLACING] = "placing",     [TAP_PIECE_HELD] = "held",
		[TAP_PIECE_OFFLINE] = "offline",     [TAP_PIECE_IRQ] = "irq",
		[TAP_PIECE_SOFTIRQ] = "softirq",     [TAP_PIECE_IDLE_STATE] = "idle_state",
		[TAP_PIECE_IDLE_EXIT] = "idle_exit", [TAP_PIECE_IDLE] = "idle",
		[TAP_PIECE_STOP] = "stop",	     [TAP_PIECE_DEADLINE] = "deadline",
		[TAP_PIECE_REALTIME] = "realtime",   [TAP_PIECE_HIGHER] = "higher",
		[TAP_PIECE_SERVER] = "server",	     [TAP_PIECE_RESCHED] = "resched",
		[TAP_PIECE_LAZY] = "lazy",	     [TAP_PIECE_DSQ] = "dsq",
		[TAP_PIECE_GROUP] = "group",	     [TAP_PIECE_INELIGIBLE] = "ineligible",
		[TAP_PIECE_PROTECTED] = "protected", [TAP_PIECE_EARLIER] = "earlier_deadline",
		[TAP_PIECE_OVERRUN] = "overrun",     [TAP_PIECE_QUEUED] = "queued",
		[TAP_PIECE_LOWER] = "lower",	     [TAP_PIECE_NOT_EXPLAINED] = "not_explained",
	};

	return names[kind];
}

const char *tap_piece_text(enum tap_piece_kind kind)
{
	static const char *const texts[TAP_NR_PIECE_KINDS] = {
		[TAP_PIECE_UNKNOWN] = "unknown",
		[TAP_PIECE_THROTTLED] = "its quota or budget was used up",
		[TAP_PIECE_PLACING] = "its wakeup was in progress",
		[TAP_PIECE_HELD] = "its BPF scheduler held it back",
		[TAP_PIECE_OFFLINE] = "its CPU was offline",
		[TAP_PIECE_IRQ] = "in interrupts",
		[TAP_PIECE_SOFTIRQ] = "in softirqs",
		[TAP_PIECE_IDLE_STATE] = "its CPU was still in an idle state",
		[TAP_PIECE_IDLE_EXIT] = "its CPU was leaving idle",
		[TAP_PIECE_IDLE] = "its CPU was idle",
		[TAP_PIECE_STOP] = " ran (stopper)",
		[TAP_PIECE_DEADLINE] = " ran (deadline task)",
		[TAP_PIECE_REALTIME] = " ran (real-time task)",
		[TAP_PIECE_HIGHER] = " ran (higher priority)",
		[TAP_PIECE_SERVER] = " ran (deadline server)",
		[TAP_PIECE_RESCHED] = " ran although a reschedule was requested",
		[TAP_PIECE_LAZY] = " ran until the tick (lazy preemption)",
		[TAP_PIECE_DSQ] = " ran while the waiter was in a shared dispatch queue",
		[TAP_PIECE_GROUP] = " ran (another group)",
		[TAP_PIECE_INELIGIBLE] = " ran; the waiter was not eligible yet",
		[TAP_PIECE_PROTECTED] = " ran within its protected slice",
		[TAP_PIECE_EARLIER] = " ran; its deadline was earlier",
		[TAP_PIECE_OVERRUN] = " overran its slice",
		[TAP_PIECE_QUEUED] = " ran",
		[TAP_PIECE_LOWER] = " ran before it was preempted",
		[TAP_PIECE_NOT_EXPLAINED] = " ran although its priority is lower; not explained",
	};

	return texts[kind];
}

/*
 * The scheduling classes in the order of sched_class_above(), derived from sched_switch. Stoppers
 * show the highest real-time priority (sched_set_stop_task() in kernel/sched/core.c), which no
 * other task with a stopper's name has.
 */
enum sched_class { FAIR, REALTIME, DEADLINE, STOP };

static enum sched_class class_of(int prio, bool is_stopper)
{
	if (prio < 0)
		return DEADLINE;
	if (prio >= 100)
		return FAIR;
	return !prio && is_stopper ? STOP : REALTIME;
}

enum tap_piece_kind tap_piece_of_runner(const struct tap_task *waiter,
					const struct tap_task *runner, int runner_prio)
{
	static const enum tap_piece_kind kinds[] = {
		[REALTIME] = TAP_PIECE_REALTIME,
		[DEADLINE] = TAP_PIECE_DEADLINE,
		[STOP] = TAP_PIECE_STOP,
	};
	const enum sched_class own = class_of(waiter->prio, tap_comm_is_stopper(waiter->comm)),
			       class = class_of(runner_prio, tap_comm_is_stopper(runner->comm));

	if (waiter->prio == TAP_PRIO_UNKNOWN || runner_prio == TAP_PRIO_UNKNOWN)
		return TAP_PIECE_QUEUED;
	if (class > own)
		return kinds[class];
	if (class < own)
		return TAP_PIECE_LOWER;
	if (class == REALTIME && runner_prio != waiter->prio)
		return runner_prio < waiter->prio ? TAP_PIECE_HIGHER : TAP_PIECE_LOWER;
	return TAP_PIECE_QUEUED;
}

bool tap_picks_alike(const struct tap_piece_pick *x, const struct tap_piece_pick *y, bool exactly)
{
	return x->came_later == y->came_later && x->is_past == y->is_past && x->queue == y->queue &&
	       x->level == y->level && x->is_group == y->is_group && x->goes_on == y->goes_on &&
	       (!exactly ||
		(x->from_v == y->from_v && x->to_v == y->to_v && x->certain_v == y->certain_v &&
		 x->min_deadline == y->min_deadline && x->from_deadline == y->from_deadline &&
		 x->to_deadline == y->to_deadline));
}

static inline int64_t earlier_vtime(int64_t a, int64_t b)
{
	return tap_vtime_before(a, b) ? a : b;
}

static inline int64_t later_vtime(int64_t a, int64_t b)
{
	return tap_vtime_before(a, b) ? b : a;
}

void tap_pieces_doubt_lower(struct tap_piece *pieces, unsigned int nr)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < nr; i++)
		ns += pieces[i].kind == TAP_PIECE_LOWER ? pieces[i].ns : 0;
	for (unsigned int i = 0; i < nr && ns > TAP_LOWER_MAX_NS; i++)
		if (pieces[i].kind == TAP_PIECE_LOWER)
			pieces[i].kind = TAP_PIECE_NOT_EXPLAINED;
}

void tap_piece_join(struct tap_piece *to, const struct tap_piece *piece)
{
	struct tap_piece_pick *x = &to->pick;
	const struct tap_piece_pick *y = &piece->pick;

	to->ns += piece->ns;
	if (!x->is_open)
		return;
	x->rises = x->delays = x->goes_on = false;
	x->from_v = earlier_vtime(x->from_v, y->from_v);
	x->to_v = later_vtime(x->to_v, y->to_v);
	x->certain_v = earlier_vtime(x->certain_v, y->certain_v);
	x->min_deadline = earlier_vtime(x->min_deadline, y->min_deadline);
	x->from_deadline = earlier_vtime(x->from_deadline, y->from_deadline);
	x->to_deadline = later_vtime(x->to_deadline, y->to_deadline);
}

static int by_kind(const void *a, const void *b)
{
	const struct tap_piece *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->task != y->task)
		return !x->task || (y->task && x->task->index < y->task->index) ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int by_time(const void *a, const void *b)
{
	const struct tap_piece *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* tap_pieces_merge() for few components: a linear search keeps them in time order. */
static unsigned int merge_few(struct tap_piece *pieces, unsigned int nr)
{
	unsigned int nr_merged = 0;

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int k = 0;

		while (k < nr_merged && !tap_pieces_alike(&pieces[k], &pieces[i], false))
			k++;
		if (k < nr_merged)
			tap_piece_join(&pieces[k], &pieces[i]);
		else
			pieces[nr_merged++] = pieces[i];
	}
	return nr_merged;
}

static uint32_t hash_piece(const struct tap_piece *p)
{
	uint64_t key = ((uint64_t)(p->task ? p->task->index : UINT32_MAX) << 5 | p->kind) *
		       0x9e3779b97f4a7c15u;

	return (uint32_t)(key >> 32);
}

/* tap_pieces_merge() for more components, with a hash table. */
static unsigned int merge_some(struct tap_piece *pieces, unsigned int nr)
{
	/* at least twice as many slots as components */
	const unsigned int mask = UINT32_MAX >> __builtin_clz(nr) << 1 | 1;
	uint16_t merged[mask + 1]; /* index in @pieces, plus 1 */
	unsigned int nr_merged = 0;

	memset(merged, 0, sizeof(merged));
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int slot = hash_piece(&pieces[i]) & mask;
		struct tap_piece *p = NULL;

		for (; merged[slot]; slot = (slot + 1) & mask) {
			p = &pieces[merged[slot] - 1];
			if (tap_pieces_alike(p, &pieces[i], false))
				break;
		}
		if (merged[slot]) {
			tap_piece_join(p, &pieces[i]);
			continue;
		}
		pieces[nr_merged++] = pieces[i];
		merged[slot] = (uint16_t)nr_merged;
	}
	return nr_merged;
}

unsigned int tap_pieces_merge(struct tap_piece *pieces, unsigned int nr)
{
	unsigned int nr_merged = 0;

	if (nr <= 1)
		return nr;
	if (nr <= FEW)
		return merge_few(pieces, nr);
	if (nr <= SOME)
		return merge_some(pieces, nr);
	qsort(pieces, nr, sizeof(*pieces), by_kind);
	for (unsigned int i = 0; i < nr; i++) {
		struct tap_piece *last = nr_merged ? &pieces[nr_merged - 1] : NULL;

		if (last && tap_pieces_alike(last, &pieces[i], false))
			tap_piece_join(last, &pieces[i]);
		else
			pieces[nr_merged++] = pieces[i];
	}
	qsort(pieces, nr_merged, sizeof(*pieces), by_time);
	return nr_merged;
}
