/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of other processes, which may be anything and anywhere: opened where they are plain files,
 * and known again. */
#ifndef TAP_SYMBOL_FILE_H
#define TAP_SYMBOL_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "file/symbol/maps.h"

/* A file as it was when it was seen; all 0: it was not. */
struct tap_file_id {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

/*
 * Opens a plain file, to read it, by its path in the root of the process, 0: in our own; its
 * symbolic links lead nowhere else. The path's last part is no link. Return: a descriptor; -errno.
 */
int tap_file_open_in(int tgid, const char *path, struct stat *st);

/* By a path that maps said, which is of one of these roots, if it is that file. Return: as above;
 * -ESTALE: it is another. */
int tap_file_open_path(int tgid, const char *path, dev_t dev, ino_t ino, struct stat *st);

/* The file that the process has mapped there, also one that was removed or replaced. Return: as
 * above. */
int tap_file_open_mapped(int tgid, const struct tap_mapping *m, const char *path, struct stat *st);

struct tap_file_id tap_file_id(const struct stat *st);
bool tap_file_is(int fd, const struct tap_file_id *id);

#endif
