/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What reports about wakeups share. */
#ifndef TAP_CLI_WAKEUPS_H
#define TAP_CLI_WAKEUPS_H

#include "cli/pass.h"

/* Return: 0; -ENODATA with a sentence if none was recorded. */
int tap_wakeups_check(const struct tap_pass *p, struct tap_err *err);

/*
 * Three cells, label, tid and comm, of whoever woke a task.
 * @waker: NULL: it is known only by its tid; @tid: 0: an interrupt on an idle CPU; -1: not known.
 */
void tap_wakeups_waker(struct tap_pass *p, struct tap_table *t, const struct tap_task *waker,
		       int tid);

#endif
