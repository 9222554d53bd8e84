/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The USDT probes of files, as lines of `schedtap list`. */
#ifndef TAP_CLI_PROBES_H
#define TAP_CLI_PROBES_H

#include <sys/types.h>

#include <schedtap/err.h>

/* @path: as in a word of -e. Return: 0; -ENODATA: it has none; -errno. */
int tap_probes_print(const char *path, struct tap_err *err);

/*
 * Those of the program that a process runs, and of each library that it has mapped. @nr: gets how
 * many files have some. Return: 0; -ESRCH: no such process; -EACCES: another user's; -errno.
 */
int tap_probes_print_process(pid_t pid, unsigned int *nr, struct tap_err *err);

#endif
