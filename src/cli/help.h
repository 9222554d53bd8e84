/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Help texts, generated from the commands' tables. */
#ifndef TAP_CLI_HELP_H
#define TAP_CLI_HELP_H

#include <stdio.h>

#include "cli/cmd.h"

void tap_help_overview(FILE *to);
void tap_help_cmd(const struct tap_cmd *cmd); /* prints to stdout, through a pager */
/* Set @err to a sentence that suggests the nearest command. Return: -EINVAL. */
int tap_help_unknown(const char *name, struct tap_err *err);

#endif
