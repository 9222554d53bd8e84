/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Globs of names in the kernel's filters, where they must mean what fnmatch(3) says they mean
 * everywhere else. */
#ifndef TAP_RECORD_TRACEFS_GLOB_H
#define TAP_RECORD_TRACEFS_GLOB_H

#include "base/buf.h"

/*
 * Adds @glob as "~" of tracefs filters takes it, which differs: there '!' in front negates, a digit
 * in front makes it a plain name, the end of "*end" is looked for behind the name's NUL
 * (filter_parse_regex(), regex_match_end() of v6.18), and sets know no '^', escapes and classes.
 * Return: 0; -EINVAL: it can match no name; -ENOMEM.
 */
int tap_tracefs_glob(const char *glob, struct tap_buf *out);

#endif
