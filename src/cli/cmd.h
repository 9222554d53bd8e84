/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands: each has a cmd_<name>.c with one struct tap_cmd, or is a report, and has a line in
 * cmds.h.
 */
#ifndef TAP_CLI_CMD_H
#define TAP_CLI_CMD_H

#include "base/cmd.h"

/* Exit codes, as documented in schedtap(1). */
enum tap_exit {
	TAP_EXIT_OK = 0,
	TAP_EXIT_FAILED = 1,
	TAP_EXIT_USAGE = 2,
	/* a privilege or a kernel feature is missing, so that it cannot work here */
	TAP_EXIT_MISSING = 3,
	TAP_EXIT_BROKEN = 4, /* check: a rule failed */
	TAP_EXIT_UNDECIDED = 5,
	TAP_EXIT_INTERRUPTED = 130,
};

/* An entry of `schedtap help`: a group's title, or a command. */
struct tap_cmd_row {
	const char *title;
	const struct tap_cmd *cmd;
};

extern const struct tap_cmd_row tap_cmd_rows[]; /* ends with an entry that is all zero */

#define tap_cmd_for_each(c)                                                                        \
	for (const struct tap_cmd_row *c##_row = tap_cmd_rows; c##_row->title || c##_row->cmd;     \
	     c##_row++)                                                                            \
		for (const struct tap_cmd *c = c##_row->cmd; c; c = NULL)

const struct tap_cmd *tap_cmd_find(const char *name); /* or NULL; also finds hidden commands */

/* Print "schedtap: SENTENCE" on stderr, escaped, with the lines after the first one indented. */
void tap_cmd_say(const char *sentence);
/*
 * Say, for top and stat, what is unknown because the tally could not be opened. Return: false if
 * the command must fail instead: memory ran out, or @from_waking asks for a program.
 */
bool tap_cmd_without_tally(const struct tap_err *err, bool from_waking);

/*
 * Print the sentence of @err as tap_cmd_say() does.
 * Return: the exit code for @err->code: -EPERM, -EACCES, -EOPNOTSUPP, -ENOSYS: 3; -EINVAL if
 * @usage: 2; -EPIPE (the reader of our output has gone): 0, and nothing is printed; else 1.
 */
int tap_cmd_fail(const struct tap_err *err, bool usage);

#endif
