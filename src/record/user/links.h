/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows a link in a user's folder to a control file: PID-NUMBER -> /proc/PID/fd/N. The folder's
 * owner may have put anything there, so only files are opened that are memory files
 * (memfd_create(2)) of that user and sealed against shrinking.
 */
#ifndef TAP_RECORD_USER_LINKS_H
#define TAP_RECORD_USER_LINKS_H

#include "record/user/folders.h"

#define TAP_USER_LINK_NAME 40u /* bytes of a link's name, with its NUL */

/* Return the pid in a link's name; 0 if the name is not a link's. */
int tap_user_link_pid(const char *name);
/* Return the pid namespace in a link's name if it is not the caller's; else 0. */
uint64_t tap_user_link_pid_ns(const char *name);

/*
 * Open a link's control file or, if the program has closed the descriptor, the file through the
 * program's mapping (which root may do).
 * @pid: the process's id in the caller's pid namespace, 0: unknown. A link from another namespace
 * contains an id of that namespace.
 * Return: a descriptor; -EPERM: no such link; -ENOENT: the process or its control file is gone;
 * -EACCES; another -errno.
 */
int tap_user_link_open(const struct tap_user_folder *f, const char *name, int pid, int flags,
		       struct stat *st);

/*
 * Open the file of descriptor @at again, so that a lock on it is the caller's own. Return: a
 * descriptor; -EPERM if no program could have made it; another -errno.
 */
int tap_user_memory_open(int at, int flags, uid_t owner, struct stat *st);

#endif
