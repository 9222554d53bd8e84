/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tasks of a timeline, in order of appearance, and the newest task of each tid. */
#ifndef TAP_TIMELINE_TASKS_H
#define TAP_TIMELINE_TASKS_H

#include <assert.h>

#include "timeline/timeline.h"
#include "timeline/transitions.h"

#define TAP_TASKS_PAGE 1024u /* tids per page of the directory */

/* A task with its private members. Only the timeline uses them; watchers see .pub. */
struct task {
	struct tap_task pub; /* must be first: see tap_task_whole() */
	enum tap_phase phase; /* refines .pub.state */
	uint64_t woken_running_ns; /* time of a wakeup that came while it ran; 0: none */
	uint64_t slept_from_ns; /* waking: when the sleep before began */
	enum tap_state slept; /* waking: state of that sleep; TAP_STATE_UNKNOWN: not known */
	/*
	 * time of the sched_throttle; if after .since_ns, the running task will be throttled when
	 * it is switched out
	 */
	uint64_t throttles_ns;
	/* throttled: its wait's state before, and again after the throttling */
	enum tap_state waited;
	enum tap_state was; /* unknown: the last known state */
	enum tap_state back; /* .back of the next struct tap_interval */
	uint64_t back_ns;
	/* the run queue of the current wait is chosen: a later move is not part of its wakeup */
	bool placed;
	bool kept; /* at some time the recording had all of its events */
	bool is_new; /* forked, its first wakeup not seen yet */
	/* task_newtask was seen: the sched_process_fork that follows is for this task */
	bool is_told;
	bool reused; /* its tid was used by another task before */
	bool born; /* its birth was recorded */
	bool hidden; /* hidden from tracing: only some of its events are recorded */
	/*
	 * next_delay_ns that its next switch-in has unless the kernel splits its wait; valid if
	 * .has_delay
	 */
	uint32_t delay_ns;
	bool has_delay;
	bool dequeued; /* left its run queue when it was switched out (prev_delayed is 0) */
	/*
	 * its last recorded switch-in, or its birth; 0: unseen switch-ins may have followed, or it
	 * did not tell how long the task was queued
	 */
	uint64_t counted_ns;
	/*
	 * how long the kernel counted it as queued, on any CPU, between its last two switch-ins;
	 * -1: not known. .pub.queued_ns is only known if it was not moved meanwhile
	 */
	int64_t queued_ns;
	bool forgotten; /* its memory may be used for another task */
	struct task *next_free;
};

/* All zero: no tasks. */
struct tap_tasks {
	struct tap_task **all; /* indexed by .pub.index */
	unsigned int nr, cap;
	struct task *block; /* the block from which new tasks are allocated */
	struct task *free; /* list of forgotten tasks, which are reused first */
	struct task **dir[TAP_MAX_TIDS / TAP_TASKS_PAGE];
};

/*
 * Add a new task, even if a task with this tid exists: the tid was reused. @tid: below
 * TAP_MAX_TIDS. @born_ns: its birth, or where its life is taken to begin. Return: NULL: out of
 * memory.
 */
struct task *tap_tasks_add(struct tap_tasks *tasks, int tid, uint64_t born_ns);
/* Free a dead task's memory for reuse. It must not be used any more. */
void tap_tasks_forget(struct tap_tasks *tasks, struct task *task);
void tap_tasks_release(struct tap_tasks *tasks);

/* Find the newest task with this tid. Return: NULL: not known, idle, or not a valid tid. */
static inline struct task *tap_tasks_find(const struct tap_tasks *tasks, int tid)
{
	struct task **page;

	if ((unsigned int)tid >= TAP_MAX_TIDS)
		return NULL;
	page = tasks->dir[(unsigned int)tid / TAP_TASKS_PAGE];
	return page ? page[(unsigned int)tid % TAP_TASKS_PAGE] : NULL;
}

/* Convert what watchers use to the whole task; NULL stays NULL. */
static inline struct task *tap_task_whole(struct tap_task *pub)
{
	static_assert(!offsetof(struct task, pub), "the same address");
	return (struct task *)pub;
}

/* Convert a task to what watchers use; NULL stays NULL. */
static inline struct tap_task *tap_task_pub(struct task *task)
{
	return (struct tap_task *)task;
}

/* Set the task's name from the event's field @f; NULL: do nothing. */
void tap_task_set_comm(struct task *task, const struct tap_field *f, const struct tap_event *ev);
/*
 * Set the task's name from the path of the executed file in @f, as the kernel's begin_new_exec()
 * does: the part after the last slash. @f: NULL: do nothing.
 */
void tap_task_set_exec_comm(struct task *task, const struct tap_field *f,
			    const struct tap_event *ev);
/*
 * Note how long a task that is switched in was in the run queue. If next_delay_ns has grown since
 * its last switch-in, the task was moved while it was queued: next_queued_ns is then only a part of
 * its wait. The same holds if a switch-in in between was not recorded. @hole_end_ns: until then
 * switch-ins may be missing.
 */
static inline void tap_task_note_queued(struct task *task, const struct tap_sched_fields *f,
					const struct tap_event *ev, uint64_t hole_end_ns)
{
	uint32_t queued_ns, delay_ns, before;
	bool is_known;

	task->pub.queued_ns = task->queued_ns = -1;
	if (!f->queued.size)
		return;
	queued_ns = (uint32_t)tap_num_get(&f->queued, ev);
	delay_ns = (uint32_t)tap_num_get(&f->delay, ev);
	before = delay_ns - task->delay_ns;
	is_known = queued_ns != UINT32_MAX;
	if (!is_known)
		queued_ns = 0;
	else if (task->has_delay && !before)
		task->pub.queued_ns = task->queued_ns = queued_ns;
	else if (task->counted_ns > hole_end_ns)
		task->queued_ns = (int64_t)before + queued_ns;
	/* a time that is not known may be added to the account */
	task->counted_ns = is_known ? ev->ts_ns : 0;
	task->delay_ns = delay_ns + queued_ns;
	task->has_delay = true;
}

/* Set the task's process id from an event: task lists no longer count. */
static inline void tap_task_set_tgid(struct task *task, int tgid)
{
	task->pub.tgid = tgid;
	task->pub.tgid_told = true;
}

/*
 * Fill in what task lists know of the task and events do not. Call when the task is added, and
 * again when it is dead.
 */
void tap_task_set_listed(struct task *task, const struct tap_lists *lists);
bool tap_comm_differs(const char *comm, const struct tap_field *f, const struct tap_event *ev);

/*
 * Return the name in @f, a field that tap_is_plain_comm() accepts: TAP_TASK_COMM bytes, borrowed
 * from the event.
 */
static inline const char *tap_plain_comm(const struct tap_field *f, const struct tap_event *ev)
{
	return (const char *)ev->data + f->offset;
}

/*
 * Compare two names of TAP_TASK_COMM bytes. As two words, since the compiler would call memcmp()
 * instead of inlining it.
 */
static inline bool tap_is_same_comm(const char *a, const char *b)
{
	uint64_t x[2], y[2];

	static_assert(sizeof(x) == TAP_TASK_COMM, "two words");
	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]));
}

#endif
