/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tracefs tells about the kernel's events, without changing anything in it. Plain files
 * rather than libtracefs: that mounts tracefs by itself where the user has not, remembers the
 * place for the whole process, and prints on stderr.
 */
#ifndef TAP_RECORD_TRACEFS_H
#define TAP_RECORD_TRACEFS_H

#include "base/buf.h"

#define TAP_TRACEFS_MOUNTS "/proc/self/mounts"

/*
 * Finds where tracefs is mounted.
 * @mounts: TAP_TRACEFS_MOUNTS.
 * @root: the place, owned by the caller.
 * Return: 0; -EOPNOTSUPP if it is not mounted; -EACCES or -EPERM if it may not be read.
 */
int tap_tracefs_find(const char *mounts, char **root, struct tap_err *err);

struct tap_tracefs_event {
	const char *system, *name;
};

/* All events that can be enabled, sorted by system and name. */
struct tap_tracefs_list {
	struct tap_tracefs_event *v;
	unsigned int nr;
	char *text; /* what the names point into */
};

/* Return: 0; -errno of reading ROOT/available_events; -ENOMEM. */
int tap_tracefs_list(const char *root, struct tap_tracefs_list *out, struct tap_err *err);
/* The first of that name, in whichever system; NULL: there is none. */
const struct tap_tracefs_event *tap_tracefs_named(const struct tap_tracefs_list *list,
						  const char *name);
void tap_tracefs_list_release(struct tap_tracefs_list *list);

/* Adds an event's format text. Return: 0; -ENOENT: there is no such event; -errno. */
int tap_tracefs_format(const char *root, const char *system, const char *name, struct tap_buf *text,
		       struct tap_err *err);

#endif
