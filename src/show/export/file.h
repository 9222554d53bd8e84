/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is there whole, or not at all: until it is, it has no name, or where file systems
 * lack that another one. */
#ifndef TAP_EXPORT_FILE_H
#define TAP_EXPORT_FILE_H

#include "base/buf.h"

struct tap_export_file { /* all zero but .fd, -1: none */
	int fd;
	const char *path; /* borrowed; NULL: stdout */
	char *partial; /* owned: its name before it is whole; NULL: it is no plain file */
	bool is_unnamed; /* it does not have that yet */
	uint64_t bytes, max_bytes; /* 0: no bound */
};

/* @path: borrowed; "-": stdout. Return: 0; -errno with a sentence. */
int tap_export_file_open(struct tap_export_file *f, const char *path, uint64_t max_bytes,
			 struct tap_err *err);
/* Writes @b, and empties it. Return: 0; -ENOMEM; -EFBIG: it would grow beyond its bound, nothing
 * was written; -errno; each with a sentence. */
int tap_export_file_write(struct tap_export_file *f, struct tap_buf *b, struct tap_err *err);
/* It is there. Return: 0; -errno with a sentence. */
int tap_export_file_commit(struct tap_export_file *f, struct tap_err *err);
/* Closes it. One that was not committed is gone. */
void tap_export_file_close(struct tap_export_file *f);

#endif
