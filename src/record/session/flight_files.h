/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a flight recorder in their folder: their names, those that are removed for newer
 * ones, and those that a killed recorder of the same name began.
 */
#ifndef TAP_RECORD_SESSION_FLIGHT_FILES_H
#define TAP_RECORD_SESSION_FLIGHT_FILES_H

#include "record/session/stamped.h"

struct tap_flight_files {
	struct tap_stamped names;
	unsigned int max_files; /* 0: no limit */
	struct tap_stamped_file *found; /* owned: what was there at first */
	int nr_found, next;
};

/* @file: what the files' names begin with, and ".dat". Return: 0; -ENAMETOOLONG, -ENOMEM with a
 * sentence. */
int tap_flight_files_init(struct tap_flight_files *f, const char *file, unsigned int max_files,
			  struct tap_err *err);
void tap_flight_files_release(struct tap_flight_files *f);

/* The name goes by the wall time of @at_ns; it is free. @busy: a file that will be there. */
void tap_flight_files_name(const struct tap_flight_files *f, uint64_t at_ns, const char *busy,
			   char path[PATH_MAX]);
/* A file is written: older ones are removed. Return: 0 or -ENOMEM. */
int tap_flight_files_note(struct tap_flight_files *f, const char *path);
/* Remove what is beyond .max_files, the oldest files first. */
void tap_flight_files_remove_old(struct tap_flight_files *f);

/* Return: each call another file of which a killed recorder left the spool folder, the oldest
 * first; NULL: no more. Borrowed. */
const char *tap_flight_files_next_left(struct tap_flight_files *f);

#endif
