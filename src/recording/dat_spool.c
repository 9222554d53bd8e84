// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reading a spool folder (spool.h): head.dat, meta.json and the page files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "recording/dat_file.h"
#include "recording/pack_data.h"
#include "recording/spool.h"

struct page_file {
	char file[NAME_MAX + 1];
	struct tap_spool_name name;
};

struct page_files {
	struct page_file *v;
	unsigned int nr, cap;
};

static int add_file(struct page_files *files, const char *name, struct tap_err *err)
{
	struct page_file f;

	if (!tap_spool_parse_name(name, &f.name)) /* head.dat, meta.json, something half packed */
		return 0;
	strcpy(f.file, name);
	if (tap_array_grow(&files->v, files->nr, &files->cap, sizeof(*files->v)))
		return tap_dat_nomem(err);
	files->v[files->nr++] = f;
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct tap_spool_name *x = &((const struct page_file *)a)->name;
	const struct tap_spool_name *y = &((const struct page_file *)b)->name;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int list_files(int dir, struct page_files *files, struct tap_err *err)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		ret = tap_err_set(err, -errno, "cannot list the folder: %m");
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (e = readdir(d)))
		ret = add_file(files, e->d_name, err);
	closedir(d);
	if (files->nr)
		qsort(files->v, files->nr, sizeof(*files->v), compare_files);
	return ret;
}

/* Return: 0; -ENOENT if there is none; -errno. Links and devices are refused. */
static int map_at(struct tap_reader *r, int dir, const char *name, const struct tap_mapping **out,
		  struct tap_err *err)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), ret;

	if (fd < 0)
		return tap_err_set(err, -errno, "cannot open '%.256s' in '%.300s': %m", name,
				   r->path);
	ret = tap_dat_add_map(r, fd, out);
	close(fd);
	if (ret)
		return tap_err_set(err, ret, "cannot map '%.256s' in '%.300s': %s", name, r->path,
				   strerror(-ret));
	return 0;
}

/*
 * How many chunks there are; one that is cut is still being written, or the crash was faster. One that was
 * never written counts: whoever comes there finds nothing, which is a loss.
 */
static void place_chunks(const struct tap_reader *r, struct tap_span *span, const struct tap_mapping *m)
{
	struct tap_bytes b = { .at = m->data, .end = m->data + m->len, .big_endian = r->decoder.big_endian };

	tap_bytes_take(&b, TAP_CHUNKS_HEADER);
	span->chunks = b;
	for (bool known = true; known; span->nr_chunks++) {
		uint32_t len = tap_bytes_u32(&b);

		known = len && len <= TAP_CHUNK_MAX_BYTES;
		tap_bytes_u32(&b);
		tap_bytes_take(&b, known ? len : 0);
		if (b.bad)
			return;
	}
}

/* A partial page at the end is still being written, or the crash was faster. */
static int add_pages(struct tap_reader *r, int dir, const struct page_file *f, struct tap_err *err)
{
	const struct tap_mapping *m;
	struct tap_stream *s;
	int ret;

	ret = map_at(r, dir, f->file, &m, err);
	if (ret)
		return ret;
	ret = tap_dat_add_stream(r, r->info.nr_buffers - 1, f->name.cpu, &s, err);
	if (ret)
		return ret;
	if (f->name.zstd) {
		place_chunks(r, &s->whole, m);
		return 0;
	}
	tap_dat_set_pages(s, m, m->data, m->len);
	return 0;
}

static int add_buffers(struct tap_reader *r, int dir, const struct page_files *files,
		       struct tap_err *err)
{
	const struct tap_spool_name *before = NULL;

	for (unsigned int i = 0; i < files->nr; before = &files->v[i++].name) {
		const struct tap_spool_name *n = &files->v[i].name;
		int ret;

		if (!before || before->buffer != n->buffer) {
			ret = tap_dat_add_buffer(r, n->name, n->clock, n->page_size, err);
			if (ret < 0)
				return ret;
		} else if (before->page_size != n->page_size || strcmp(before->name, n->name)) {
			return tap_dat_bad(r, err, "the page files of a buffer contradict");
		}
		ret = add_pages(r, dir, &files->v[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_meta(struct tap_reader *r, int dir, struct tap_err *err)
{
	const struct tap_mapping *m;
	int ret;

	ret = map_at(r, dir, "meta.json", &m, NULL);
	if (ret == -ENOENT)
		return 0;
	if (ret)
		return tap_err_set(err, ret, "cannot read 'meta.json' in '%.300s': %s", r->path,
				   strerror(-ret));
	return m->len ? tap_dat_set_text(&r->meta, m->data, m->len, err) : 0;
}

int tap_dat_read_spool(struct tap_reader *r, int dir, struct tap_err *err)
{
	struct page_files files = { 0 };
	const struct tap_mapping *head;
	int ret;

	r->info.is_spool = true;
	ret = map_at(r, dir, "head.dat", &head, err);
	if (ret == -ENOENT)
		ret = tap_err_set(err, -EINVAL, "'%.300s' is no recording: it has no head.dat",
				  r->path);
	if (!ret)
		ret = tap_dat_read_file(r, err);
	if (!ret)
		ret = read_meta(r, dir, err);
	if (!ret)
		ret = list_files(dir, &files, err);
	if (!ret)
		ret = add_buffers(r, dir, &files, err);
	free(files.v);
	return ret;
}
