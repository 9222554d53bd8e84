// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"
#include "record/user/pid_ns.h"
#include "tracepoint/shared.h"

#define LINK_MAX_CHARS 64

int tap_user_link_pid(const char *name)
{
	const char *c = name;
	uint64_t pid;

	if (*name == '0' || strlen(name) >= TAP_USER_LINK_NAME ||
	    tap_text_take_digits(&c, NULL, 10, &pid) || pid > INT_MAX || *c++ != '-' || !*c)
		return 0;
	return c[strspn(c, "0123456789abcdef")] ? 0 : (int)pid;
}

uint64_t tap_user_link_pid_ns(const char *name)
{
	const char *ns = strchr(name, '-') + 2; /* after the link's number, which is one digit */
	uint64_t nr = *ns ? strtoull(ns, NULL, 16) : TAP_INITIAL_PID_NS;

	return nr == tap_pid_ns_own() ? 0 : nr;
}

/* Return the file system of memfd_create(2) files; 0 if unknown. */
static dev_t memory_dev(void)
{
	static dev_t dev;
	struct stat st;
	int fd;

	if (dev)
		return dev;
	fd = memfd_create("schedtap", MFD_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st))
		dev = st.st_dev;
	if (fd >= 0)
		close(fd);
	return dev;
}

int tap_user_memory_open(int at, int flags, uid_t owner, struct stat *st)
{
	char path[40];
	int fd, seals;

	if (fstat(at, st))
		return -errno;
	/* never open anything else: a device, a pipe, a user's own file system */
	if (!S_ISREG(st->st_mode) || st->st_dev != memory_dev() || st->st_uid != owner)
		return -EPERM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && seals & F_SEAL_SHRINK)
		return fd;
	close(fd);
	return -EPERM;
}

/* Read the target of the link @name: /proc/PID/fd/N. Return: false if it is something else. */
static bool read_link(int dir, const char *name, char to[LINK_MAX_CHARS], uid_t owner)
{
	struct stat st;
	ssize_t len;
	int pid, fd, end = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(st.st_mode) ||
	    st.st_uid != owner)
		return false;
	len = readlinkat(dir, name, to, LINK_MAX_CHARS - 1);
	to[len > 0 ? len : 0] = '\0';
	return sscanf(to, "/proc/%9d/fd/%9d%n", &pid, &fd, &end) == 2 && !to[end] &&
	       !strpbrk(to, "+- ");
}

static int open_path(const char *path, int flags, uid_t owner, struct stat *st)
{
	int at = open(path, O_PATH | O_CLOEXEC),
	    fd = at < 0 ? -errno : tap_user_memory_open(at, flags, owner, st);

	if (at >= 0)
		close(at);
	return fd;
}

/*
 * Return: a descriptor; -EPERM: no such link; -ENOENT: the process or its descriptor is gone;
 * another -errno.
 */
static int open_link(int dir, const char *name, int flags, uid_t owner, struct stat *st)
{
	char to[LINK_MAX_CHARS];
	int fd;

	if (!read_link(dir, name, to, owner))
		return -EPERM;
	fd = open_path(to, flags, owner, st);
	return fd == -EPERM ? -ENOENT : fd; /* the descriptor is another file by now */
}

/*
 * Open the control file of a process that has closed its descriptor, through its mapping, which
 * root may follow. Return: a descriptor; -ENOENT: it has none mapped; -EACCES; another -errno.
 */
static int open_mapping(int pid, int flags, uid_t owner, struct stat *st)
{
	char path[64], *line = NULL;
	unsigned long from, to;
	int fd = -ENOENT;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fd == -ENOENT && getline(&line, &cap, f) > 0) {
		/* the mapping of the file's start, which is the head */
		if (sscanf(line, "%lx-%lx %*s 00000000 ", &from, &to) != 2 ||
		    !strstr(line, " /memfd:schedtap (deleted)"))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", pid, from, to);
		fd = open_path(path, flags, owner, st);
		if (fd == -EPERM)
			fd = -EACCES;
	}
	free(line);
	fclose(f);
	return fd;
}

int tap_user_link_open(const struct tap_user_folder *f, const char *name, int pid, int flags,
		       struct stat *st)
{
	struct stat dir_st;
	int dir = tap_user_folder_open(f, &dir_st), fd;

	if (dir < 0)
		return dir;
	fd = tap_user_link_pid_ns(name) ? -ENOENT : open_link(dir, name, flags, dir_st.st_uid, st);
	close(dir);
	return fd == -ENOENT && pid ? open_mapping(pid, flags, dir_st.st_uid, st) : fd;
}
