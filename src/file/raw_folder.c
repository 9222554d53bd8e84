// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/raw_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define MAX_FORMAT_BYTES (1u << 20)

static const struct layout {
	const char *formats, *pages; /* .pages: of a CPU */
} layouts[] = {
	{ "formats", "traces/cpu%u" },
	{ "events", "per_cpu/cpu%u/trace_pipe_raw" },
};

static int open_at(int dir, const char *path, int flags)
{
	/* O_NONBLOCK: do not wait for a writer if it is a FIFO */
	int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

/* Read a regular file. Return: 0; -errno. */
static int read_text(int dir, const char *path, struct tap_buf *out)
{
	int fd = open_at(dir, path, 0), ret = 0;
	ssize_t len = 1;
	struct stat st;

	tap_buf_clear(out);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_FORMAT_BYTES)
		ret = -EINVAL;
	while (!ret && len > 0) {
		if (!tap_buf_reserve(out, 4096) || out->len > MAX_FORMAT_BYTES) {
			ret = -ENOMEM;
			break;
		}
		len = read(fd, out->data + out->len, 4096);
		if (len > 0)
			out->len += (size_t)len;
		else if (len < 0)
			ret = -errno;
	}
	close(fd);
	return ret;
}

/* ---- formats ---- */

/* Add the format of each event in the folder of a system; one that cannot be read is left out. */
static int add_system(struct tap_reader *r, int formats, const char *system, struct tap_err *err)
{
	const struct tap_abi abi = { r->info.big_endian, r->info.long_size };
	int dir = open_at(formats, system, O_DIRECTORY), ret = 0;
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct tap_buf text = { 0 };
	const struct dirent *event;
	char path[300];

	while (!ret && d && (event = readdir(d))) {
		if (*event->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "%s/format", event->d_name);
		if (read_text(dir, path, &text))
			continue;
		ret = tap_dat_add_format(r, system, tap_buf_str(&text), text.len, abi, err);
		if (ret != -ENOMEM && ret != -E2BIG)
			ret = 0;
	}
	if (d)
		closedir(d);
	else if (dir >= 0)
		close(dir);
	tap_buf_release(&text);
	return ret;
}

static int add_formats(struct tap_reader *r, int dir, const struct layout *l, uint32_t *page_bytes,
		       struct tap_err *err)
{
	int formats = open_at(dir, l->formats, O_DIRECTORY), ret = 0;
	DIR *d = formats < 0 ? NULL : fdopendir(formats);
	struct tap_buf text = { 0 };
	const struct dirent *system;

	if (d && !read_text(formats, "header_page", &text))
		ret = tap_dat_read_header_page(r, tap_buf_str(&text), page_bytes, err);
	r->info.long_size = r->decoder.long_size = r->commit_size;
	while (!ret && d && (system = readdir(d)))
		if (*system->d_name != '.')
			ret = add_system(r, formats, system->d_name, err);
	if (d)
		closedir(d);
	else if (formats >= 0)
		close(formats);
	tap_buf_release(&text);
	if (!ret && !r->nr_formats)
		return tap_err_set(err, -EINVAL,
				   "'%.300s' has pages of tracefs, but no formats of events: copy "
				   "the recorded machine's into it, as '%s/SYSTEM/EVENT/format'",
				   r->path, l->formats);
	return ret;
}

/* ---- sub-buffers ---- */

/* Add a CPU's file. Return: 0; 1 if it does not exist; -errno. */
static int add_cpu(struct tap_reader *r, int dir, const struct layout *l, unsigned int cpu,
		   struct tap_err *err)
{
	const struct tap_mapping *map;
	struct tap_stream *s;
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), l->pages, cpu);
	fd = open_at(dir, path, 0);
	if (fd == -ENOENT)
		return 1;
	ret = fd < 0 ? fd : tap_dat_add_map(r, fd, &map);
	if (fd >= 0)
		close(fd);
	if (ret)
		return tap_err_set(err, ret, "cannot read '%.300s/%s': %s", r->path, path,
				   strerror(-ret));
	ret = tap_dat_add_stream(r, 0, cpu, &s, err);
	if (ret)
		return ret;
	tap_dat_set_pages(s, map, map->data, map->len);
	s->whole.cut = map->len % s->abi.page_size;
	return 0;
}

static bool has_pages(int dir, const struct layout *l)
{
	char path[64];

	snprintf(path, sizeof(path), l->pages, 0u);
	return !faccessat(dir, path, F_OK, 0);
}

int tap_raw_open_folder(struct tap_reader *r, int dir, struct tap_err *err)
{
	static const char tool[] = "sub-buffers of tracefs";
	const struct layout *l = layouts, *end = layouts + sizeof(layouts) / sizeof(*layouts);
	uint32_t page_bytes = TAP_PAGE_SIZE;
	int ret;

	while (l < end && !has_pages(dir, l))
		l++;
	if (l == end || !faccessat(dir, "trace_pipe", F_OK, 0)) /* that is tracefs itself */
		return 1;
	r->info.big_endian = r->decoder.big_endian = TAP_HOST_BIG_ENDIAN;
	r->page_size = TAP_PAGE_SIZE;
	r->data_offset = TAP_PAGE_HEADER;
	r->commit_size = 8;
	ret = add_formats(r, dir, l, &page_bytes, err);
	if (!ret)
		ret = tap_dat_add_buffer(r, "", "", page_bytes, err);
	for (unsigned int cpu = 0; ret >= 0 && cpu < TAP_DAT_MAX_CPUS; cpu++)
		ret = add_cpu(r, dir, l, cpu, err);
	if (ret >= 0)
		ret = tap_dat_set_text(&r->tool, tool, sizeof(tool) - 1, err);
	return ret ?: tap_dat_set_text(&r->compression, "none", 4, err);
}
