/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What recording may need, each tried on something of schedtap's own or on one event, in the way in
 * which `schedtap record` does it: events are switched on, and off again.
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
	const char *name; /* "uprobes" */
	const char *enables; /* what it is good for */
	/* As options of record; NULL: not given. */
	const char *backend, *event, *stack;
	int priority;
	int (*try)(struct tap_err *err); /* in place of recording; NULL */
};

extern const struct tap_try_row tap_tries[TAP_NR_TRIES];

/*
 * Tries all, in a process of its own: when the caller is killed, that process still ends what it
 * began.
 * @results: .code 0 where it works. Return: 0; -errno with a sentence: nothing was tried.
 */
int tap_try_all(struct tap_err results[TAP_NR_TRIES], struct tap_err *err);

#endif
