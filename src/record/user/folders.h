/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The folders where programs put links to their control files: as src/tracepoint/folder.c chooses
 * them. */
#ifndef TAP_RECORD_USER_FOLDERS_H
#define TAP_RECORD_USER_FOLDERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

struct tap_user_folder {
	char *path; /* it need not be there (yet) */
	uid_t uid;
	/* the scanner's (programs.c) */
	uint64_t dev, ino; /* at the last scan; 0: it was not there */
	struct timespec mtime;
	unsigned int nr; /* of its programs that are known */
	bool settled; /* nothing can have changed while mtime did not */
};

struct tap_user_folders {
	struct tap_user_folder **v;
	unsigned int nr, cap;
	bool all_users; /* those of other users belong here, too */
};

/* Adds one, unless it is known; past 4096 none. Return: 0 or -ENOMEM. */
int tap_user_folders_add(struct tap_user_folders *folders, const char *path, uid_t uid);
/*
 * Adds those of the caller: $XDG_RUNTIME_DIR/schedtap, /run/user/UID/schedtap,
 * /dev/shm/schedtap-UID (with a dot and more behind it where somebody else has that name). Return:
 * 0 or -ENOMEM.
 */
int tap_user_folders_add_own(struct tap_user_folders *folders);
/* Adds those of all users that are there. Return: 0 or -ENOMEM. */
int tap_user_folders_add_users(struct tap_user_folders *folders);
void tap_user_folders_release(struct tap_user_folders *folders);

/*
 * Opens one that is its user's (or our own) alone: a directory of mode 0700 or less. Return: a
 * descriptor; -errno; -EPERM for any other.
 */
int tap_user_folder_open(const struct tap_user_folder *f, struct stat *st);

#endif
