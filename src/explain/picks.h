/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a fair task ran while another one of its class waited, by EEVDF's own numbers (schedtap:sched_pick, events/pick.h).
 *
 * What waits in a queue keeps its virtual time v and its deadline, but it tells them only when it is picked. So the pieces of a
 * wait are cut as the picks of those that ran tell, and kept open until then: it is known by that pick whether it stood in the
 * same queue, whether it was eligible, V >= v, at each pick before, and whose deadline was the earlier one. Where there are many, those of
 * one task are joined, and where that holds for some of them alone the piece is TAP_PIECE_QUEUED.
 */
#ifndef TAP_EXPLAIN_PICKS_H
#define TAP_EXPLAIN_PICKS_H

#include "analysis/sched_pick.h"
#include "explain/piece.h"

/*
 * The part of @ran's run from @from_ns to *@to_ns, as a piece: its kind and .pick; *@to_ns: is cut to where that changes. @queued_ns:
 * since when the other one waited in this queue.
 */
void tap_picked_cut(const struct tap_sched_pick *ran, uint64_t queued_ns, uint64_t from_ns, uint64_t *to_ns, struct tap_piece *piece);
/* Closes an open piece of another group than @group, which is that of who waits. */
void tap_picked_close_other(int group, struct tap_piece *piece);
/* Who waits leaves the queue of an open piece without being picked. */
void tap_picked_leave(struct tap_piece *piece);
/* Closes an open piece. @waited: the pick that ended the wait in this queue; NULL: it ended otherwise. */
void tap_picked_close(const struct tap_sched_pick *waited, struct tap_piece *piece);

#endif
