/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of a process or of a thread, to be waited for. */
#ifndef TAP_CLI_TASK_END_H
#define TAP_CLI_TASK_END_H

#include <stdbool.h>

#include <schedtap/err.h>

/* @fd is readable once the task has ended. -1: before 6.9 there is none for a thread, and kill()
 * tells. */
struct tap_task_end {
	int fd;
	int id;
	bool came;
};

/* Return: 0; -errno of looking for the task, -ESRCH: there is none. */
int tap_task_end_open(struct tap_task_end *e, int id, bool thread, struct tap_err *err);
/* @readable: what poll() says of .fd. Return: whether it has ended, then or before. */
bool tap_task_end_came(struct tap_task_end *e, bool readable);
void tap_task_end_close(struct tap_task_end *e);

#endif
