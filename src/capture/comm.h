/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The globs of -c for kernels, which must mean there what fnmatch(3) says they mean everywhere else.
 */
#ifndef TAP_CAPTURE_COMM_H
#define TAP_CAPTURE_COMM_H

#include <stdbool.h>

#include "base/buf.h"
#include "comm_glob.h"

/*
 * Makes @g match what any of @globs does.
 * Return: 0; -E2BIG: more than TAP_COMM_STATES elements, counting one more for each glob; -ENOMEM.
 */
int tap_comm_glob_make(struct tap_comm_glob *g, const char *const *globs, unsigned int nr);

/*
 * Adds @glob as "~" of tracefs filters takes it, which differs: there '!' in front negates, a digit
 * in front makes it a plain name, the end of "*end" is looked for behind the name's NUL
 * (filter_parse_regex(), regex_match_end() of v6.18), and sets know no '^', escapes and classes.
 * Return: 0; -EINVAL: it can match no name; -ENOMEM.
 */
int tap_comm_glob_for_tracefs(const char *glob, struct tap_buf *out);

#endif
