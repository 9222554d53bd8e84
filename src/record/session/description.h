/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording says about itself (file/meta.h has the keys): begun when the recording
 * begins, and completed at its end by what became known meanwhile.
 */
#ifndef TAP_RECORD_SESSION_DESCRIPTION_H
#define TAP_RECORD_SESSION_DESCRIPTION_H

#include <jansson.h>

#include "file/head.h"
#include "record/plan.h"
#include "record/session/stats.h"

/* The tasks that there were when somebody looked. */
struct tap_task_list {
	struct tap_map tgids, comms; /* tid -> its process; tid -> its name */
	struct tap_map members; /* tid -> its cgroup's id */
	bool has_affinities;
	/* tid -> the CPUs that it may use, as of tap_machine_affinity() */
	struct tap_map affinities;
	struct tap_map limited; /* ids of cgroups with a quota -> ns throttled */
	/* process -> json_t *, owned: its words; empty: not asked for */
	struct tap_map command_lines;
};

struct tap_spool;

struct tap_description {
	json_t *meta;
	struct tap_task_list began, ended; /* when the recording did */
	struct tap_task_list gone; /* recorded programs that are in neither */
	struct tap_map cgroups; /* id -> path */
	int hierarchy; /* tap_cgroup_hierarchy() */
};

/* The machine, and the tasks and cgroups that there are. @d: zeroed. @with_lines: command lines of
 * processes too. Return: 0 or -ENOMEM. */
int tap_description_begin(struct tap_description *d, struct tap_pids *pids, bool with_lines);
void tap_description_release(struct tap_description *d);

/* Copy what @from says by now, and its cgroups, but no task lists. Return: 0 or -ENOMEM, with @to
 * empty. */
int tap_description_copy(const struct tap_description *from, struct tap_description *to);
/* Read the tasks that exist, and their cgroups' paths, as tap_description_begin() does. @d: has a
 * .meta. Return: 0 or -ENOMEM. */
int tap_description_read_tasks(struct tap_description *d, struct tap_pids *pids);
/* Set the file's place among the files of this recorder. @continues: it begins exactly where the
 * file before ends. */
void tap_description_set_file(struct tap_description *d, unsigned int file, bool continues);

/* Adds a thread of the recorder, by its own number. */
void tap_description_add_tid(struct tap_description *d, const struct tap_pids *pids, pid_t tid);
/* The command that is recorded, likewise. */
void tap_description_set_command(struct tap_description *d, const struct tap_pids *pids, pid_t pid);
void tap_description_set_events(struct tap_description *d, const struct tap_plan *plan);
/* The formats that the recording's head has. Return: 0; -ENOMEM. */
int tap_description_set_formats(struct tap_description *d, const struct tap_head *head);
void tap_description_set_definitions(struct tap_description *d, const struct tap_defs *own);
/* @end_ns: 0: not over. */
void tap_description_set_window(struct tap_description *d, uint64_t start_ns, uint64_t end_ns);
/* Which task each CPU runs now, as far as that can be had. */
void tap_description_set_running(struct tap_description *d);
/* Set only the end of the window. */
void tap_description_end_window(struct tap_description *d, uint64_t end_ns);
/* @price: what backends say of theirs; taken. */
void tap_description_set_price(struct tap_description *d, json_t *price,
			       const struct tap_session_stats *stats);
/*
 * The clocks once more, names of tasks that came and went, new cgroups. @spool: has the
 * events. @complete: nothing failed. @cmdlines: "pid comm" lines are added. Return: 0; -ENOMEM;
 * -errno.
 */
int tap_description_end(struct tap_description *d, struct tap_pids *pids,
			const struct tap_spool *spool, bool complete, struct tap_buf *cmdlines,
			struct tap_err *err);

/* As one text, the caller's to free. Return: NULL when out of memory. */
char *tap_description_text(const struct tap_description *d);
/* For the head: adds "pid comm" lines of the tasks that were there when it began. */
void tap_description_cmdlines(const struct tap_description *d, struct tap_buf *out);

#endif
