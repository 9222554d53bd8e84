// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/export/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Check the existing file. If another user owns a symbolic link or a pipe at @path, writing could
 * replace a file of root's or leak data. Return: 1: write into it (a pipe, a terminal, /dev/null);
 * 0: create or replace it; -EEXIST with a sentence.
 */
static int check_target(const char *path, struct tap_err *err)
{
	struct stat st, to;

	if (lstat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	if (st.st_uid && st.st_uid != geteuid())
		return tap_err_set(err, -EEXIST,
				   "cannot write '%.300s': it is not a regular file and belongs to "
				   "another user (uid %u)",
				   path, st.st_uid);
	/* such as /dev/stdout */
	if (!S_ISLNK(st.st_mode) || (!stat(path, &to) && !S_ISREG(to.st_mode)))
		return 1;
	return tap_err_set(err, -EEXIST,
			   "'%.300s' is a symbolic link: name the file that it leads to", path);
}

/*
 * Open an unnamed file in the folder of @path; it vanishes if the process dies. Return: -1: not
 * supported.
 */
static int open_unnamed(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;

	free(folder);
	return fd;
}

static int open_partial(struct tap_export_file *f)
{
	if (asprintf(&f->partial, "%s.%d.new", f->path, (int)getpid()) < 0) {
		f->partial = NULL;
		return -1;
	}
	f->fd = open_unnamed(f->path);
	f->is_unnamed = f->fd >= 0;
	return f->is_unnamed ? f->fd
			     : open(f->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

int tap_export_file_open(struct tap_export_file *f, const char *path, uint64_t max_bytes,
			 struct tap_err *err)
{
	int found;

	*f = (struct tap_export_file){ .fd = -1, .max_bytes = max_bytes };
	if (!strcmp(path, "-")) {
		f->fd = STDOUT_FILENO;
		return 0;
	}
	found = check_target(path, err);
	if (found < 0)
		return found;
	f->path = path;
	f->fd = found ? open(path, O_WRONLY | O_CLOEXEC) : open_partial(f);
	return f->fd < 0 ? tap_err_set(err, -errno, "cannot write '%.300s': %m", path) : 0;
}

int tap_export_file_write(struct tap_export_file *f, struct tap_buf *b, struct tap_err *err)
{
	int ret = b->err;

	if (!ret && f->max_bytes && b->len > f->max_bytes - f->bytes)
		return tap_err_set(err, -EFBIG, "the output file would be larger than --max-size");
	ret = ret ?: tap_write_all(f->fd, b->data, b->len);
	f->bytes += b->len;
	tap_buf_clear(b);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write '%.300s': %m",
				 f->path ? f->path : "stdout")
		   : 0;
}

static int name_partial(struct tap_export_file *f)
{
	char at[64];

	snprintf(at, sizeof(at), "/proc/self/fd/%d", f->fd);
	if (linkat(AT_FDCWD, at, AT_FDCWD, f->partial, AT_SYMLINK_FOLLOW))
		return -1;
	f->is_unnamed = false;
	return 0;
}

int tap_export_file_commit(struct tap_export_file *f, struct tap_err *err)
{
	int failed = f->is_unnamed ? name_partial(f) : 0;

	if (!failed && f->path) {
		failed = close(f->fd);
		f->fd = -1;
	}
	if (!failed && f->partial)
		failed = rename(f->partial, f->path);
	if (failed)
		return tap_err_set(err, -errno, "cannot write '%.300s': %m", f->path);
	free(f->partial);
	f->partial = NULL;
	return 0;
}

void tap_export_file_close(struct tap_export_file *f)
{
	if (f->path && f->fd >= 0)
		close(f->fd);
	if (f->partial && !f->is_unnamed)
		unlink(f->partial);
	free(f->partial);
	*f = (struct tap_export_file){ .fd = -1 };
}
