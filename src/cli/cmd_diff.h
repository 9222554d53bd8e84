/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_CLI_CMD_DIFF_H
#define TAP_CLI_CMD_DIFF_H

#include "show/report/diff.h"

/* Compare recordings and print the result on standard output. Return: an exit code. */
int tap_cmd_compare(const struct tap_diff_opts *opts, const struct tap_diff_sides *sides);

#endif
