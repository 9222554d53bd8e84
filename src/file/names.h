/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names that occur in a recording: a task's comm as its last event tells it, and the ids
 * of the cgroups seen. Learnt in one pass, so that a recording can carry a table of them.
 */
#ifndef TAP_FILE_NAMES_H
#define TAP_FILE_NAMES_H

#include "base/buf.h"
#include "base/map.h"
#include <schedtap/reader.h>

struct tap_held;

struct tap_name {
	int tid;
	char comm[16]; /* as recorded: not NUL-terminated when full, may hold anything */
};

struct tap_names {
	struct tap_name *tasks; /* in the order in which they were first seen */
	unsigned int nr_tasks, cap_tasks;
	struct tap_map by_tid; /* tid -> index into tasks */
	struct tap_map cgroups; /* id -> 0 */
	/* id -> path, owned: of cgroups that events named, which may be gone */
	struct tap_map paths;
	int hierarchy; /* the number of that whose paths are wanted; set before */
};

/*
 * Reads @r to its end and adds what it says to @names ({0} is empty).
 *
 * A task is any pair of fields "X_comm" and "X_pid", or "comm" and "pid"; ids below 1 (idle,
 * groups) are none. A cgroup is any number field "cgroup"; id 0 is none. Paths are those of
 * cgroup_mkdir and cgroup_attach_task.
 *
 * Return: 0; -ENOMEM; what tap_reader_next() returns.
 */
int tap_names_collect(struct tap_reader *r, struct tap_names *names, struct tap_err *err);
/* The same of what is held by now of a recording that goes on (file/follow.h). */
int tap_names_collect_held(const char *spool_path, struct tap_held *held, struct tap_names *names,
			   struct tap_err *err);
void tap_names_release(struct tap_names *names);

/* Adds "tid comm\n" lines for struct tap_head; control characters become '?'. */
void tap_names_cmdlines(const struct tap_names *names, struct tap_buf *out);

#endif
