// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/foreign.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/made.h"

static const struct {
	bool (*is)(const unsigned char *data, size_t len);
	int (*read)(struct tap_made *m, const unsigned char *data, size_t len);
} formats[] = {
	{ tap_text_is, tap_text_read },
	{ tap_perfetto_is, tap_perfetto_read },
};

int tap_foreign_open(struct tap_reader *r, struct tap_err *err)
{
	const unsigned char *data = r->maps[0].data;
	const size_t len = r->maps[0].len;
	struct tap_made made;
	size_t i = 0;
	int ret;

	while (i < sizeof(formats) / sizeof(*formats) && !formats[i].is(data, len))
		i++;
	if (i == sizeof(formats) / sizeof(*formats))
		return 1;
	tap_made_begin(&made, r, err);
	ret = formats[i].read(&made, data, len);
	tap_made_release(&made);
	return ret;
}

/* Count the bytes of the files in a folder towards the budget, as those of a mapped file. */
static void count_files(struct tap_reader *r, int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	struct stat st;

	while (d && (entry = readdir(d)))
		if (!fstatat(dir, entry->d_name, &st, 0) && S_ISREG(st.st_mode))
			r->budget.file_bytes += (uint64_t)st.st_blocks * 512;
	if (d)
		closedir(d);
}

int tap_foreign_open_folder(struct tap_reader *r, int dir, struct tap_err *err)
{
	const char *below = tap_ctf_is(dir);
	struct tap_made made;
	char path[PATH_MAX];
	int inner, ret;

	if (!below)
		return 1;
	if (snprintf(path, sizeof(path), "%s%s", r->path, below) >= (int)sizeof(path))
		return tap_err_set(err, -ENAMETOOLONG, "'%.300s': its path is too long", r->path);
	inner = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (inner < 0)
		return tap_err_set(err, -errno, "cannot open '%.300s': %m", path);
	count_files(r, inner);
	close(inner);
	tap_made_begin(&made, r, err);
	ret = tap_ctf_read(&made, path);
	tap_made_release(&made);
	return ret;
}
