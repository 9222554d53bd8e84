/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the numbers about scheduling that the kernel gives everyone: /proc/stat, /proc/schedstat,
 * /proc/pressure/cpu, files of the cgroups, and files of each task. They are what can be known
 * where the tally (record/tally/tally.h) cannot be loaded. Not thread safe.
 */
#ifndef TAP_RECORD_ACCOUNTS_ACCOUNTS_H
#define TAP_RECORD_ACCOUNTS_ACCOUNTS_H

#include <stdbool.h>

#include <schedtap/err.h>

#include "record/accounts/view.h"

struct tap_accounts;

struct tap_accounts_opts {
	const char *proc; /* "/proc" */
	/*
	 * Mount points of the scheduler's cgroups and, for version 1, of the hierarchy with cpuacct
	 * if it is another one: its cgroup with the same path counts. NULL: not mounted.
	 */
	const char *cgroups, *cpuacct;
	/*
	 * Reads /proc/PID/task/TID/schedstat of each task, and two more files of those that ran.
	 * docs/man/schedtap-top.1.md has the measured cost.
	 */
	bool reads_tasks;
};

/* Take the first reading. @opts: copied. Return: 0; -ENOMEM with a sentence. */
int tap_accounts_open(struct tap_accounts **out, const struct tap_accounts_opts *opts,
		      struct tap_err *err);
/* As tap_accounts_open(), of this machine. */
int tap_accounts_open_machine(struct tap_accounts **out, bool reads_tasks, struct tap_err *err);
void tap_accounts_close(struct tap_accounts *a);
/* Take the numbers since the last reading. Return: 0; -ENOMEM with a sentence. */
int tap_accounts_read(struct tap_accounts *a, struct tap_accounts_view *view, struct tap_err *err);

#endif
