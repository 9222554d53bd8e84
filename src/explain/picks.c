// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/picks.h"

void tap_picked_cut(const struct tap_sched_pick *ran, uint64_t queued_ns, uint64_t from_ns, uint64_t *to_ns, struct tap_piece *piece)
{
	bool is_first = queued_ns > ran->ts_ns;
	uint64_t slice_ns = ran->left_ns > ran->protected_ns ? ran->left_ns : ran->protected_ns;
	const struct {
		enum tap_piece_kind kind;
		uint64_t end_ns;
	} phases[] = {
		/* who stood there when it was picked waits for the pick, not for the protection */
		{ TAP_PIECE_PROTECTED, is_first ? ran->ts_ns + ran->protected_ns : 0 },
		{ TAP_PIECE_EARLIER, ran->ts_ns + slice_ns },
		{ TAP_PIECE_OVERRUN, UINT64_MAX },
	};
	unsigned int i = 0;

	while (phases[i].end_ns <= from_ns)
		i++;
	if (phases[i].end_ns < *to_ns)
		*to_ns = phases[i].end_ns;
	piece->kind = phases[i].kind;
	piece->pick = (struct tap_piece_pick){
		.is_open = true, .is_first = is_first, .group = ran->group, .vtime = ran->vtime, .max_vtime = ran->vtime,
		.max_deadline = ran->deadline,
	};
}

static enum tap_piece_kind why(const struct tap_sched_pick *waited, const struct tap_piece *piece)
{
	const struct tap_piece_pick *ran = &piece->pick;

	if (!waited)
		return TAP_PIECE_QUEUED;
	if (waited->group != ran->group)
		return TAP_PIECE_GROUP;
	if (ran->is_past)
		return TAP_PIECE_QUEUED;
	if (piece->kind != TAP_PIECE_EARLIER)
		return piece->kind;
	if (!ran->is_first && tap_vtime_before(ran->max_vtime, waited->v))
		return TAP_PIECE_INELIGIBLE;
	if (!ran->is_first && tap_vtime_before(ran->vtime, waited->v))
		return TAP_PIECE_QUEUED;
	return tap_vtime_before(waited->deadline, ran->max_deadline) ? TAP_PIECE_QUEUED : TAP_PIECE_EARLIER;
}

void tap_picked_close_other(int group, struct tap_piece *piece)
{
	if (!piece->pick.is_open || piece->pick.group == group)
		return;
	piece->kind = TAP_PIECE_GROUP;
	piece->pick = (struct tap_piece_pick){ 0 };
}

void tap_picked_leave(struct tap_piece *piece)
{
	piece->pick.is_past = piece->pick.is_open;
}

void tap_picked_close(const struct tap_sched_pick *waited, struct tap_piece *piece)
{
	if (piece->pick.is_open)
		piece->kind = why(waited, piece);
	piece->pick = (struct tap_piece_pick){ 0 };
}
