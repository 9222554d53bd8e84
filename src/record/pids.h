/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Task numbers. The kernel's events have those of the initial pid namespace; -p, -t, /proc and
 * programs have those of the recorder's own namespace. If these differ, a BPF iterator over tasks
 * (bpf/tasks.h) maps one to the other, which /proc cannot.
 */
#ifndef TAP_RECORD_PIDS_H
#define TAP_RECORD_PIDS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/map.h"
#include "event/select/select.h"

struct bpf_object;
struct tap_task_row; /* bpf/task_row.h */

struct tap_pids {
	bool nested; /* the recorder is not in the initial pid namespace */
	struct bpf_object *tasks; /* the iterator; NULL: not needed, or BPF is refused */
	struct tap_buf rows; /* array of struct tap_task_row, from the last tap_pids_read() */
	struct tap_map initial; /* tid in our namespace -> initial one, from all readings so far */
};

/*
 * Find out whether the namespaces differ, and read the tasks. Until then they are assumed to be the
 * same.
 */
void tap_pids_open(struct tap_pids *p);
void tap_pids_release(struct tap_pids *p);

/*
 * Read the tasks that exist now; does nothing in the initial namespace. Return: 0; -EPERM if BPF is
 * refused; -errno.
 */
int tap_pids_read(struct tap_pids *p);

/* Return: the initial tid of the task @own in our namespace; 0: not known. */
uint32_t tap_pids_initial(const struct tap_pids *p, uint32_t own);

/*
 * Return: 0; -ESRCH with a sentence that names the first selected process or thread that is not in
 * @rows.
 */
int tap_pids_check(const struct tap_buf *rows, const struct tap_select *select,
		   struct tap_err *err);

/*
 * Like tap_machine_tasks() and tap_machine_cgroups(), but with initial tids: tasks whose initial
 * tid is not known are left out. Return: 0 or -ENOMEM.
 */
int tap_pids_tasks(struct tap_pids *p, struct tap_map *tgids, struct tap_map *comms);
/* Add the CPUs that tasks in @comms may use, see tap_machine_affinity(). Return: 0 or -ENOMEM. */
int tap_pids_affinities(const struct tap_pids *p, const struct tap_map *comms,
			struct tap_map *texts);
int tap_pids_cgroups(const struct tap_pids *p, struct tap_map *cgroups, struct tap_map *members,
		     struct tap_map *limited);

/* @row: set to row @i of @rows. Return: whether there is such a row. */
bool tap_pids_row(const struct tap_buf *rows, unsigned int i, struct tap_task_row *row);

#endif
