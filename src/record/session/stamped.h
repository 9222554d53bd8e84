/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files that one recorder makes in order, PREFIX-STAMP.dat: choosing names, and listing the
 * files in the folder that have such names, the oldest first. The stamp is a wall time, as in
 * f-20261122T004705.825.dat.
 */
#ifndef TAP_RECORD_SESSION_STAMPED_H
#define TAP_RECORD_SESSION_STAMPED_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

struct tap_stamped {
	char *prefix; /* NAME of NAME.dat */
	char **own; /* paths of this recorder's files, the oldest first */
	unsigned int nr_own, cap_own;
};

/*
 * Use @file, with or without its suffix .dat, as the prefix. @s: zeroed. Return: 0; -ENAMETOOLONG
 * or -ENOMEM with a sentence.
 */
int tap_stamped_init(struct tap_stamped *s, const char *file, struct tap_err *err);
void tap_stamped_release(struct tap_stamped *s);

/*
 * Make the name of a file that begins at @at_ns, CLOCK_MONOTONIC. The stamp is later if a file or
 * spool folder of that name exists.
 */
void tap_stamped_name(const struct tap_stamped *s, uint64_t at_ns, char path[PATH_MAX]);

/* Note that the file @path is the newest one. Return: 0; -ENOMEM. */
int tap_stamped_add(struct tap_stamped *s, const char *path);

struct tap_stamped_file {
	char *path;
	uint64_t bytes; /* on disk; of a spool folder: of all files in it */
	uint64_t modified_ns; /* wall time */
	bool is_folder; /* a spool folder */
};

/*
 * List the files with such names, and if @with_folders also their spool folders. The oldest come
 * first: files of earlier recorders by name, then this recorder's in the order in which it made
 * them, because the wall clock may have been set back.
 * @files: freed with tap_stamped_free_list(). Return: their number; -ENOMEM.
 */
int tap_stamped_list(const struct tap_stamped *s, bool with_folders,
		     struct tap_stamped_file **files);
void tap_stamped_free_list(struct tap_stamped_file *files, int nr);

#endif
