// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds the folder for the links to a user's control files. Only system calls and async-signal-safe
 * functions: a child after a fork looks for it, too.
 */
#include "tracepoint/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHM "/dev/shm"

/* struct linux_dirent64 of getdents64(2). */
struct entry {
	uint64_t ino, off;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

bool tap_folder_each(const char *path, bool (*fn)(int dir, const char *name, void *arg), void *arg)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	_Alignas(struct entry) char buf[4096];
	bool found = false;
	long len;

	if (dir < 0)
		return false;
	while (!found && (len = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < len && !found; at += ((struct entry *)(buf + at))->bytes)
			found = fn(dir, ((struct entry *)(buf + at))->name, arg);
	}
	close(dir);
	return found;
}

/*
 * Return true if the folder is a real one of this user, and other users can neither read nor write
 * it.
 */
static bool is_ours(const char *folder)
{
	struct stat st;

	return !lstat(folder, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

static bool use_folder(char *folder, const char *base, const char *name)
{
	if (strlen(base) + strlen(name) >= TAP_FOLDER_MAX || *base != '/')
		return false;
	strcpy(stpcpy(folder, base), name);
	if (is_ours(folder))
		return true;
	mkdir(folder, 0700); /* fails if another starting program has just made it */
	return is_ours(folder);
}

/*
 * Check if @name is a fallback folder of this user. @folder: SHM/schedtap-UID; on success, a dot
 * and the rest of the name are appended.
 */
static bool is_other(int dir, const char *name, void *folder)
{
	char *own = (char *)folder + strlen(SHM "/");
	size_t len = strlen(own);

	(void)dir;
	if (strncmp(name, own, len) || name[len] != '.')
		return false;
	strcpy(own + len, name + len);
	if (is_ours(folder))
		return true;
	own[len] = '\0';
	return false;
}

/*
 * Every user can create folders in SHM, so another user may have taken this user's name. Then use a
 * folder with a dot and a random number appended, which cannot be guessed in advance.
 */
static bool use_other(char *folder)
{
	char name[16] = ".";
	uint32_t number;

	if (tap_folder_each(SHM, is_other, folder))
		return true;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		return false;
	*tap_put_number(name + 1, number, 16) = '\0';
	strcat(folder, name);
	return !mkdir(folder, 0700);
}

/* Recorders look into the same folders, in the same order. */
bool tap_folder_find(char folder[TAP_FOLDER_MAX])
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	char base[64];

	if (xdg && use_folder(folder, xdg, "/schedtap"))
		return true;
	*tap_put_number(stpcpy(base, "/run/user/"), geteuid(), 10) = '\0';
	if (use_folder(folder, base, "/schedtap"))
		return true;
	*tap_put_number(stpcpy(base, SHM "/schedtap-"), geteuid(), 10) = '\0';
	return use_folder(folder, base, "") || use_other(folder);
}
