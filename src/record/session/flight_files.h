/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a flight recorder in their folder: new names, removal of the oldest files, and files
 * that a killed recorder of the same name left as spool folders.
 */
#ifndef TAP_RECORD_SESSION_FLIGHT_FILES_H
#define TAP_RECORD_SESSION_FLIGHT_FILES_H

#include "record/session/stamped.h"

struct tap_flight_files {
	struct tap_stamped names;
	unsigned int max_files; /* 0: no limit */
	/* owned: the files and spool folders that existed at the start */
	struct tap_stamped_file *found;
	int nr_found, next;
};

/*
 * @file: name prefix of the files, which may end in ".dat". Return: 0; -ENAMETOOLONG, -ENOMEM with
 * a sentence.
 */
int tap_flight_files_init(struct tap_flight_files *f, const char *file, unsigned int max_files,
			  struct tap_err *err);
void tap_flight_files_release(struct tap_flight_files *f);

/*
 * Choose an unused name from the wall time of @at_ns. @busy: a name that is taken although its file
 * does not exist yet.
 */
void tap_flight_files_name(const struct tap_flight_files *f, uint64_t at_ns, const char *busy,
			   char path[PATH_MAX]);
/* Note that a file was written, and remove files beyond .max_files. Return: 0 or -ENOMEM. */
int tap_flight_files_note(struct tap_flight_files *f, const char *path);
/* Remove the oldest files until .max_files are left. */
void tap_flight_files_remove_old(struct tap_flight_files *f);

/*
 * Iterate over spool folders that killed recorders left, the oldest first. Return: the name of the
 * file that the folder belongs to, borrowed; NULL: no more.
 */
const char *tap_flight_files_next_left(struct tap_flight_files *f);

#endif
