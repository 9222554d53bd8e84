/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Translate glob patterns for the kernel's filters, so that they match like fnmatch(3). */
#ifndef TAP_RECORD_TRACEFS_GLOB_H
#define TAP_RECORD_TRACEFS_GLOB_H

#include "base/buf.h"

/*
 * Append @glob in the syntax of "~" in tracefs filters. That differs from fnmatch(3): a leading '!'
 * negates; a leading digit makes it a plain name; for "*end" the kernel compares beyond the name's
 * NUL (filter_parse_regex(), regex_match_end() of v6.18); and sets have no '^', escapes or classes.
 * Return: 0; -EINVAL: it cannot match any name; -ENOMEM.
 */
int tap_tracefs_glob(const char *glob, struct tap_buf *out);

#endif
