/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open files of several recorders, such as those of several machines. Files of one recorder are
 * joined (join.h). A file that does not identify its recorder, as those of perf and trace-cmd, is
 * alone.
 */
#ifndef TAP_FILE_GROUP_H
#define TAP_FILE_GROUP_H

#include <schedtap/reader.h>

/* The files of one recorder. */
struct tap_reader_group {
	struct tap_reader *reader; /* owned by the caller, who frees it with tap_reader_free() */
	const char *const *paths; /* borrowed; sorted as the files follow each other */
	unsigned int nr;
};

/*
 * Open @nr files. @paths: sorted by this function so that the files of a group are neighbours;
 * groups are in the order of their first files. @groups: must have room for @nr. Return: the number
 * of groups; on failure -errno, and no reader is left open.
 */
int tap_reader_open_groups(const char **paths, unsigned int nr, struct tap_reader_group *groups,
			   struct tap_err *err);

#endif
