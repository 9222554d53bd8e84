/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_EXPR_KERNEL_GLOB_H
#define TAP_EXPR_KERNEL_GLOB_H

#include "base/buf.h"

/*
 * Adds the glob of fnmatch(3), as tap_glob_add() takes it, that means what @glob means to the
 * kernel's glob_match(), where sets know no escapes, no classes and no '^'.
 */
void tap_kernel_glob_read(const char *glob, struct tap_buf *out);

/*
 * What @glob must begin with for a filter file to ask glob_match() about it: there a digit in front
 * makes it a plain text, and "*end" is looked for behind a name's NUL (filter_parse_regex(),
 * regex_match_end() of v6.18).
 */
const char *tap_kernel_glob_prefix(const char *glob);

#endif
