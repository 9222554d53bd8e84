/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output file that appears complete or not at all. While it is written it is unnamed
 * (O_TMPFILE), or has a temporary name on file systems without O_TMPFILE.
 */
#ifndef TAP_EXPORT_FILE_H
#define TAP_EXPORT_FILE_H

#include "base/buf.h"

struct tap_export_file { /* all zero with .fd -1: not open */
	int fd;
	const char *path; /* borrowed; NULL: stdout */
	char *partial; /* owned: temporary name; NULL: stdout or not a regular file */
	bool is_unnamed; /* opened with O_TMPFILE: .partial does not exist yet */
	uint64_t bytes, max_bytes; /* bytes written, and their limit; .max_bytes 0: no limit */
};

/* Open the output. @path: borrowed; "-": stdout. Return: 0; -errno with a sentence. */
int tap_export_file_open(struct tap_export_file *f, const char *path, uint64_t max_bytes,
			 struct tap_err *err);
/*
 * Write @b, and empty it. Return: 0; -ENOMEM; -EFBIG: the file would exceed its limit, and nothing
 * was written; -errno; each with a sentence.
 */
int tap_export_file_write(struct tap_export_file *f, struct tap_buf *b, struct tap_err *err);
/* Put the complete file in place. Return: 0; -errno with a sentence. */
int tap_export_file_commit(struct tap_export_file *f, struct tap_err *err);
/* Close the file. If it was not committed, it is removed. */
void tap_export_file_close(struct tap_export_file *f);

#endif
