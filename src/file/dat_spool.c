// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Read a spool folder (spool.h): head.dat, meta.json and the page files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "file/dat_file.h"
#include "file/meta.h"
#include "file/pack_data.h"
#include "file/rebuild.h"
#include "file/spool.h"
#include "file/sums.h"
#include "file/unknown.h"

/* Map a file of the folder @dir. Links and devices are refused. Return: 0; -ENOENT; -errno. */
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
 * Count a page file's chunks. An incomplete one at the end is skipped: it is still being written,
 * or the recorder crashed. One whose header was never written is counted as the last: reading it
 * fails, which is reported as a loss.
 */
static void place_chunks(const struct tap_reader *r, struct tap_span *span,
			 const struct tap_mapping *m)
{
	struct tap_bytes b = { .at = m->data,
			       .end = m->data + m->len,
			       .big_endian = r->decoder.big_endian };

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

/*
 * Add a page file as a stream. A partial sub-buffer at its end is skipped: it is still being
 * written, or the recorder crashed.
 */
static int add_pages(struct tap_reader *r, int dir, const struct tap_spool_file *f,
		     struct tap_err *err)
{
	const struct tap_mapping *m;
	struct tap_stream *s;
	int ret;

	ret = map_at(r, dir, f->file, &m, err)
		      ?: tap_dat_add_stream(r, r->info.nr_buffers - 1, f->name.cpu, &s, err);
	if (ret)
		return ret;
	if (f->name.zstd) {
		place_chunks(r, &s->whole, m);
		return 0;
	}
	tap_dat_set_pages(s, m, m->data, m->len);
	return 0;
}

static int add_buffers(struct tap_reader *r, int dir, const struct tap_spool_file *files,
		       unsigned int nr, struct tap_err *err)
{
	const struct tap_spool_name *before = NULL;

	int ret = 0;

	/* The recorder was killed before the top-level buffer got a page file: add an empty one. */
	if (nr && files[0].name.buffer)
		ret = tap_dat_add_buffer(r, "", files[0].name.clock, files[0].name.page_size, err);
	if (ret < 0)
		return ret;
	for (unsigned int i = 0; i < nr; before = &files[i++].name) {
		const struct tap_spool_name *n = &files[i].name;

		if (!before || before->buffer != n->buffer) {
			ret = tap_dat_add_buffer(r, n->name, n->clock, n->page_size, err);
			if (ret < 0)
				return ret;
		} else if (before->page_size != n->page_size || strcmp(before->name, n->name)) {
			return tap_dat_bad(r, err,
					   "the page files of a buffer contradict each other");
		}
		ret = add_pages(r, dir, &files[i], err);
		if (ret)
			return ret;
	}
	return 0;
}

static int read_pages(struct tap_reader *r, int dir, struct tap_err *err)
{
	struct tap_spool_file *files = NULL;
	unsigned int nr;
	int ret = tap_spool_list(dir, tap_spool_by_buffer, &files, &nr);

	if (ret == -ENOMEM)
		tap_dat_nomem(err);
	else if (ret)
		tap_err_set(err, ret, "cannot list the recording's folder: %s", strerror(-ret));
	ret = ret ?: add_buffers(r, dir, files, nr, err);
	free(files);
	return ret;
}

static int read_meta(struct tap_reader *r, int dir, struct tap_err *err)
{
	const struct tap_mapping *m;
	size_t len;
	int ret;

	ret = map_at(r, dir, "meta.json", &m, NULL);
	if (ret == -ENOENT)
		return 0;
	if (ret)
		return tap_err_set(err, ret, "cannot read 'meta.json' in '%.300s': %s", r->path,
				   strerror(-ret));
	len = m->len;
	if (!len)
		return 0;
	if (!tap_meta_open((const char *)m->data, &len))
		return tap_dat_note(
			r, err,
			"'%.300s/meta.json' is damaged: the description in head.dat is used",
			r->path);
	ret = tap_dat_set_text(&r->meta, m->data, len < m->len ? len + 1 : len, err);
	if (!ret && r->meta[len] == ',') /* the checksum follows */
		r->meta[len] = '}';
	return ret ?: tap_dat_check_meta(r, err);
}

/* Swap the first mapping with the last one, which is the head to use. */
static void put_first(struct tap_reader *r)
{
	struct tap_mapping last = r->maps[r->nr_maps - 1];

	r->maps[r->nr_maps - 1] = r->maps[0];
	r->maps[0] = last;
}

static int map_bytes(struct tap_reader *r, const struct tap_buf *bytes)
{
	int fd = memfd_create("schedtap-head", MFD_CLOEXEC), ret;
	const struct tap_mapping *m;

	if (fd < 0)
		return -errno;
	ret = tap_write_all(fd, bytes->data, bytes->len) ?: tap_dat_add_map(r, fd, &m);
	close(fd);
	return ret;
}

/*
 * Rebuild head.dat from the description and the built-in formats. Descriptions of older recorders
 * do not list formats: then the damaged head.dat remains, and opening it reports the damage.
 */
static int map_rebuilt_head(struct tap_reader *r, int dir, struct tap_err *err)
{
	const struct tap_mapping *meta;
	struct tap_buf bytes = { 0 };
	struct tap_err why = { 0 };
	int ret = map_at(r, dir, "meta.json", &meta, NULL);
	const uint64_t on_disk = r->budget.file_bytes;

	if (ret)
		return 0;
	ret = tap_budget_set(&r->budget, TAP_COST_DESCRIPTION,
			     tap_budget_json_bytes((const char *)meta->data, meta->len), err);
	if (ret)
		return ret;
	ret = tap_rebuild_head((const char *)meta->data, meta->len, &bytes, &why)
		      ?: map_bytes(r, &bytes);
	/* the rebuilt head is only in memory: it must not raise the limit */
	r->budget.file_bytes = on_disk;
	tap_buf_release(&bytes);
	if (ret == -ENODATA)
		return 0;
	if (ret)
		return tap_err_set(
			err, ret,
			"cannot use '%.300s/head.dat', which is damaged as its copy is: %s",
			r->path, *why.text ? why.text : strerror(-ret));
	put_first(r);
	return tap_dat_note(r, err,
			    "'%.300s/head.dat' and its copy are damaged: the formats that are "
			    "built into schedtap are used",
			    r->path);
}

/*
 * Map head.dat as the first mapping. If it fails its checksum, use its copy (which older recorders
 * did not write) if that is intact, otherwise a rebuilt head.
 */
static int map_head(struct tap_reader *r, int dir, struct tap_err *err)
{
	const struct tap_mapping *head;
	int ret = map_at(r, dir, "head.dat", &head, err);

	if (ret || tap_sums_head_fits(head->data, head->len))
		return ret;
	if (map_at(r, dir, TAP_SPOOL_HEAD_COPY, &head, NULL) ||
	    !tap_sums_head_fits(head->data, head->len))
		return map_rebuilt_head(r, dir, err);
	put_first(r);
	return tap_dat_note(r, err, "'%.300s/head.dat' is damaged: its copy is used", r->path);
}

/* Return @len without @suffix if the first @len bytes of @path end in it. */
static size_t strip_suffix(const char *path, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len > n && !memcmp(path + len - n, suffix, n) ? len - n : len;
}

static int refuse_without_events(const char *path, enum tap_spool_kind kind, struct tap_err *err)
{
	size_t len = strlen(path);

	if (kind == TAP_SPOOL_RECORDING)
		return 0;
	if (kind == TAP_SPOOL_FLIGHT)
		return tap_err_set(err, -ENODATA,
				   "'%.300s' belongs to a flight recorder, which keeps its events "
				   "in memory: run `schedtap mark` to save them to a file",
				   path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	len = strip_suffix(path, strip_suffix(path, len, TAP_SPOOL_SUFFIX), ".dat");
	return tap_err_set(err, -ENODATA,
			   "'%.300s' only locks the name of a ring on disk: its events are in the "
			   "files '%.*s-*.dat'",
			   path, (int)(len < 300 ? len : 300), path);
}

int tap_dat_read_spool(struct tap_reader *r, int dir, struct tap_err *err)
{
	int ret;

	r->info.is_spool = true;
	ret = map_head(r, dir, err);
	if (ret == -ENOENT)
		ret = tap_unknown_folder(r, dir, err);
	ret = ret ?: refuse_without_events(r->path, tap_spool_kind(dir), err);
	ret = ret ?: tap_dat_read_file(r, err);
	return ret ?: read_meta(r, dir, err) ?: read_pages(r, dir, err);
}
