/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a link in a user's folder to the control file: PID-NUMBER -> /proc/PID/fd/N. Whoever owns
 * the folder may put anything there, so nothing is opened that is not memory of the kernel's own,
 * the user's, and sealed against shrinking.
 */
#ifndef TAP_RECORD_USER_LINKS_H
#define TAP_RECORD_USER_LINKS_H

#include "record/user/folders.h"

#define TAP_USER_LINK_NAME 40u /* bytes of a link's name, with its NUL */

/* The pid in the name of a link; 0 if it is none. */
int tap_user_link_pid(const char *name);
/* The pid namespace that the name of a link tells, if it is not our own; else 0. */
uint64_t tap_user_link_pid_ns(const char *name);

/*
 * Opens what a link leads to or, where the program has closed that, what it has mapped (which root
 * may follow).
 * @pid: here, 0: not known; in another namespace than ours a link tells another number. Return: a
 * descriptor; -EPERM: no such link; -ENOENT: the process, or its control file, is gone; -EACCES;
 * -errno.
 */
int tap_user_link_open(const struct tap_user_folder *f, const char *name, int pid, int flags,
		       struct stat *st);

/*
 * Opens once more what @at is open for: so that a lock on it is our own. Return: a descriptor;
 * -EPERM for what no program of ours makes; -errno.
 */
int tap_user_memory_open(int at, int flags, uid_t owner, struct stat *st);

#endif
