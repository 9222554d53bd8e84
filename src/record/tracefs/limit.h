/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what is selected and filtered to what the kernel's files take.
 */
#ifndef TAP_RECORD_TRACEFS_LIMIT_H
#define TAP_RECORD_TRACEFS_LIMIT_H

#include "record/backend.h"

/*
 * Adds the threads that are selected, for set_event_pid, that are not in @known yet, to both.
 * Return: 0; -ESRCH naming a process or thread that does not exist (the other processes'
 * threads are added nevertheless); -EOPNOTSUPP in a pid namespace whose numbers only BPF could
 * tell; -ENOMEM.
 */
int tap_limit_tids(const struct tap_select *select, struct tap_pids *pids, struct tap_map *known,
		   struct tap_buf *out, struct tap_err *err);

/*
 * Adds @cpus below @nr_cpus as tracing_cpumask takes them: "ff,ffffffff".
 * Return: how many there are.
 */
unsigned int tap_limit_cpus(const struct tap_cpus *cpus, unsigned int nr_cpus, struct tap_buf *out);

/*
 * Adds @filter (or NULL) and that one of @comms is the running task, or is named by one of the
 * event's own fields: as with set_event_pid, a switch to a task and its wakeup belong to it.
 * Return: 0; -EINVAL for a comm with quotes of both kinds; -ENOMEM.
 */
int tap_limit_comms(const char *filter, const struct tap_strings *comms, const char *format,
		    struct tap_buf *out, struct tap_err *err);

/*
 * The kernel's complaint, as it stands in the filter file, as an error. Return: -EINVAL.
 * @ret: of writing the filter, for when there is no complaint.
 */
int tap_limit_refused(const char *system, const char *name, const char *complaint, int ret,
		      struct tap_err *err);

#endif
