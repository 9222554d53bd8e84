/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Run a report as a command, with results on standard output and notes on stderr. */
#ifndef TAP_CLI_CMD_REPORT_H
#define TAP_CLI_CMD_REPORT_H

#include "timeline/run/recording.h"
#include "cli/cmd.h"
#include "cli/progress.h"

/* @cmd: member of a struct tap_report_type. Return: an exit code. */
int tap_cmd_report(const struct tap_cmd *cmd, const void *opts);

/*
 * Return a listener that prints notes on stderr, and progress through @progress if stderr is a
 * terminal.
 */
struct tap_listener tap_cmd_listener(struct tap_progress *progress);
/*
 * Erase the progress line and start the pager, as output begins. If stdout is a terminal, progress
 * stays off.
 */
void tap_cmd_output_begins(void *progress);

#endif
