/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The files of a flight recorder in their folder: their names, those that are removed for newer ones, and those that a killed recorder
 * of the same name began.
 */
#ifndef TAP_CAPTURE_SESSION_FLIGHT_FILES_H
#define TAP_CAPTURE_SESSION_FLIGHT_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

struct tap_flight_files {
	char *prefix; /* of the files' names */
	unsigned int max_files; /* 0: no limit */
	char **written; /* owned; paths of this recorder's files that are to stay, in their order */
	unsigned int nr_written, cap_written;
	char left[PATH_MAX]; /* the last one that tap_flight_files_next_left() found */
};

/* @file: what the files' names begin with, and ".dat". Return: 0; -ENAMETOOLONG, -ENOMEM with a sentence. */
int tap_flight_files_init(struct tap_flight_files *f, const char *file, unsigned int max_files, struct tap_err *err);
void tap_flight_files_release(struct tap_flight_files *f);

/* The name goes by the wall time of @at_ns; it is free. @busy: a file that will be there. */
void tap_flight_files_name(const struct tap_flight_files *f, uint64_t at_ns, const char *busy, char path[PATH_MAX]);
/* A file is written: older ones are removed. Return: 0 or -ENOMEM. */
int tap_flight_files_note(struct tap_flight_files *f, const char *path);
/* Removes what is beyond .max_files. */
void tap_flight_files_remove_old(struct tap_flight_files *f);

/* Each call finds another file whose spool folder is there, in the order of their names: .left. Return: false: there are no more. */
bool tap_flight_files_next_left(struct tap_flight_files *f);

#endif
