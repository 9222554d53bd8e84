/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* USDT probes of files, printed as lines of `schedtap list`. */
#ifndef TAP_CLI_PROBES_H
#define TAP_CLI_PROBES_H

#include <sys/types.h>

#include <schedtap/err.h>

/* Print a file's probes. @path: as PATH in -e usdt:PATH. Return: 0; -ENODATA: no probes; -errno. */
int tap_probes_print(const char *path, struct tap_err *err);

/*
 * Print the probes of a process's executable and of each library that it has mapped. @nr: set to
 * the number of files with probes. Return: 0; -ESRCH: no such process; -EACCES: another user's
 * process; -errno.
 */
int tap_probes_print_process(pid_t pid, unsigned int *nr, struct tap_err *err);

#endif
