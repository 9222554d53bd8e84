/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A wait for a CPU, cut into pieces of one kind each, that add up to it (docs/explain.md). The
 * kinds are tried in this order, and the first that fits it is.
 */
#ifndef TAP_EXPLAIN_PIECE_H
#define TAP_EXPLAIN_PIECE_H

#include "timeline/timeline.h"

enum tap_piece_kind {
	TAP_PIECE_UNKNOWN, /* events are missing, or what the CPU did was not seen */
	TAP_PIECE_THROTTLED, /* its quota or budget was used up */
	TAP_PIECE_PLACING, /* it was being woken, and in no queue yet */
	/* the scheduler of sched_ext kept it, in no queue, while no higher class ran on its CPU,
	   nor an interrupt */
	TAP_PIECE_HELD,
	TAP_PIECE_OFFLINE, /* its CPU was taken out of use */
	TAP_PIECE_IRQ, /* its CPU was in an interrupt's handler */
	TAP_PIECE_SOFTIRQ,
	TAP_PIECE_IDLE_STATE, /* its CPU was in an idle state: asleep, and to be woken */
	TAP_PIECE_IDLE_EXIT, /* its CPU had left its idle state, and had not yet switched */
	TAP_PIECE_IDLE, /* either: cpu_idle was not recorded */
	TAP_PIECE_STOP, /* a task of a higher class ran: a CPU's stopper */
	TAP_PIECE_DEADLINE,
	TAP_PIECE_REALTIME,
	TAP_PIECE_HIGHER, /* one of its own class, real-time, of a higher priority */
	/* one of a lower class, which a deadline server let run (sched_dl_pick) */
	TAP_PIECE_SERVER,
	/* one of its own class or a lower one, which had been asked to give way */
	TAP_PIECE_RESCHED,
	TAP_PIECE_LAZY, /* the same, lazily: at the next tick */
	/* one of its own class or a lower one, and it was in a dispatch queue that CPUs share */
	TAP_PIECE_DSQ,
	/* one of its own class, fair, and it is known why (picks.h): */
	TAP_PIECE_GROUP, /* of another group: groups take turns */
	TAP_PIECE_INELIGIBLE, /* the waiting one had had more than its share */
	TAP_PIECE_PROTECTED, /* it came while the other was within its protected slice */
	TAP_PIECE_EARLIER, /* the other's virtual deadline was earlier */
	TAP_PIECE_OVERRUN, /* the other had used up its slice: no tick had come yet */
	TAP_PIECE_QUEUED, /* one of its own class, or of a priority that is not known */
	TAP_PIECE_LOWER, /* one of a lower class or priority, which was yet to be preempted */
	/* the same, for longer in one wait than a preemption takes: TAP_LOWER_MAX_NS */
	TAP_PIECE_NOT_EXPLAINED,
	TAP_NR_PIECE_KINDS,
};

/*
 * A preemption waits for the end of a kernel path that may not be preempted. Where the kernel
 * preempts only at ticks, that is one tick: 4 ms at HZ=250. A longer time has another cause, above
 * all a deadline server.
 */
#define TAP_LOWER_MAX_NS 4000000u

/* What picks report of a task's run, or of a part of it; bounds where several are joined (picks.h).
 */
struct tap_piece_pick {
	bool is_open; /* why the waiter waited is not known yet */
	bool came_later; /* the waiter, after the pick */
	bool is_past; /* the waiter has left the queue since: its group alone can tell more */
	bool rises; /* V rises evenly from .from_v to .to_v; false: the two are bounds */
	bool goes_on; /* how the run ended is not known yet */
	bool is_group; /* a group of tasks ran, to which the waiter or its group is another one */
	bool delays; /* likewise the deadline from .from_deadline to .to_deadline */
	int queue; /* in which both stand, they or their groups */
	unsigned int level; /* of the waiter's groups which one; 0: itself */
	int64_t from_v, to_v; /* V of the queue */
	/* a waiter whose v is not later waits for what the kind says */
	int64_t certain_v;
	/* of the task that ran, at least and, at the beginning and end, at most */
	int64_t min_deadline, from_deadline, to_deadline;
};

struct tap_piece {
	enum tap_piece_kind kind;
	const struct tap_task *task; /* who ran, from TAP_PIECE_STOP on; else NULL */
	uint64_t from_ns; /* the first one, where several are added up */
	uint64_t ns;
	/* .task's, as in sched_pick, if the waiter is in another one; 0: it is in the same one, or
	 * that is not known */
	int group;
	/* inside: until the task that waits was picked itself (picks.h) */
	struct tap_piece_pick pick;
	unsigned int part; /* inside: of the wait, where that is split (waits.h) */
};

/* "unknown", "throttled", ..., as in JSON. */
const char *tap_piece_name(enum tap_piece_kind kind);
/* "its CPU was idle", or for a kind with a task " ran (stopper)", which follows the task's name. */
const char *tap_piece_text(enum tap_piece_kind kind);

/* The one kind that a task's wait is of while a task of this priority runs. Priorities as of struct
 * tap_task. */
enum tap_piece_kind tap_piece_of_runner(const struct tap_task *waiter,
					const struct tap_task *runner, int runner_prio);

/* Whether two pieces are of one kind, task, group and part; @exactly: and of one pick, if they are
 * open. */
/* of open ones */
bool tap_picks_alike(const struct tap_piece_pick *x, const struct tap_piece_pick *y, bool exactly);
static inline bool tap_pieces_alike(const struct tap_piece *a, const struct tap_piece *b,
				    bool exactly)
{
	if (a->kind != b->kind || a->task != b->task || a->part != b->part ||
	    a->pick.is_open != b->pick.is_open)
		return false;
	return !a->pick.is_open || tap_picks_alike(&a->pick, &b->pick, exactly);
}
/* Those of a wait: what is TAP_PIECE_LOWER for longer than TAP_LOWER_MAX_NS becomes
 * TAP_PIECE_NOT_EXPLAINED. */
void tap_pieces_doubt_lower(struct tap_piece *pieces, unsigned int nr);
/* Adds one that is alike. */
void tap_piece_join(struct tap_piece *to, const struct tap_piece *piece);
/* @pieces: in the order of time. Joins those that are alike. Return: how many there are then. */
unsigned int tap_pieces_merge(struct tap_piece *pieces, unsigned int nr);

#endif
