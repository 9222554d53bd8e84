/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A command whose process exists before it runs, so that nothing that it does is missed. */
#ifndef TAP_CLI_CHILD_H
#define TAP_CLI_CHILD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <schedtap/err.h>

struct tap_child {
	pid_t pid; /* 0: none, or it has ended */
	int end_fd; /* pidfd, or -1 */
	/* once it has ended: of wait4(2) */
	int status;
	struct rusage usage;
	/* internal */
	int go; /* write end of a pipe: a byte starts the command; -1: no command */
	/*
	 * Read end of a pipe: a byte says that the command could not be run, end of file that it
	 * was.
	 */
	int not_run;
};

#define TAP_CHILD_NONE ((struct tap_child){ .end_fd = -1, .go = -1, .not_run = -1 })

/*
 * Create the command's process, which waits. @prepare: called in that process before it waits; it
 * ends the process on failure. Return: 0; -errno with a sentence. tap_child_reap() in either case.
 */
int tap_child_fork(struct tap_child *c, char **argv, void (*prepare)(void *ctx), void *ctx,
		   struct tap_err *err);
/* Let the command run. The caller ignores or blocks SIGPIPE. Return: 0; -errno with a sentence. */
int tap_child_go(const struct tap_child *c, struct tap_err *err);
/* Return true if the command could not be run; its process has printed the reason. */
bool tap_child_was_not_run(const struct tap_child *c);
/* End the command if it is still running, as perf does, and get its status. May be repeated. */
void tap_child_reap(struct tap_child *c);
/* Return: the exit code of a program that passes the command's on: 128 + N if signal N ended it. */
int tap_child_exit_code(const struct tap_child *c);

#endif
