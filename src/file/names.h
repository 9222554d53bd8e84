/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that occur in a recording: each task's comm from its last event, and the ids and paths of
 * cgroups. They are collected in one pass, so that a recording can store a table of them.
 */
#ifndef TAP_FILE_NAMES_H
#define TAP_FILE_NAMES_H

#include "base/buf.h"
#include "base/map.h"
#include <schedtap/reader.h>

struct tap_held;

struct tap_name {
	int tid;
	char comm[16]; /* as recorded: any bytes, without a NUL if full */
};

struct tap_names {
	struct tap_name *tasks; /* in order of first appearance */
	unsigned int nr_tasks, cap_tasks;
	struct tap_map by_tid; /* tid -> index into tasks */
	struct tap_map cgroups; /* ids seen; the value is unused */
	/* id -> path, owned; from events that name a cgroup, which may no longer exist */
	struct tap_map paths;
	int hierarchy; /* hierarchy number of the wanted paths; set by the caller */
};

/*
 * Read @r to its end and add its names to @names ({0} is empty).
 *
 * A task is any pair of fields "X_comm" and "X_pid", "comm" and "pid", or "newcomm" and "pid"; ids
 * below 1 (idle, process groups) are skipped. A cgroup is any numeric field "cgroup" except id 0.
 * Paths come from cgroup_mkdir and cgroup_attach_task.
 *
 * Return: 0; -ENOMEM; the errors of tap_reader_next().
 */
int tap_names_collect(struct tap_reader *r, struct tap_names *names, struct tap_err *err);
/*
 * Like tap_names_collect(), but for the events that a running flight recorder has in memory now
 * (file/follow.h).
 */
int tap_names_collect_held(const char *spool_path, struct tap_held *held, struct tap_names *names,
			   struct tap_err *err);
void tap_names_release(struct tap_names *names);

/* Append "tid comm\n" lines for struct tap_head, with '?' for control characters. */
void tap_names_cmdlines(const struct tap_names *names, struct tap_buf *out);

#endif
