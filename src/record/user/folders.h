/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folders where programs put links to their control files; programs choose them in
 * src/tracepoint/folder.c.
 */
#ifndef TAP_RECORD_USER_FOLDERS_H
#define TAP_RECORD_USER_FOLDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

struct tap_user_folder {
	char *path; /* need not exist (yet) */
	uid_t uid;
	/* private to the scanner (programs.c) */
	uint64_t dev, ino; /* at the last scan; 0: the folder did not exist */
	struct timespec mtime;
	unsigned int nr; /* number of known programs in it */
	bool settled; /* if mtime is unchanged, so is the folder */
};

struct tap_user_folders {
	struct tap_user_folder **v;
	unsigned int nr, cap;
	bool all_users; /* folders of other users are included */
};

/* Add a folder unless it is known; ignored when 4096 are known. Return: 0 or -ENOMEM. */
int tap_user_folders_add(struct tap_user_folders *folders, const char *path, uid_t uid);
/*
 * Add the caller's folders: $XDG_RUNTIME_DIR/schedtap, /run/user/UID/schedtap, and
 * /dev/shm/schedtap-UID (with a dot and a number appended if another user has taken that name).
 * Return: 0 or -ENOMEM.
 */
int tap_user_folders_add_own(struct tap_user_folders *folders);
/* Add the existing folders of all users. Return: 0 or -ENOMEM. */
int tap_user_folders_add_users(struct tap_user_folders *folders);
void tap_user_folders_release(struct tap_user_folders *folders);

/*
 * Open a folder that only its user (or the caller) can access: a directory with a mode of at most
 * 0700. Return: a descriptor; -EPERM if it is not such a folder; another -errno.
 */
int tap_user_folder_open(const struct tap_user_folder *f, struct stat *st);

#endif
