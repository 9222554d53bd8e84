/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording's description of itself, JSON (file/meta.h lists the keys). It is begun when the
 * recording starts, and completed at the end with what became known in between.
 */
#ifndef TAP_RECORD_SESSION_DESCRIPTION_H
#define TAP_RECORD_SESSION_DESCRIPTION_H

#include <jansson.h>

#include "file/head.h"
#include "record/plan.h"
#include "record/session/stats.h"

/* All tasks that existed at one moment. Tids and tgids are those of the initial pid namespace. */
struct tap_task_list {
	struct tap_map tgids, comms; /* tid -> tgid; tid -> comm */
	struct tap_map members; /* tid -> id of its cgroup */
	bool has_affinities;
	/* tid -> list of the CPUs that it may use, see tap_machine_affinity() */
	struct tap_map affinities;
	struct tap_map limited; /* id of a cgroup with a CPU quota -> ns throttled so far */
	/* tgid -> json_t *, owned: array of arguments; empty if command lines are not recorded */
	struct tap_map command_lines;
};

struct tap_spool;

struct tap_description {
	json_t *meta;
	struct tap_task_list began, ended; /* at the start and the end of the recording */
	/* user-space programs that were recorded and are in neither list */
	struct tap_task_list gone;
	struct tap_map cgroups; /* id -> path */
	int hierarchy; /* see tap_cgroup_hierarchy() */
};

/*
 * Read the machine's properties, its tasks and cgroups. @d: zeroed. @with_lines: read command lines
 * of processes too. Return: 0 or -ENOMEM.
 */
int tap_description_begin(struct tap_description *d, struct tap_pids *pids, bool with_lines);
void tap_description_release(struct tap_description *d);

/* Copy the JSON and the cgroups, but no task lists. Return: 0 or -ENOMEM, with @to empty. */
int tap_description_copy(const struct tap_description *from, struct tap_description *to);
/*
 * Read the existing tasks and their cgroups' paths into .began, as tap_description_begin() does.
 * @d: .meta is set. Return: 0 or -ENOMEM.
 */
int tap_description_read_tasks(struct tap_description *d, struct tap_pids *pids);
/*
 * Read the tasks and their names into .began again, at a time when births and new names are already
 * recorded. Return: 0 or -ENOMEM.
 */
int tap_description_read_names(struct tap_description *d, struct tap_pids *pids);
/*
 * Set the file's number among the files of this recorder. @continues: it begins exactly where the
 * previous file ends.
 */
void tap_description_set_file(struct tap_description *d, unsigned int file, bool continues);

/* Add a thread of the recorder. @tid: in the recorder's pid namespace. */
void tap_description_add_tid(struct tap_description *d, const struct tap_pids *pids, pid_t tid);
/* Set the process of the recorded command. @pid: in the recorder's pid namespace. */
void tap_description_set_command(struct tap_description *d, const struct tap_pids *pids, pid_t pid);
void tap_description_set_events(struct tap_description *d, const struct tap_plan *plan);
/* Set the event formats, from the recording's head. Return: 0; -ENOMEM. */
int tap_description_set_formats(struct tap_description *d, const struct tap_head *head);
void tap_description_set_definitions(struct tap_description *d, const struct tap_defs *own);
/* @end_ns: 0: the recording goes on. */
void tap_description_set_window(struct tap_description *d, uint64_t start_ns, uint64_t end_ns);
/* Set which task each CPU runs now, if BPF is allowed. */
void tap_description_set_running(struct tap_description *d);
/* Set only the end of the window. */
void tap_description_end_window(struct tap_description *d, uint64_t end_ns);
/* Set overhead and losses of the recording. @price: the backends' part; takes ownership. */
void tap_description_set_price(struct tap_description *d, json_t *price,
			       const struct tap_session_stats *stats);
/*
 * Complete the description: read the clocks again, the tasks that exist now, and the names of tasks
 * and cgroups in the events of @spool. @complete: no event is missing because of a failure.
 * @cmdlines: "pid comm" lines are appended. Return: 0; -ENOMEM; -errno.
 */
int tap_description_end(struct tap_description *d, struct tap_pids *pids,
			const struct tap_spool *spool, bool complete, struct tap_buf *cmdlines,
			struct tap_err *err);

/* Return: the JSON text, which the caller frees; NULL: out of memory. */
char *tap_description_text(const struct tap_description *d);
/* Append "pid comm" lines of the tasks that existed at the start, for the recording's head. */
void tap_description_cmdlines(const struct tap_description *d, struct tap_buf *out);

#endif
