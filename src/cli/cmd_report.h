/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A report as a command: on this screen, with its notes on stderr. */
#ifndef TAP_CLI_CMD_REPORT_H
#define TAP_CLI_CMD_REPORT_H

#include "timeline/run/recording.h"
#include "cli/cmd.h"
#include "cli/progress.h"

/* @cmd: of a struct tap_report_type. Return: an exit code. */
int tap_cmd_report(const struct tap_cmd *cmd, const void *opts);

/* Notes go to stderr, and how far reading has come to @progress, on a terminal. */
struct tap_listener tap_cmd_listener(struct tap_progress *progress);
/* Output begins: erases the progress. Where output has the same terminal, it does not come again.
 */
void tap_cmd_output_begins(void *progress);

#endif
