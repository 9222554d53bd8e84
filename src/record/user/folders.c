// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"

#define FOLDERS_MAX 4096u
#define ALL_USERS UINT32_MAX

int tap_user_folders_add(struct tap_user_folders *folders, const char *path, uid_t uid)
{
	struct tap_user_folder *f;

	for (unsigned int i = 0; i < folders->nr; i++)
		if (!strcmp(folders->v[i]->path, path) || folders->nr == FOLDERS_MAX)
			return 0;
	if (tap_array_grow(&folders->v, folders->nr, &folders->cap, sizeof(*folders->v)))
		return -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f || !(f->path = strdup(path))) {
		free(f);
		return -ENOMEM;
	}
	f->uid = uid;
	folders->v[folders->nr++] = f;
	return 0;
}

static bool is_private(const char *path, uid_t uid)
{
	struct stat st;

	return !lstat(path, &st) && st.st_uid == uid && !(st.st_mode & 077);
}

/*
 * Add @parent/<prefix>UID@tail for each user that has such a folder. In a parent where every user
 * can create folders (@tail is ""), add only those that belong to the user in their name; there, a
 * dot and more text may follow UID. @only: a user, or ALL_USERS.
 */
static int add_users(struct tap_user_folders *folders, const char *parent, const char *prefix,
		     const char *tail, uid_t only)
{
	DIR *d = opendir(parent);
	struct dirent *e;
	int ret = 0;

	while (d && !ret && (e = readdir(d))) {
		const char *end = e->d_name + strlen(prefix);
		char path[PATH_MAX];
		uint64_t uid;

		if (strncmp(e->d_name, prefix, strlen(prefix)) ||
		    tap_text_take_digits(&end, NULL, 10, &uid) || uid >= ALL_USERS ||
		    (*end && (*tail || *end != '.')) || (only != ALL_USERS && only != uid))
			continue;
		snprintf(path, sizeof(path), "%s/%s%s", parent, e->d_name, tail);
		if (*tail || is_private(path, (uid_t)uid))
			ret = tap_user_folders_add(folders, path, (uid_t)uid);
	}
	if (d)
		closedir(d);
	return ret;
}

int tap_user_folders_add_users(struct tap_user_folders *folders)
{
	return add_users(folders, "/run/user", "", "/schedtap", ALL_USERS)
		       ?: add_users(folders, "/dev/shm", "schedtap-", "", ALL_USERS);
}

/*
 * Find or choose a folder if another user has taken this user's name in /dev/shm, as
 * src/tracepoint/folder.c does.
 */
static int add_other(struct tap_user_folders *folders, uid_t uid)
{
	unsigned int known = folders->nr;
	int ret = add_users(folders, "/dev/shm", "schedtap-", "", uid);
	char path[64];
	uint32_t number;

	if (ret || folders->nr > known ||
	    getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return ret;
	snprintf(path, sizeof(path), "/dev/shm/schedtap-%u.%x", uid, number);
	return tap_user_folders_add(folders, path, uid);
}

int tap_user_folders_add_own(struct tap_user_folders *folders)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	uid_t uid = geteuid();
	char path[PATH_MAX];
	int ret = 0;

	folders->all_users = !uid;
	if (runtime && *runtime == '/' &&
	    snprintf(path, sizeof(path), "%s/schedtap", runtime) < (int)sizeof(path))
		ret = tap_user_folders_add(folders, path, uid);
	snprintf(path, sizeof(path), "/run/user/%u/schedtap", uid);
	ret = ret ?: tap_user_folders_add(folders, path, uid);
	snprintf(path, sizeof(path), "/dev/shm/schedtap-%u", uid);
	if (!access(path, F_OK) && !is_private(path, uid))
		return ret ?: add_other(folders, uid);
	return ret ?: tap_user_folders_add(folders, path, uid);
}

int tap_user_folder_open(const struct tap_user_folder *f, struct stat *st)
{
	int fd = open(f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, st) && (st->st_uid == f->uid || st->st_uid == geteuid()) &&
	    !(st->st_mode & 077))
		return fd;
	close(fd);
	return -EPERM;
}

void tap_user_folders_release(struct tap_user_folders *folders)
{
	for (unsigned int i = 0; i < folders->nr; i++) {
		free(folders->v[i]->path);
		free(folders->v[i]);
	}
	free(folders->v);
	*folders = (struct tap_user_folders){ 0 };
}
