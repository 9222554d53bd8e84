/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a fair task ran while another fair task waited, from the numbers of EEVDF
 * (schedtap:sched_pick, events/pick.h).
 *
 * A waiting task keeps its virtual time v and its deadline, but the first event that reports them
 * is its own pick. So a wait is cut into components according to the picks of the running tasks,
 * and the components stay open until the waiter is picked.
 *
 * If __schedule() picks the running task again, there is no switch and no event reports its
 * numbers; its deadline may then be later than the last known one. The queue's virtual time V is
 * known nevertheless: each pick reports it, and between two picks it rises at a constant rate, and
 * more slowly once another entity has joined. Until V reached v the waiter was not eligible. After
 * that, the first of these reasons applies:
 *
 *   protected  the waiter arrived or became eligible during the running task's protected slice
 *   earlier    the running task was eligible, and its deadline was not later than the waiter's,
 *              even if it was picked again
 *   overrun    any pick would have chosen the waiter or a third task, but no pick took place
 *
 * If the numbers do not decide between two reasons, the component is TAP_PIECE_QUEUED. If a wait
 * has many components, those of one task are joined, and their numbers become bounds.
 */
#ifndef TAP_EXPLAIN_PICKS_H
#define TAP_EXPLAIN_PICKS_H

#include "analysis/explain/piece.h"
#include "analysis/sched_pick.h"

/*
 * What was picked from one queue: a task, or a group, one of whose tasks then runs. Units as in
 * struct tap_sched_pick.
 */
struct tap_picked_entity {
	uint64_t ts_ns;
	int queue; /* the group that the queue belongs to */
	uint64_t weight;
	int64_t vtime, v, deadline;
	uint64_t left_ns, protected_ns, slice_ns;
	uint32_t nr_queued; /* 0: unknown */
};

/* A pick: [0] is the task, followed by the groups above it as far as they are known. */
struct tap_picked {
	int tid; /* 0: a task of another class was picked */
	bool prev_queued;
	unsigned int nr;
	struct tap_picked_entity v[TAP_PICK_LEVELS + 1];
};

/* Return the group in whose queue the group of @pick's level @level is; 0: unknown. */
int tap_picked_parent(const struct tap_sched_pick *pick, unsigned int level);
void tap_picked_init(struct tap_picked *picked, const struct tap_sched_pick *pick);

/* A run of what was picked from a queue: from the switch to it until the next switch. */
struct tap_picked_run {
	struct tap_picked_entity pick;
	uint64_t end_ns; /* 0: not over */
	bool has_end_vtime;
	int64_t end_vtime; /* V of the queue at .end_ns */
	bool has_left; /* it left the queue when it was switched out */
	/* lower bound of the number of entities that joined the queue before V was next reported */
	int nr_joined;
};

/*
 * Set .end_vtime from @next, the queue's next pick, since V stands still while none of the queue's
 * tasks runs. @to_ns: the end of the run. .has_left must be set before.
 */
void tap_picked_put_end(struct tap_picked_run *run, const struct tap_picked_entity *next,
			uint64_t to_ns);

/* Picks of the task that already runs, as reported by sched_exit. */
struct tap_repicks {
	bool are_known; /* sched_exit was recorded */
	uint64_t last_ns; /* the last such pick within the run; 0: none */
};

/*
 * Set @piece's kind and .pick for what begins at @from_ns within the run, and shorten *@to_ns to
 * when that changes. @queued_ns: when the waiter entered this CPU's queues.
 */
void tap_picked_cut(const struct tap_picked_run *run, struct tap_repicks repicks,
		    uint64_t queued_ns, uint64_t from_ns, uint64_t *to_ns, struct tap_piece *piece);
/* Close an open component about another queue than @queue, the waiter's own, as TAP_PIECE_GROUP. */
void tap_picked_close_other(int queue, struct tap_piece *piece);
/* Note in an open component that the waiter left its queue without being picked. */
void tap_picked_leave(struct tap_piece *piece);
/* Update an open component once the end of its run is known. */
void tap_picked_go_on(const struct tap_picked_run *run, struct tap_piece *piece);
/*
 * Refine an open component that lies within @came_into, the run during which the waiter entered the
 * queue. The waiter has since been picked (@waited), so V after its arrival can be computed.
 * @was_moved: the waiter came from another CPU's queue.
 */
void tap_picked_refine(const struct tap_picked_entity *waited,
		       const struct tap_picked_run *came_into, bool was_moved,
		       struct tap_piece *piece);
/*
 * Close a component, if it is open. @waited: the pick that ended the wait in this queue; NULL: it
 * ended otherwise. If the waiter became eligible during the component, or its deadline became the
 * earlier one, the component is split. Return: the number of components: 1: it is @piece; more:
 * they are in @out.
 */
#define TAP_PICKED_PARTS 3u
unsigned int tap_picked_close(const struct tap_picked_entity *waited, struct tap_piece *piece,
			      struct tap_piece out[TAP_PICKED_PARTS]);
/* Return the number of components that tap_picked_close() will return. */
unsigned int tap_picked_parts(const struct tap_picked_entity *waited,
			      const struct tap_piece *piece);

#endif
