/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several files of one recorder as one recording: a flight recorder's, or a ring on disk. The
 * "recorder" in their descriptions (meta.h) says which belong together, and their order. The time
 * between two files is unknown, unless one continues the other.
 */
#ifndef TAP_FILE_JOIN_H
#define TAP_FILE_JOIN_H

#include "file/dat_file.h"

struct json_t; /* jansson's */

/* One file's place in the order, from its description. Times in ns of the recording's clock. */
struct tap_join_file {
	struct tap_reader *reader;
	const char *path; /* borrowed */
	struct json_t *meta; /* owned */
	const char *id; /* the recorder's; borrowed from .meta */
	int64_t nr; /* 1, 2, ... */
	bool continues; /* the file .nr - 1, without a gap */
	uint64_t from_ns, to_ns; /* the window */
};

/*
 * Order @files of which .reader and .path are set. Return: 0; -EINVAL with a sentence: one has no
 * recorder, another recorder or the same number; -ENOMEM.
 */
int tap_join_order(struct tap_join_file *files, unsigned int nr, struct tap_err *err);

/* Return: the description of all @files, in order, as text to free(); NULL: out of memory. */
char *tap_join_meta(const struct tap_join_file *files, unsigned int nr);

/*
 * Give @files[0].reader what the other readers have: it keeps them, and reads their pages where
 * they are. Return: 0; -EINVAL: they do not fit together; -E2BIG; -ENOMEM.
 */
int tap_join(struct tap_join_file *files, unsigned int nr, struct tap_err *err);

#endif
