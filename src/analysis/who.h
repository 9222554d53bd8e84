/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who is who in a recording: the names of tasks, their processes, the paths of cgroups, and
 * which fields of an event speak of them. From what the recording saved (its meta,
 * trace-cmd's list of names) and, while it is read, from the switches, births and execs: what was
 * seen last counts.
 */
#ifndef TAP_ANALYSIS_WHO_H
#define TAP_ANALYSIS_WHO_H

#include <jansson.h>
#include <schedtap/reader.h>

#include "base/map.h"

#define TAP_WHO_COMM 64u /* a kernel thread's name in /proc can be that long */
#define TAP_WHO_PAIRS 8u

struct tap_who_task {
	int tid;
	int tgid; /* -1: not known */
	bool own; /* one of the recorder's */
	uint64_t cgroup; /* its kernfs id, when the recording began or ended; 0: not known */
	uint8_t comm_len; /* 0: not known */
	char comm[TAP_WHO_COMM];
	/* For an output: how it shows this task. Owned; NULL whenever its name or process has
	 * changed. */
	char *label;
	uint32_t label_len;
};

/* What one format says about tasks. */
struct tap_who_kind {
	const struct tap_format *fmt;
	unsigned int index; /* 0, 1, 2, ...: for tables beside this one */
	const struct tap_field *current; /* common_pid, or NULL */
	const struct tap_field *cgroup;  /* its id, or NULL */
	struct {
		const struct tap_field *tid, *comm; /* "X_pid" and "X_comm"; comm may be NULL */
	} tasks[TAP_WHO_PAIRS];
	unsigned int nr_tasks;
	/* whose names are taken note of; births and execs tell processes as well */
	enum { TAP_WHO_OTHER, TAP_WHO_SWITCH, TAP_WHO_NEWTASK, TAP_WHO_EXEC } learn;
	const struct tap_field *flags; /* of a birth */
};

/* A process executes a program with events of its own. */
struct tap_who_start {
	uint64_t ns;
	int tid;
	char comm[TAP_WHO_COMM];
};

struct tap_who {
	const struct tap_reader *reader; /* borrowed, may be NULL */
	struct tap_map tasks;	/* tid -> struct tap_who_task *, owned */
	struct tap_map cgroups; /* id -> const char *, borrowed from the meta */
	struct tap_map limited; /* ids of cgroups with a CPU quota */
	bool knows_quotas;
	struct tap_map kinds;	/* format -> struct tap_who_kind *, owned */
	struct tap_who_start *starts; /* in time order */
	size_t nr_starts, next_start;
};

/*
 * @meta: what the recording says about itself, or NULL. It and @reader must outlive @who.
 * Return: 0 or -ENOMEM. What is not as it should be in @meta is passed over.
 */
int tap_who_init(struct tap_who *who, const struct tap_reader *reader, const json_t *meta);
void tap_who_release(struct tap_who *who);

/* Return: borrowed until the release; NULL when out of memory. */
const struct tap_who_kind *tap_who_kind(struct tap_who *who, const struct tap_format *fmt);
/* Whether tap_who_learn() has a use for events of this kind. */
bool tap_who_learns(const struct tap_format *fmt);
/* Takes note of what programs started up to then; in time order. Return: 0 or -ENOMEM. */
int tap_who_advance(struct tap_who *who, uint64_t ns);
/* Takes note of names and processes; in time order. Return: 0 or -ENOMEM. */
int tap_who_learn(struct tap_who *who, const struct tap_who_kind *kind,
		  const struct tap_event *ev);

/* Return: the task, added if it is not known; NULL when out of memory. */
struct tap_who_task *tap_who_task(struct tap_who *who, int tid);
/* Whether tasks of this cgroup may be throttled. Return: 1 or 0; -1: not known. */
int tap_who_throttles(const struct tap_who *who, uint64_t cgroup);
const char *tap_who_cgroup(const struct tap_who *who, uint64_t id); /* path, or NULL */

/* The task that was running; -1 if the event does not say. */
static inline int tap_who_current(const struct tap_who_kind *kind, const struct tap_event *ev)
{
	return kind->current ? (int)tap_field_u64(kind->current, ev->data, ev->size) : -1;
}

#endif
