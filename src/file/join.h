/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read several files of one recorder as one recording: those of a flight recorder, or of a ring on
 * disk. The "recorder" key of their descriptions (meta.h) shows which files belong together, and
 * their order. What happened between two files is unknown, unless one continues the other.
 */
#ifndef TAP_FILE_JOIN_H
#define TAP_FILE_JOIN_H

#include "file/dat_file.h"

struct json_t; /* from jansson */

/* One file's place in the order, from its description. Times are in ns of the recording's clock. */
struct tap_join_file {
	struct tap_reader *reader;
	const char *path; /* borrowed */
	struct json_t *meta; /* owned */
	const char *id; /* the recorder's id; borrowed from .meta */
	int64_t nr; /* the file's number: 1, 2, ... */
	bool continues; /* it continues file .nr - 1 without a gap */
	uint64_t from_ns, to_ns; /* window in which events were enabled */
};

/*
 * Read the description of a file whose .reader and .path are set. .id is NULL if it does not
 * identify its recorder. Return: 0; -ENOMEM.
 */
int tap_join_read(struct tap_join_file *file, struct tap_err *err);

/*
 * Sort @files by number; each must have been read. Return: 0; -EINVAL with an error text: a
 * file has no recorder, another recorder, or the same number as another; -ENOMEM.
 */
int tap_join_order(struct tap_join_file *files, unsigned int nr, struct tap_err *err);

/*
 * Return the combined description of all @files, in order, to be freed by free(); NULL: out of
 * memory.
 */
char *tap_join_meta(const struct tap_join_file *files, unsigned int nr);

/*
 * Add the data of all other readers to @files[0].reader. The others must stay open, as their
 * sub-buffers are read in place. Return: 0; -EINVAL: the files do not fit together; -E2BIG;
 * -ENOMEM.
 */
int tap_join(struct tap_join_file *files, unsigned int nr, struct tap_err *err);

#endif
