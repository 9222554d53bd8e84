/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tasks of a timeline: in the order of their appearance, and the newest of each tid. */
#ifndef TAP_TIMELINE_TASKS_H
#define TAP_TIMELINE_TASKS_H

#include <assert.h>

#include "timeline/timeline.h"
#include "timeline/transitions.h"

#define TAP_TASKS_PAGE 1024u /* tids of one page of the directory */

/* A task, and what nobody but the timeline needs to know of it. */
struct task {
	struct tap_task pub; /* first: see tap_task_whole() */
	enum tap_phase phase; /* of .pub.state */
	uint64_t woken_running_ns; /* a wakeup came while it ran; 0: none */
	uint64_t slept_from_ns; /* waking: since when it had slept */
	enum tap_state slept; /* and how; TAP_STATE_UNKNOWN: not known */
	/* running: it is throttled when it is switched out, if behind .since_ns */
	uint64_t throttles_ns;
	enum tap_state waited; /* throttled: as what it waited before, and will then */
	enum tap_state was; /* unknown: before that */
	enum tap_state back; /* what struct tap_interval is to tell */
	uint64_t back_ns;
	bool placed; /* in this wait: its run queue is settled */
	bool kept; /* all of it was recorded, at some time */
	bool is_new; /* forked, its first wakeup not seen yet */
	bool is_told; /* by task_newtask: the fork that follows is the same */
	bool reused; /* its tid was another task's before */
	bool born; /* as events tell: it was not there before */
	bool hidden; /* from tracing: what it does is told in part */
	bool forgotten; /* its place is free for another */
	struct task *next_free;
};

/* All zero: empty. */
struct tap_tasks {
	struct tap_task **all; /* by .index */
	unsigned int nr, cap;
	struct task *block; /* the one that new tasks come from */
	struct task *free; /* forgotten ones: they come first */
	struct task **dir[TAP_MAX_TIDS / TAP_TASKS_PAGE];
};

/*
 * A new task, also if one with this tid is known: the tid was given out again. Nothing is known of
 * it but when it was born. @tid: below TAP_MAX_TIDS. Return: NULL when out of memory.
 */
struct task *tap_tasks_add(struct tap_tasks *tasks, int tid, uint64_t born_ns);
/* What is dead: nobody may ask for it any more. */
void tap_tasks_forget(struct tap_tasks *tasks, struct task *task);
void tap_tasks_release(struct tap_tasks *tasks);

/* NULL also: idle, which is in no page, and what can be no tid. */
static inline struct task *tap_tasks_find(const struct tap_tasks *tasks, int tid)
{
	struct task **page;

	if ((unsigned int)tid >= TAP_MAX_TIDS)
		return NULL;
	page = tasks->dir[(unsigned int)tid / TAP_TASKS_PAGE];
	return page ? page[(unsigned int)tid % TAP_TASKS_PAGE] : NULL;
}

/* NULL of NULL: there is nothing before .pub. */
static inline struct task *tap_task_whole(struct tap_task *pub)
{
	static_assert(!offsetof(struct task, pub), "the same address");
	return (struct task *)pub;
}

/* The other way round: what watchers get. */
static inline struct tap_task *tap_task_pub(struct task *task)
{
	return (struct tap_task *)task;
}

/* As the event has it in @f; NULL: it has none. */
void tap_task_set_comm(struct task *task, const struct tap_field *f, const struct tap_event *ev);
/* As begin_new_exec() has it: the file name of @f, a path, or NULL. */
void tap_task_set_exec_comm(struct task *task, const struct tap_field *f,
			    const struct tap_event *ev);
/* As events tell. */
static inline void tap_task_set_tgid(struct task *task, int tgid)
{
	task->pub.tgid = tgid;
	task->pub.tgid_told = true;
}

/* What lists say of it, as far as events do not; again when its life is over. */
void tap_task_set_listed(struct task *task, const struct tap_lists *lists);
bool tap_comm_differs(const char *comm, const struct tap_field *f, const struct tap_event *ev);

/* Where the name stands that @f, which is plain, is for. */
static inline const char *tap_plain_comm(const struct tap_field *f, const struct tap_event *ev)
{
	return (const char *)ev->data + f->offset;
}

/* Both have TAP_TASK_COMM bytes. As words: the compiler calls memcmp() for what it could compare by
 * itself. */
static inline bool tap_is_same_comm(const char *a, const char *b)
{
	uint64_t x[2], y[2];

	static_assert(sizeof(x) == TAP_TASK_COMM, "two words");
	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return !((x[0] ^ y[0]) | (x[1] ^ y[1]));
}

#endif
