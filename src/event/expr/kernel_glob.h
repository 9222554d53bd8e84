/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_EXPR_KERNEL_GLOB_H
#define TAP_EXPR_KERNEL_GLOB_H

#include "base/buf.h"

/*
 * Convert a glob of the kernel's glob_match(), whose sets have no escapes, classes or '^', to a
 * glob of fnmatch(3) with the same meaning, for tap_glob_add().
 */
void tap_kernel_glob_read(const char *glob, struct tap_buf *out);

/*
 * Return the prefix that @glob needs in a filter file so that the kernel uses glob_match(): a
 * leading digit would make it a plain text, and "*end" would be compared with the text after a
 * name's NUL (filter_parse_regex(), regex_match_end() of v6.18).
 */
const char *tap_kernel_glob_prefix(const char *glob);

#endif
