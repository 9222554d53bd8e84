// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/pack_data.h"

#include <errno.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/buf.h"
#include "file/dat_write.h"

#define MAX_THREADS 2
/*
 * Data written by one aligned call becomes a large folio in the page cache, which a later mmap()
 * maps in one go. copy_file_range() copies only 64 KiB at a time; it and later reads take longer.
 */
#define COPY_BYTES ((size_t)1 << 20)
#define CHUNK_HEADER 8u /* u32 compressed size, u32 decompressed size */

/* Buffers of one compressing thread. */
struct worker {
	ZSTD_CCtx *ctx;
	const char *pages; /* data to compress: .in, or the caller's */
	char *in, *out;
	size_t in_len, out_len, out_cap;
	int ret;
};

struct tap_packer_data {
	struct worker workers[MAX_THREADS];
	unsigned int nr_workers;
	size_t chunk_cap;
};

/*
 * Find the next range of data in the file, from *@from up to @size. It skips holes, which a power
 * cut leaves and which may be long. Return: its length; 0: no more data.
 */
static uint64_t find_data(int fd, uint64_t *from, uint64_t size)
{
	off_t data = tap_find_data(fd, (off_t)*from, (off_t)size), hole;

	*from = (uint64_t)data;
	if (*from >= size)
		return 0;
	hole = lseek(fd, data, SEEK_HOLE);
	return hole > data && (uint64_t)hole < size ? (uint64_t)(hole - data) : size - *from;
}

/* Return the end of the last data, rounded up to whole sub-buffers. */
static uint64_t data_end(int fd, uint64_t size, uint32_t page_size)
{
	uint64_t from = 0, len, end = 0;

	while ((len = find_data(fd, &from, size)) > 0)
		end = from += len;
	return (end + page_size - 1) / page_size * page_size;
}

int tap_pages_find(struct tap_pages *pages)
{
	const uint32_t page_size = pages->page_size;
	struct stat st;
	uint64_t header[2], whole;
	int ret;

	if (fstat(pages->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	whole = (uint64_t)st.st_size < pages->to ? (uint64_t)st.st_size : pages->to;
	whole -= whole % page_size;
	pages->to = data_end(pages->fd, whole, page_size);
	while (pages->to > pages->from) {
		ret = tap_pread_all(pages->fd, header, sizeof(header),
				    (off_t)(pages->to - page_size));
		if (ret)
			return ret;
		if (header[0] || header[1])
			break;
		pages->to -= page_size;
	}
	if (pages->to < whole) /* keep one empty sub-buffer, which marks missing data */
		pages->to += page_size;
	return 0;
}

/* Share the blocks of both files, if the file system supports it. Return: false if it does not. */
static bool share_pages(const struct tap_pages *pages, int out, uint64_t pos)
{
	struct file_clone_range range = {
		.src_fd = pages->fd,
		.src_offset = pages->from,
		.src_length = pages->to - pages->from,
		.dest_offset = pos,
	};

	return range.src_length && !ioctl(out, FICLONERANGE, &range);
}

static void add_progress(struct tap_pack_out *out, uint64_t done)
{
	out->done += done;
	if (out->show)
		out->show(out->ctx, out->done, out->whole);
}

static int append_bytes(struct tap_pack_out *out, const void *data, size_t len)
{
	int ret = tap_pwrite_all(out->fd, data, len, out->pos);

	out->pos += len;
	return ret;
}

/*
 * Read sub-buffers; those that were freed from memory become empty. Return: 0; -ENODATA if the file
 * has become shorter; -errno.
 */
static int read_pages(const struct tap_pages *pages, uint64_t at, char *to, size_t len)
{
	if (!pages->lane)
		return tap_pread_all(pages->fd, to, len, (off_t)at);
	for (size_t part; len; at += part, to += part, len -= part) {
		part = tap_held_read(pages->held, pages->lane, at, to, len);
		if (part)
			continue;
		part = pages->page_size;
		memset(to, 0, part);
	}
	return 0;
}

static int copy_pages(const struct tap_pages *pages, uint64_t begin, char *buf,
		      struct tap_pack_out *out)
{
	uint64_t from = pages->from, left, to;
	int ret = 0;

	while (!ret && (left = pages->lane ? pages->to - from
					   : find_data(pages->fd, &from, pages->to)) > 0) {
		size_t len;

		to = begin + from - pages->from;
		len = COPY_BYTES - to % COPY_BYTES;
		len = len < left ? len : (size_t)left;
		ret = read_pages(pages, from, buf, len) ?: tap_pwrite_all(out->fd, buf, len, to);
		from += len;
		add_progress(out, len);
	}
	return ret;
}

int tap_pages_copy(const struct tap_pages *pages, struct tap_pack_out *out)
{
	uint64_t begin = out->pos, end = begin + pages->to - pages->from;
	char *buf;
	int ret;

	out->pos = end;
	if (!pages->lane && share_pages(pages, out->fd, begin))
		return 0;
	buf = malloc(COPY_BYTES);
	if (!buf)
		return -ENOMEM;
	ret = copy_pages(pages, begin, buf, out);
	/* if the data ends in a hole, extend the file to its full length */
	if (!ret && !pages->lane && end > begin)
		ret = tap_pread_all(pages->fd, buf, 1, (off_t)(pages->to - 1))
			      ?: tap_pwrite_all(out->fd, buf, 1, end - 1);
	free(buf);
	return ret;
}

int tap_packer_data_new(int level, struct tap_packer_data **out)
{
	struct tap_packer_data *d = calloc(1, sizeof(*d));

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->nr_workers = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? MAX_THREADS : 1;
	for (unsigned int i = 0; i < d->nr_workers; i++) {
		d->workers[i].ctx = tap_zstd_new(level);
		if (!d->workers[i].ctx) {
			tap_packer_data_free(d);
			return -ENOMEM;
		}
	}
	*out = d;
	return 0;
}

void tap_packer_data_free(struct tap_packer_data *d)
{
	if (!d)
		return;
	for (unsigned int i = 0; i < d->nr_workers; i++) {
		ZSTD_freeCCtx(d->workers[i].ctx);
		free(d->workers[i].in);
		free(d->workers[i].out);
	}
	free(d);
}

/*
 * Allocate buffers for chunks: a chunk has whole sub-buffers, which may be larger than the usual
 * chunk.
 */
static int fit_chunk(struct tap_packer_data *d, uint32_t page_size)
{
	size_t cap = page_size > TAP_PACK_CHUNK_BYTES ? page_size : TAP_PACK_CHUNK_BYTES;

	if (cap <= d->chunk_cap)
		return 0;
	for (unsigned int i = 0; i < d->nr_workers; i++) {
		struct worker *w = &d->workers[i];

		free(w->in);
		free(w->out);
		w->out_cap = CHUNK_HEADER + ZSTD_compressBound(cap);
		w->in = malloc(cap);
		w->out = malloc(w->out_cap);
		if (!w->in || !w->out)
			return -ENOMEM;
	}
	d->chunk_cap = cap;
	return 0;
}

static void *compress_chunk(void *arg)
{
	struct worker *w = arg;
	size_t size = ZSTD_compress2(w->ctx, w->out + CHUNK_HEADER, w->out_cap - CHUNK_HEADER,
				     w->pages, w->in_len);
	uint32_t csize = (uint32_t)size, usize = (uint32_t)w->in_len;

	w->ret = ZSTD_isError(size) ? -ENOMEM : 0;
	memcpy(w->out, &csize, sizeof(csize));
	memcpy(w->out + 4, &usize, sizeof(usize));
	w->out_len = CHUNK_HEADER + size;
	return NULL;
}

/*
 * Compress the first chunk here, the others in threads: a chunk takes milliseconds, starting a
 * thread microseconds.
 */
static void compress_batch(struct tap_packer_data *d, unsigned int nr)
{
	pthread_t threads[MAX_THREADS];
	bool started[MAX_THREADS] = { false };

	for (unsigned int i = 1; i < nr; i++)
		started[i] = !pthread_create(&threads[i], NULL, compress_chunk, &d->workers[i]);
	for (unsigned int i = 0; i < nr; i++) {
		if (started[i])
			pthread_join(threads[i], NULL);
		else
			compress_chunk(&d->workers[i]);
	}
}

/* Read, compress and write up to one chunk per thread, from *@from on. */
static int do_batch(struct tap_packer_data *d, const struct tap_pages *pages, uint64_t *from,
		    struct tap_pack_out *out)
{
	unsigned int nr = 0;
	int ret = 0;

	while (!ret && nr < d->nr_workers && *from < pages->to) {
		struct worker *w = &d->workers[nr++];

		w->pages = w->in;
		w->in_len = pages->to - *from < d->chunk_cap ? (size_t)(pages->to - *from)
							     : d->chunk_cap;
		ret = read_pages(pages, *from, w->in, w->in_len);
		*from += w->in_len;
	}
	if (ret)
		return ret;
	compress_batch(d, nr);
	for (unsigned int i = 0; !ret && i < nr; i++) {
		struct worker *w = &d->workers[i];

		ret = w->ret ?: append_bytes(out, w->out, w->out_len);
	}
	return ret;
}

int tap_pages_compress(struct tap_packer_data *d, const struct tap_pages *pages,
		       struct tap_pack_out *out)
{
	int ret = fit_chunk(d, pages->page_size);
	uint64_t nr, from = pages->from, before;
	uint32_t nr32;

	if (ret)
		return ret;
	nr = (pages->to - from + d->chunk_cap - 1) / d->chunk_cap;
	nr32 = (uint32_t)nr;
	if (nr != nr32)
		return -EFBIG;
	ret = append_bytes(out, &nr32, sizeof(nr32));
	while (!ret && from < pages->to) {
		before = from;
		ret = do_batch(d, pages, &from, out);
		add_progress(out, from - before);
	}
	return ret;
}

int tap_chunk_make(struct tap_packer_data *d, const void *pages, size_t len, const void **chunk,
		   size_t *chunk_len)
{
	struct worker *w = &d->workers[0];
	int ret = fit_chunk(d, (uint32_t)len);

	if (ret)
		return ret;
	w->pages = pages;
	w->in_len = len;
	compress_chunk(w);
	*chunk = w->out;
	*chunk_len = w->out_len;
	return w->ret;
}

/*
 * Read the next chunk. Return: its size; 0: there is none, or it is incomplete; -EBADMSG: its
 * header was never written; -errno.
 */
static ssize_t read_chunk(struct worker *w, int fd, uint64_t from)
{
	uint32_t size;
	int ret = tap_pread_all(fd, w->out, CHUNK_HEADER, (off_t)from);

	memcpy(&size, w->out, sizeof(size));
	if (!ret && (!size || size > w->out_cap - CHUNK_HEADER))
		return -EBADMSG;
	ret = ret ?: tap_pread_all(fd, w->out + CHUNK_HEADER, size, (off_t)(from + CHUNK_HEADER));
	return ret == -ENODATA ? 0 : ret ? ret : (ssize_t)(CHUNK_HEADER + size);
}

/* Make a chunk of an empty sub-buffer, which marks an unknown amount of missing data. */
static ssize_t make_loss(struct tap_packer_data *d, uint32_t page_size)
{
	struct worker *w = &d->workers[0];

	memset(w->in, 0, page_size);
	w->pages = w->in;
	w->in_len = page_size;
	compress_chunk(w);
	return w->ret ? w->ret : (ssize_t)w->out_len;
}

int tap_chunks_copy(struct tap_packer_data *d, int fd, uint32_t page_size, struct tap_pack_out *out)
{
	uint64_t from = TAP_CHUNKS_HEADER, begin = out->pos;
	struct worker *w = &d->workers[0];
	int ret = fit_chunk(d, page_size);
	bool is_lost = false;
	uint32_t nr = 0;
	ssize_t len;

	out->pos += TAP_CHUNKS_HEADER;
	while (!ret && !is_lost && (len = read_chunk(w, fd, from)) != 0) {
		is_lost = len == -EBADMSG;
		if (is_lost)
			len = make_loss(d, page_size);
		ret = len < 0 ? (int)len : append_bytes(out, w->out, (size_t)len);
		from += (uint64_t)len;
		nr++;
		add_progress(out, (uint64_t)len);
	}
	if (!nr)
		out->pos = begin;
	return ret || !nr ? ret : tap_pwrite_all(out->fd, &nr, sizeof(nr), begin);
}
