/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The whole program as a function, for main() and for the tests' driver (tests/driver). */
#ifndef TAP_CLI_CLI_H
#define TAP_CLI_CLI_H

/*
 * Run the command that @argv names. It must be the process's only job: it uses standard input,
 * output and error, and changes signal handlers. Return: the exit code (enum tap_exit).
 */
int tap_cli_run(int argc, char **argv);

#endif
