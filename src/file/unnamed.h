/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Temporary files without a name: they need no cleanup, even after a crash. */
#ifndef TAP_FILE_UNNAMED_H
#define TAP_FILE_UNNAMED_H

#include <schedtap/err.h>

/*
 * Return a descriptor of a new empty file in $TMPDIR or /var/tmp, open for reading and writing, or
 * -errno.
 */
int tap_unnamed_open(void);
/*
 * Set the error that @path could not be copied into a temporary file. @verb: how it was copied,
 * such as "decompress". Return: @ret, which says why.
 */
int tap_unnamed_fail(int ret, const char *verb, const char *path, struct tap_err *err);

#endif
