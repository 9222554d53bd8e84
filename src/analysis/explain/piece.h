/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The components ("pieces") of a wait for a CPU. Each has one kind, and they add up to the wait
 * (docs/explain.md). The kinds are listed in the order in which they are tried; the first that
 * applies is used.
 */
#ifndef TAP_EXPLAIN_PIECE_H
#define TAP_EXPLAIN_PIECE_H

#include "timeline/timeline.h"

enum tap_piece_kind {
	TAP_PIECE_UNKNOWN, /* events are missing, or what the CPU did was not seen */
	TAP_PIECE_THROTTLED, /* the quota or budget was used up */
	TAP_PIECE_PLACING, /* the task was being woken, and was not in a run queue yet */
	/*
	 * sched_ext's BPF scheduler kept the task out of all queues, while its CPU ran no higher
	 * class and no interrupt
	 */
	TAP_PIECE_HELD,
	TAP_PIECE_OFFLINE, /* the task's CPU was offline */
	TAP_PIECE_IRQ, /* the task's CPU was in an interrupt handler */
	TAP_PIECE_SOFTIRQ,
	TAP_PIECE_IDLE_STATE, /* the task's CPU was in an idle state and had to be woken up */
	TAP_PIECE_IDLE_EXIT, /* the task's CPU had left its idle state, but had not switched yet */
	TAP_PIECE_IDLE, /* TAP_PIECE_IDLE_STATE or TAP_PIECE_IDLE_EXIT: cpu_idle was not recorded */
	TAP_PIECE_STOP, /* a task of a higher class ran: a CPU's stopper */
	TAP_PIECE_DEADLINE,
	TAP_PIECE_REALTIME,
	/* a real-time task of higher priority ran, and the waiter is real-time too */
	TAP_PIECE_HIGHER,
	/* a task of a lower class ran, because a deadline server let it (sched_dl_pick) */
	TAP_PIECE_SERVER,
	/* a task of the same or a lower class ran although it had been asked to reschedule */
	TAP_PIECE_RESCHED,
	/*
	 * a task of the same or a lower class ran, which had been asked to reschedule lazily, at
	 * the next tick
	 */
	TAP_PIECE_LAZY,
	/*
	 * a task of the same or a lower class ran while the waiter was in a dispatch queue that
	 * several CPUs share
	 */
	TAP_PIECE_DSQ,
	/* another fair task ran, and the reason is known (picks.h): */
	TAP_PIECE_GROUP, /* it is of another group, and groups take turns */
	TAP_PIECE_INELIGIBLE, /* the waiter had received more than its share */
	TAP_PIECE_PROTECTED, /* the waiter came during the running task's protected slice */
	TAP_PIECE_EARLIER, /* the running task's virtual deadline was earlier */
	TAP_PIECE_OVERRUN, /* the running task had used up its slice, and no tick had come yet */
	TAP_PIECE_QUEUED, /* a task of the same class ran, or one whose priority is unknown */
	TAP_PIECE_LOWER, /* a task of a lower class or priority ran and was about to be preempted */
	/*
	 * as TAP_PIECE_LOWER, but in one wait for longer than a preemption takes, TAP_LOWER_MAX_NS
	 */
	TAP_PIECE_NOT_EXPLAINED,
	TAP_NR_PIECE_KINDS,
};

/*
 * A preemption has to wait until the kernel leaves a path in which preemption is disabled. If the
 * kernel preempts only at ticks, that takes up to one tick: 4 ms at HZ=250. A longer time has
 * another cause, most likely a deadline server.
 */
#define TAP_LOWER_MAX_NS 4000000u

/*
 * What picks report about a component in which another task ran, or about several joined
 * components; then the numbers are bounds (picks.h).
 */
struct tap_piece_pick {
	bool is_open; /* the reason for this component is not known yet */
	bool came_later; /* the waiter entered the queue after the pick */
	/*
	 * the waiter has left the queue since then without being picked, so its v and deadline
	 * at that time stay unknown
	 */
	bool is_past;
	bool rises; /* V rises at a constant rate from .from_v to .to_v; false: these are bounds */
	bool goes_on; /* the end of the run is not known yet */
	/* a group was picked, of which neither the waiter nor its group is a member */
	bool is_group;
	bool delays; /* the deadline rises at a constant rate from .from_deadline to .to_deadline */
	int queue; /* the queue that contains both tasks or groups above them */
	/* the waiter's entity in .queue: 0: the waiter itself, 1: its group, and so on */
	unsigned int level;
	int64_t from_v, to_v; /* V of .queue at the start and end */
	/* for a waiter with a v up to this, the kind is certain */
	int64_t certain_v;
	/* the running task's deadline: lower bound; at the start; at the end (upper bound) */
	int64_t min_deadline, from_deadline, to_deadline;
};

struct tap_piece {
	enum tap_piece_kind kind;
	const struct tap_task *task; /* the running task, from TAP_PIECE_STOP on; else NULL */
	uint64_t from_ns; /* start of the first component, if several were joined */
	uint64_t ns;
	/*
	 * the group of .task, as in sched_pick, if the waiter is in another group; 0: it is in the
	 * same group, or that is unknown
	 */
	int group;
	/* private: used until the waiter is picked (picks.h) */
	struct tap_piece_pick pick;
	unsigned int part; /* private: number of the part, if the wait is split (waits.h) */
};

/* Return the kind's name in JSON: "unknown", "throttled", ... */
const char *tap_piece_name(enum tap_piece_kind kind);
/*
 * Return the kind's description for users: "its CPU was idle", or " ran (stopper)" for kinds with a
 * task, to be appended to the task's name.
 */
const char *tap_piece_text(enum tap_piece_kind kind);

/*
 * Return the kind of a task's wait while a task of the given priority runs, from their classes and
 * priorities alone. Priorities as in struct tap_task.
 */
enum tap_piece_kind tap_piece_of_runner(const struct tap_task *waiter,
					const struct tap_task *runner, int runner_prio);

/* Return true if two open picks may be joined. @exactly: only if their numbers are equal. */
bool tap_picks_alike(const struct tap_piece_pick *x, const struct tap_piece_pick *y, bool exactly);
static inline bool tap_pieces_alike(const struct tap_piece *a, const struct tap_piece *b,
				    bool exactly)
{
	if (a->kind != b->kind || a->task != b->task || a->part != b->part ||
	    a->pick.is_open != b->pick.is_open)
		return false;
	return !a->pick.is_open || tap_picks_alike(&a->pick, &b->pick, exactly);
}
/*
 * If the TAP_PIECE_LOWER components of one wait are longer than TAP_LOWER_MAX_NS together, turn
 * them into TAP_PIECE_NOT_EXPLAINED.
 */
void tap_pieces_doubt_lower(struct tap_piece *pieces, unsigned int nr);
/* Add a component that is alike (tap_pieces_alike()) to @to. */
void tap_piece_join(struct tap_piece *to, const struct tap_piece *piece);
/* Join alike components. @pieces: in time order. Return: the number of components left. */
unsigned int tap_pieces_merge(struct tap_piece *pieces, unsigned int nr);

#endif
