/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Translate selections of tasks and CPUs into the syntax of tracefs files. */
#ifndef TAP_RECORD_TRACEFS_LIMIT_H
#define TAP_RECORD_TRACEFS_LIMIT_H

#include "record/backend.h"

/*
 * Append the selected threads that are not in @known yet to @known and @out, for set_event_pid.
 * Return: 0; -ESRCH naming a process or thread that does not exist (threads of the other processes
 * are appended all the same); -EOPNOTSUPP in a nested pid namespace without BPF, which is needed to
 * map pids; -ENOMEM.
 */
int tap_limit_tids(const struct tap_select *select, struct tap_pids *pids, struct tap_map *known,
		   struct tap_buf *out, struct tap_err *err);

/*
 * Append @cpus below @nr_cpus in the format of tracing_cpumask: "ff,ffffffff".
 * Return: the number of these CPUs.
 */
unsigned int tap_limit_cpus(const struct tap_cpus *cpus, unsigned int nr_cpus, struct tap_buf *out);

/*
 * Append a filter: @filter (or NULL) must match, and one of @comms must match the running task or a
 * *comm field of the event. Like with set_event_pid, wakeups of a task and switches to it belong to
 * the task. Return: 0; -EINVAL for a comm with both kinds of quotes; -ENOMEM.
 */
int tap_limit_comms(const char *filter, const struct tap_strings *comms, const char *format,
		    struct tap_buf *out, struct tap_err *err);

/*
 * Report a refused filter. @complaint: content of the filter file, which has the kernel's message.
 * @ret: error of the write, reported if there is no message. Return: -EINVAL.
 */
int tap_limit_refused(const char *system, const char *name, const char *complaint, int ret,
		      struct tap_err *err);

#endif
