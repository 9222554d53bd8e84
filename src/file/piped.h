/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings from standard input, FIFOs and sockets. The reader needs a file, because it reads a
 * recording more than once: all data is copied into a temporary file (unnamed.h).
 */
#ifndef TAP_FILE_PIPED_H
#define TAP_FILE_PIPED_H

#include "file/dat_file.h"

/* Return true if @path means standard input: "-" or /dev/stdin. */
bool tap_piped_is_stdin(const char *path);

/*
 * Copy @fd, whose writer may be slow or has yet to come, to its end, and map the copy. Signals are
 * left to the caller. Return: 0; -EINVAL if @fd is a terminal or another device, or has no data;
 * -ENOSPC and other errnos of reading and of the temporary file; -ENOMEM.
 */
int tap_piped_map(struct tap_reader *r, int fd, struct tap_err *err);

#endif
