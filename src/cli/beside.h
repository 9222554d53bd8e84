/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A `schedtap record` that runs beside something that this process does. */
#ifndef TAP_CLI_BESIDE_H
#define TAP_CLI_BESIDE_H

#include <sys/types.h>

#include <schedtap/err.h>

struct tap_beside {
	pid_t pid; /* of the recorder; 0: none is running */
	int end; /* closing it ends the recording */
};

/*
 * Start a recorder, and wait until it records. @words: its arguments, such as "-e", "sched"; ends
 * with NULL. @log: receives its messages. Return: 0; the recorder's exit code if it ended instead;
 * -errno with a sentence.
 */
int tap_beside_start(struct tap_beside *b, const char *file, const char *const *words, int log,
		     struct tap_err *err);
/* End the recording, and wait until @file is complete. Return: the recorder's exit code. */
int tap_beside_stop(struct tap_beside *b);

#endif
