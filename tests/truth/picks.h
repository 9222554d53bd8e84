/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers for sched_pick, thrown for each switch: whatever they are, a report must draw the right
 * conclusions from them. A task's group is always the same, one of two.
 */
#ifndef TAP_TRUTH_PICKS_H
#define TAP_TRUTH_PICKS_H

#include "sim.h"

struct pick {
	int64_t vtime, lag, deadline, vprot; /* the last two from v on */
	uint32_t weight;
	int group;
};

/*
 * The pick recorded with @e. It depends on @e alone, so every call gives the same one. Return:
 * false: no pick was recorded.
 */
static inline bool pick_of(const struct event *e, struct pick *out)
{
	static const uint32_t weights[] = { 1 << 20, 1 << 20, 1 << 19, 3 << 20 };
	struct sim dices = { .rng = (e->ts_ns << 8 | (unsigned int)e->cpu) * 0x9e3779b97f4a7c15ull |
				    1 };

	if (e->kind != SWITCH || !dice(&dices, 8))
		return false;
	*out = (struct pick){
		.vtime = (int64_t)dice(&dices, 100000) - 50000,
		.lag = dice(&dices, 50000),
		.deadline = (int64_t)dice(&dices, 20000) - 1000,
		.vprot = dice(&dices, 10000),
		.weight = weights[dice(&dices, 4)],
		.group = 1 + e->tid % 2,
	};
	if (e->task < 0 || e->prio < 100 || e->is_scx) /* another class picked it */
		*out = (struct pick){ 0 };
	return true;
}

#endif
