/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Wait for the end of a process or of a thread. */
#ifndef TAP_CLI_TASK_END_H
#define TAP_CLI_TASK_END_H

#include <stdbool.h>

#include <schedtap/err.h>

/*
 * @fd becomes readable when the task ends. It is -1 for a thread on kernels before 6.9, which have
 * no pidfds for threads: kill() is used to poll.
 */
struct tap_task_end {
	int fd;
	int id;
	bool came;
};

/* Return: 0; -errno of opening the task, such as -ESRCH if it does not exist. */
int tap_task_end_open(struct tap_task_end *e, int id, bool thread, struct tap_err *err);
/* Return true if the task has ended. @readable: what poll() reported for .fd. */
bool tap_task_end_came(struct tap_task_end *e, bool readable);
void tap_task_end_close(struct tap_task_end *e);

#endif
