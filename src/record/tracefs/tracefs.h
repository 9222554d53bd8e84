/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read the list of the kernel's events and their formats from tracefs, without changing anything.
 * This does not use libtracefs, which mounts tracefs itself if the user has not, remembers the
 * mount point for the whole process, and prints to stderr.
 */
#ifndef TAP_RECORD_TRACEFS_H
#define TAP_RECORD_TRACEFS_H

#include "base/buf.h"

#define TAP_TRACEFS_MOUNTS "/proc/self/mounts"

/*
 * Find the mount point of tracefs.
 * @mounts: TAP_TRACEFS_MOUNTS.
 * @root: the mount point, owned by the caller.
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
	char *text; /* the names point into it */
};

/* Read ROOT/available_events. Return: 0; -errno of reading; -ENOMEM. */
int tap_tracefs_list(const char *root, struct tap_tracefs_list *out, struct tap_err *err);
/* Return: the first event with that name, in any system; NULL: there is none. */
const struct tap_tracefs_event *tap_tracefs_named(const struct tap_tracefs_list *list,
						  const char *name);
void tap_tracefs_list_release(struct tap_tracefs_list *list);

/* Append an event's format text. Return: 0; -ENOENT: there is no such event; -errno. */
int tap_tracefs_format(const char *root, const char *system, const char *name, struct tap_buf *text,
		       struct tap_err *err);

#endif
