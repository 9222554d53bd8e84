// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/piped.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "file/unnamed.h"

#define BLOCK_BYTES ((size_t)256 << 10)

bool tap_piped_is_stdin(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdin");
}

/*
 * Wait for data or the end: @fd may be non-blocking. A FIFO without a writer is at its end only
 * after a writer has come and gone, which only poll(2) tells from a FIFO that is still unused.
 */
static ssize_t read_some(int fd, unsigned char *to, size_t room)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	do {
		n = poll(&p, 1, -1);
		if (n >= 0)
			n = read(fd, to, room);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	return n;
}

static int copy_all(struct tap_reader *r, int from, int to, struct tap_err *err)
{
	unsigned char *block = malloc(BLOCK_BYTES);
	bool is_empty = true;
	ssize_t n;
	int ret = 0;

	if (!block)
		return tap_dat_nomem(err);
	while (!ret && (n = read_some(from, block, BLOCK_BYTES)) > 0) {
		is_empty = false;
		ret = tap_write_all(to, block, (size_t)n);
		if (ret)
			tap_unnamed_fail(ret, "copy", r->path, err);
	}
	if (!ret && n < 0)
		ret = tap_err_set(err, -errno, "cannot read '%.300s': %m", r->path);
	else if (!ret && is_empty)
		ret = tap_err_set(err, -EINVAL,
				  "'%.300s' is not a recording: it has no data. Did the program "
				  "that writes it fail?",
				  r->path);
	free(block);
	return ret;
}

static int check_kind(const struct tap_reader *r, int fd, struct tap_err *err)
{
	struct stat st;

	if (isatty(fd))
		return tap_err_set(err, -EINVAL,
				   "'%.300s' is a terminal: give a file, or pipe a recording into "
				   "schedtap",
				   r->path);
	if (fstat(fd, &st))
		return tap_err_set(err, -errno, "cannot stat '%.300s': %m", r->path);
	/* a regular file, too: standard input of which another program has read the start */
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode))
		return 0;
	return tap_err_set(err, -EINVAL,
			   "'%.300s' is not a recording: neither a file, a folder nor a pipe",
			   r->path);
}

int tap_piped_map(struct tap_reader *r, int fd, struct tap_err *err)
{
	const struct tap_mapping *map;
	int ret = check_kind(r, fd, err), copy;

	if (ret)
		return ret;
	copy = tap_unnamed_open();
	if (copy < 0)
		return tap_unnamed_fail(copy, "copy", r->path, err);
	ret = copy_all(r, fd, copy, err);
	if (!ret) {
		ret = tap_dat_add_map(r, copy, &map);
		if (ret)
			tap_unnamed_fail(ret, "map", r->path, err);
	}
	close(copy);
	return ret;
}
