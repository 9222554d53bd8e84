/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks for `schedtap doctor`: each tries something that recording may need, in the way `schedtap
 * record` does it, on schedtap's own probes or on one event. Events are enabled, and disabled
 * again.
 */
#ifndef TAP_CLI_TRIES_H
#define TAP_CLI_TRIES_H

#include <schedtap/err.h>

enum tap_try {
	TAP_TRY_BPF,
	TAP_TRY_BARE,
	TAP_TRY_OWN,
	TAP_TRY_STACKS,
	TAP_TRY_TASKS,
	TAP_TRY_UPROBE,
	TAP_TRY_URETPROBE,
	TAP_TRY_USDT,
	TAP_TRY_TRACEFS,
	TAP_TRY_TRACEFS_STACKS,
	TAP_TRY_PROGRAMS,
	TAP_TRY_OVERHEAD,
	TAP_TRY_PRIORITY,
	TAP_TRY_MODULE,
	TAP_NR_TRIES
};

struct tap_try_row {
	const char *name; /* name in the output, such as "uprobes" */
	const char *enables; /* what it makes possible */
	/* Options as for `record`; NULL: not given. */
	const char *backend, *event, *stack;
	int priority;
	int (*try)(struct tap_err *err); /* check to run instead of recording; or NULL */
};

extern const struct tap_try_row tap_tries[TAP_NR_TRIES];

/*
 * Run all checks in a child process, which still undoes its changes if the caller is killed.
 * @results: .code is 0 if the check passed. Return: 0; -errno with a sentence: no check was run.
 */
int tap_try_all(struct tap_err results[TAP_NR_TRIES], struct tap_err *err);

#endif
