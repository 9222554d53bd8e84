/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Task numbers. The kernel's events have those of the initial pid namespace; -p, -t, /proc and
 * programs have those of the recorder's own. Where that is another one, an iterator over tasks
 * (bpf/tasks.h) tells which is which: nothing in /proc does.
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
	bool nested; /* the numbers differ */
	struct bpf_object *tasks; /* NULL where they do not, or where BPF is refused */
	struct tap_buf rows; /* struct tap_task_row, of the last tap_pids_read() */
	struct tap_map initial; /* our number -> the initial one, of all that were read */
};

/* Takes the numbers to be the same until tap_pids_open(). */
void tap_pids_open(struct tap_pids *p);
void tap_pids_release(struct tap_pids *p);

/* The tasks that are there now. Return: 0; -EPERM where BPF is refused; -errno. */
int tap_pids_read(struct tap_pids *p);

/* Return: the initial number of the task that has @own here; 0: not known. */
uint32_t tap_pids_initial(const struct tap_pids *p, uint32_t own);

/* Return: 0, or -ESRCH naming the first process or thread that is not in @rows. */
int tap_pids_check(const struct tap_buf *rows, const struct tap_select *select,
		   struct tap_err *err);

/*
 * As tap_machine_tasks() and tap_machine_cgroups(), with initial numbers: where they cannot be told
 * the tasks are left out. Return: 0 or -ENOMEM.
 */
int tap_pids_tasks(struct tap_pids *p, struct tap_map *tgids, struct tap_map *comms);
/* Of those, whose names are in @comms, the CPUs that they may use, as of tap_machine_affinity().
 * Return: 0 or -ENOMEM. */
int tap_pids_affinities(const struct tap_pids *p, const struct tap_map *comms,
			struct tap_map *texts);
int tap_pids_cgroups(const struct tap_pids *p, struct tap_map *cgroups, struct tap_map *members,
		     struct tap_map *limited);

/* Return: whether there is a row @i, which is in @row then. */
bool tap_pids_row(const struct tap_buf *rows, unsigned int i, struct tap_task_row *row);

#endif
