// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/above.h"

#include <errno.h>

#include "analysis/explain/piece.h"

const char *tap_reason_name(enum tap_reason reason)
{
	static const char *const names[TAP_NR_REASONS] = {
		[TAP_REASON_OWN] = "own",
		[TAP_REASON_OTHER] = "other",
		[TAP_REASON_RECORDER] = "recorder",
		[TAP_REASON_IDLE] = "idle_exit",
		[TAP_REASON_INTERRUPTS] = "interrupts",
		[TAP_REASON_THROTTLED] = "throttled",
		[TAP_REASON_WAKEUP] = "wakeup",
		[TAP_REASON_HELD] = "held",
		[TAP_REASON_OFFLINE] = "offline",
		[TAP_REASON_UNKNOWN] = "unknown",
	};

	return names[reason];
}

void tap_above_release(struct tap_above *a)
{
	tap_keyed_release(&a->others);
	*a = (struct tap_above){ 0 };
}

static enum tap_reason reason_of(const struct tap_above *a, const struct tap_piece *p)
{
	switch (p->kind) {
	case TAP_PIECE_UNKNOWN:
	case TAP_PIECE_NOT_EXPLAINED:
		return TAP_REASON_UNKNOWN;
	case TAP_PIECE_THROTTLED:
		return TAP_REASON_THROTTLED;
	case TAP_PIECE_PLACING:
		return TAP_REASON_WAKEUP;
	case TAP_PIECE_HELD:
		return TAP_REASON_HELD;
	case TAP_PIECE_OFFLINE:
		return TAP_REASON_OFFLINE;
	case TAP_PIECE_IRQ:
	case TAP_PIECE_SOFTIRQ:
		return TAP_REASON_INTERRUPTS;
	case TAP_PIECE_IDLE_STATE:
	case TAP_PIECE_IDLE_EXIT:
	case TAP_PIECE_IDLE:
		return TAP_REASON_IDLE;
	default:
		return p->task ? a->who(a->ctx, p->task) : TAP_REASON_UNKNOWN;
	}
}

static int add_other(struct tap_above *a, const struct tap_task *task, uint64_t ns)
{
	const int64_t tid = task->tid;
	struct tap_above_task *other = tap_keyed_get(&a->others, &tid, sizeof(tid), sizeof(*other));

	if (!other)
		return -ENOMEM;
	other->ns += ns;
	memcpy(other->comm, task->comm, sizeof(other->comm));
	return 0;
}

int tap_above_wait(struct tap_above *a, const struct tap_wait_told *w,
		   const struct tap_avoidable_idle *idle)
{
	uint64_t ns = w->to_ns - w->from_ns, unknown_ns = 0;
	int ret = 0;

	if (ns <= a->limit_ns)
		return 0;
	for (unsigned int i = 0; !ret && i < w->nr_pieces; i++) {
		const struct tap_piece *p = &w->pieces[i];
		enum tap_reason reason = reason_of(a, p);

		a->reasons[reason] += p->ns;
		if (reason == TAP_REASON_UNKNOWN)
			unknown_ns += p->ns;
		if (reason == TAP_REASON_OTHER)
			ret = add_other(a, p->task, p->ns);
	}
	a->waits++;
	a->ns += ns;
	a->explained += unknown_ns * 100 <= ns * TAP_ABOVE_UNKNOWN_PCT;
	a->idle_ns += idle->ns;
	a->contended_idle_ns += idle->contended_ns;
	return ret;
}

int tap_above_merge(struct tap_above *to, const struct tap_above *from)
{
	const struct tap_above_task *others = from->others.v;

	to->waits += from->waits;
	to->ns += from->ns;
	to->explained += from->explained;
	to->idle_ns += from->idle_ns;
	to->contended_idle_ns += from->contended_idle_ns;
	for (enum tap_reason i = 0; i < TAP_NR_REASONS; i++)
		to->reasons[i] += from->reasons[i];
	for (unsigned int i = 0; i < from->others.nr; i++) {
		struct tap_above_task *sum =
			tap_keyed_get(&to->others, &others[i].tid, sizeof(sum->tid), sizeof(*sum));

		if (!sum)
			return -ENOMEM;
		sum->ns += others[i].ns;
		memcpy(sum->comm, others[i].comm, sizeof(sum->comm));
	}
	return 0;
}

void tap_above_end(struct tap_above *a)
{
	tap_keyed_greatest_first(&a->others, sizeof(int64_t), sizeof(struct tap_above_task));
}
