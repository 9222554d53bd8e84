// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/symbol/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Open the file of the O_PATH descriptor @at, which is closed. Anything but a regular file is not
 * even opened: opening a device may have side effects, and a FIFO may block.
 */
static int open_plain(int at, struct stat *st)
{
	char path[40];
	int fd;

	if (at < 0)
		return -errno;
	if (fstat(at, st)) {
		fd = -errno;
	} else if (!S_ISREG(st->st_mode)) {
		fd = -EINVAL;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	close(at);
	return fd;
}

int tap_file_open_in(int tgid, const char *path, struct stat *st)
{
	const struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char root_path[32] = "/";
	int root, at, ret;

	if (tgid)
		snprintf(root_path, sizeof(root_path), "/proc/%d/root", tgid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	at = (int)syscall(SYS_openat2, root, path, &how, sizeof(how)); /* since v5.6 */
	ret = open_plain(at, st);
	close(root);
	return ret;
}

int tap_file_open_path(int tgid, const char *path, dev_t dev, ino_t ino, struct stat *st)
{
	/*
	 * the process's root (a container), or ours: maps has full paths of programs in a chroot()
	 */
	const int roots[] = { tgid, 0 };
	int fd = -ENOENT;

	for (size_t i = 0; fd < 0 && i < 2; i++) {
		fd = tap_file_open_in(roots[i], path, st);
		if (fd >= 0 && (st->st_dev != dev || st->st_ino != ino)) {
			close(fd);
			fd = -ESTALE;
		}
	}
	return fd;
}

int tap_file_open_mapped(int tgid, const struct tap_mapping *m, const char *path, struct stat *st)
{
	char link[80];
	int fd;

	/*
	 * Only root may follow these links, which lead to the mapped file whatever its path is now.
	 */
	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, tgid, m->start,
		 m->end);
	fd = open_plain(open(link, O_PATH | O_CLOEXEC), st);
	return fd >= 0 ? fd : tap_file_open_path(tgid, path, m->dev, m->ino, st);
}

struct tap_file_id tap_file_id(const struct stat *st)
{
	return (struct tap_file_id){ st->st_dev, st->st_ino, st->st_size, st->st_mtim };
}

bool tap_file_is(int fd, const struct tap_file_id *id)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_ino == id->ino && st.st_dev == id->dev &&
	       st.st_size == id->size && st.st_mtim.tv_sec == id->changed.tv_sec &&
	       st.st_mtim.tv_nsec == id->changed.tv_nsec;
}
