/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open files of other processes safely: they may be anything and anywhere, so only regular files
 * are opened, and can be recognized later.
 */
#ifndef TAP_SYMBOL_FILE_H
#define TAP_SYMBOL_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "file/symbol/maps.h"

/* Identity of a file at the time it was opened; all 0: not opened. */
struct tap_file_id {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

/*
 * Open a regular file for reading by its @path inside the root directory of the process @tgid (0:
 * our own). Symbolic links cannot leave that root; the last component must not be a link. Return: a
 * descriptor; -errno.
 */
int tap_file_open_in(int tgid, const char *path, struct stat *st);

/*
 * Open a file by a path from /proc/PID/maps, relative to the process's root or ours, if it is file
 * @ino on @dev. Return: a descriptor; -ESTALE: it is another file; -errno.
 */
int tap_file_open_path(int tgid, const char *path, dev_t dev, ino_t ino, struct stat *st);

/*
 * Open the file that the process has mapped at @m, even if it was removed or replaced. Return: as
 * for tap_file_open_path().
 */
int tap_file_open_mapped(int tgid, const struct tap_mapping *m, const char *path, struct stat *st);

struct tap_file_id tap_file_id(const struct stat *st);
bool tap_file_is(int fd, const struct tap_file_id *id);

#endif
