/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a fair task ran while another task of its class waited, by EEVDF's own numbers
 * (schedtap:sched_pick, events/pick.h).
 *
 * A waiting task keeps its virtual time v and its deadline, but its own pick is the first event
 * that reports them. So a wait's components are cut by what the picks of the running tasks report,
 * and stay open until the waiter is picked.
 *
 * A pick of the task that runs already is no switch, and no event reports its numbers: the running
 * task's deadline may be a later one then. The queue's virtual time V is known nevertheless: at
 * each pick, and between two picks it rises evenly, and more slowly once another entity has come.
 * Until V reaches v the waiter was not eligible. After that the first of these reasons counts:
 *
 *   protected	the running task's protected slice was not over when the waiter came or became
 * eligible
 *   earlier	the running task was eligible, and whatever its deadline was then, it was not later
 * than the waiter's overrun	any pick would have taken the waiter, or another task: there was no
 * pick
 *
 * Where the numbers leave two of them open, the component is TAP_PIECE_QUEUED. Where a wait has
 * many components, those of one task are joined, and their numbers are bounds.
 */
#ifndef TAP_EXPLAIN_PICKS_H
#define TAP_EXPLAIN_PICKS_H

#include "analysis/explain/piece.h"
#include "analysis/sched_pick.h"

/* What was picked from one queue: a task, or a group of which a task runs then. Units as in struct
 * tap_sched_pick. */
struct tap_picked_entity {
	uint64_t ts_ns;
	int queue; /* the group whose tasks and groups stand in it */
	uint64_t weight;
	int64_t vtime, v, deadline;
	uint64_t left_ns, protected_ns, slice_ns;
	uint32_t nr_queued; /* 0: not told */
};

/* A pick: [0] is the task, what follows are the groups above it, as far as they are known. */
struct tap_picked {
	int tid; /* 0: another class picked */
	bool prev_queued;
	unsigned int nr;
	struct tap_picked_entity v[TAP_PICK_LEVELS + 1];
};

/* The group in whose queue the entity of a level stands; 0: not told. */
int tap_picked_parent(const struct tap_sched_pick *pick, unsigned int level);
void tap_picked_init(struct tap_picked *picked, const struct tap_sched_pick *pick);

/* What was picked from a queue runs, from the switch to it to the next switch. */
struct tap_picked_run {
	struct tap_picked_entity pick;
	uint64_t end_ns; /* 0: it goes on */
	bool has_end_vtime;
	int64_t end_vtime; /* V of its queue at .end_ns */
	bool has_left; /* it did not stay in the queue */
	int nr_joined; /* entities that came into the queue until V was told, at least */
};

/*
 * Sets .end_vtime by @next, the next pick from the queue: V stands still while none of its tasks
 * runs. @to_ns: the end of the run. .has_left must be known.
 */
void tap_picked_put_end(struct tap_picked_run *run, const struct tap_picked_entity *next,
			uint64_t to_ns);

/* What sched_exit reports of picks of the task that runs already. */
struct tap_repicks {
	bool are_known; /* sched_exit was recorded */
	uint64_t last_ns; /* the last one in this run; 0: none */
};

/*
 * Sets @piece's kind and .pick for what comes at @from_ns in the run, and shortens *@to_ns to where
 * that changes.
 * @queued_ns: since when the waiter was in this CPU's queues.
 */
void tap_picked_cut(const struct tap_picked_run *run, struct tap_repicks repicks,
		    uint64_t queued_ns, uint64_t from_ns, uint64_t *to_ns, struct tap_piece *piece);
/* Closes an open piece of another queue than @queue, the waiter's own. */
void tap_picked_close_other(int queue, struct tap_piece *piece);
/* The waiter leaves the queue of an open piece without being picked. */
void tap_picked_leave(struct tap_piece *piece);
/* An open piece of a run that went on: what is known once it is over. */
void tap_picked_go_on(const struct tap_picked_run *run, struct tap_piece *piece);
/*
 * The waiter has been picked, @waited: what V was from when it came until the end of that run,
 * @came_into, as far as an open piece is of that. @was_moved: it came from another CPU's queue.
 */
void tap_picked_refine(const struct tap_picked_entity *waited,
		       const struct tap_picked_run *came_into, bool was_moved,
		       struct tap_piece *piece);
/*
 * Closes a piece, if it is open. @waited: the pick that ended the wait in this queue; NULL: it
 * ended otherwise. Return: 1; as how many pieces, which are @out, where the waiter became eligible
 * meanwhile, or its deadline the earlier one.
 */
#define TAP_PICKED_PARTS 3u
unsigned int tap_picked_close(const struct tap_picked_entity *waited, struct tap_piece *piece,
			      struct tap_piece out[TAP_PICKED_PARTS]);
/* How many that will be. */
unsigned int tap_picked_parts(const struct tap_picked_entity *waited,
			      const struct tap_piece *piece);

#endif
