// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/inflate.h"

#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <unistd.h>
#define ZLIB_CONST /* input is const */
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/buf.h"
#include "file/unnamed.h"

#define BLOCK_BYTES ((size_t)256 << 10)
#define MAX_MEMORY_LOG 27u /* bytes that decompressing may need: the default limit of zstd */
#define GZIP_WITH_LARGEST_WINDOW (16 + MAX_WBITS)

enum step {
	STEP_MORE, /* there may be more output */
	STEP_END,
	STEP_CUT, /* the input has ended too early */
	STEP_DAMAGED,
	STEP_LARGE, /* above the limit of MAX_MEMORY_LOG */
	STEP_NOMEM,
};

struct inflater {
	const struct method *method;
	const unsigned char *at, *end; /* input that is left */
	union {
		z_stream zlib;
		lzma_stream lzma;
		ZSTD_DCtx *zstd;
	};
};

/*
 * A compression. start(): return false if there is no memory. step(): decompress into the @room
 * bytes at @to, and set @n to the number of bytes there. release(): after start(), even if that
 * failed.
 */
struct method {
	const char *name;
	const char *magic;
	size_t magic_len;
	bool (*start)(struct inflater *f);
	enum step (*step)(struct inflater *f, unsigned char *to, size_t room, size_t *n);
	void (*release)(struct inflater *f);
};

static size_t input_left(const struct inflater *f)
{
	return (size_t)(f->end - f->at);
}

static bool starts_with(const unsigned char *data, size_t len, const struct method *m)
{
	return len >= m->magic_len && !memcmp(data, m->magic, m->magic_len);
}

/* ---- gzip ---- */

static bool start_gzip(struct inflater *f)
{
	return inflateInit2(&f->zlib, GZIP_WITH_LARGEST_WINDOW) == Z_OK;
}

static enum step step_gzip(struct inflater *f, unsigned char *to, size_t room, size_t *n)
{
	z_stream *z = &f->zlib;
	int ret;

	z->next_in = f->at;
	z->avail_in = input_left(f) < UINT_MAX ? (unsigned int)input_left(f) : UINT_MAX;
	z->next_out = to;
	z->avail_out = (unsigned int)room;
	ret = inflate(z, Z_NO_FLUSH);
	f->at = z->next_in;
	*n = room - z->avail_out;
	switch (ret) {
	case Z_STREAM_END:
		/* zeros or other data may follow a stream, as gzip(1) allows it */
		if (!starts_with(f->at, input_left(f), f->method))
			return STEP_END;
		return inflateReset(z) == Z_OK ? STEP_MORE : STEP_DAMAGED;
	case Z_OK:
	case Z_BUF_ERROR:
		return f->at == f->end && z->avail_out ? STEP_CUT : STEP_MORE;
	case Z_MEM_ERROR:
		return STEP_NOMEM;
	default:
		return STEP_DAMAGED;
	}
}

static void release_gzip(struct inflater *f)
{
	inflateEnd(&f->zlib);
}

/* ---- zstd ---- */

static bool start_zstd(struct inflater *f)
{
	f->zstd = ZSTD_createDCtx();
	return f->zstd &&
	       !ZSTD_isError(ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax, MAX_MEMORY_LOG));
}

static enum step step_zstd(struct inflater *f, unsigned char *to, size_t room, size_t *n)
{
	ZSTD_inBuffer in = { f->at, input_left(f), 0 };
	ZSTD_outBuffer out = { to, room, 0 };
	size_t ret = ZSTD_decompressStream(f->zstd, &out, &in);

	f->at += in.pos;
	*n = out.pos;
	if (ZSTD_isError(ret)) {
		switch (ZSTD_getErrorCode(ret)) {
		case ZSTD_error_frameParameter_windowTooLarge:
			return STEP_LARGE;
		case ZSTD_error_memory_allocation:
			return STEP_NOMEM;
		default:
			return STEP_DAMAGED;
		}
	}
	if (f->at < f->end || out.pos == room)
		return STEP_MORE;
	return ret ? STEP_CUT : STEP_END;
}

static void release_zstd(struct inflater *f)
{
	ZSTD_freeDCtx(f->zstd);
}

/* ---- xz ---- */

static bool start_xz(struct inflater *f)
{
	f->lzma = (lzma_stream)LZMA_STREAM_INIT;
	return lzma_stream_decoder(&f->lzma, (uint64_t)1 << MAX_MEMORY_LOG, LZMA_CONCATENATED) ==
	       LZMA_OK;
}

static enum step step_xz(struct inflater *f, unsigned char *to, size_t room, size_t *n)
{
	lzma_stream *s = &f->lzma;
	lzma_ret ret;

	s->next_in = f->at;
	s->avail_in = input_left(f);
	s->next_out = to;
	s->avail_out = room;
	ret = lzma_code(s, LZMA_FINISH);
	f->at = s->next_in;
	*n = room - s->avail_out;
	switch (ret) {
	case LZMA_OK:
		return STEP_MORE;
	case LZMA_STREAM_END:
		return STEP_END;
	case LZMA_BUF_ERROR: /* there is room, so it lacks input */
		return STEP_CUT;
	case LZMA_MEMLIMIT_ERROR:
		return STEP_LARGE;
	case LZMA_MEM_ERROR:
		return STEP_NOMEM;
	default:
		return STEP_DAMAGED;
	}
}

static void release_xz(struct inflater *f)
{
	lzma_end(&f->lzma);
}

/* ---- any of them ---- */

static const struct method methods[] = {
	{ "gzip", "\x1f\x8b\x08", 3, start_gzip, step_gzip, release_gzip },
	{ "zstd", "\x28\xb5\x2f\xfd", 4, start_zstd, step_zstd, release_zstd },
	{ "xz", "\xfd\x37zXZ", 6, start_xz, step_xz, release_xz },
};

static const struct method *find_method(const unsigned char *data, size_t len)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (starts_with(data, len, &methods[i]))
			return &methods[i];
	return NULL;
}

const char *tap_inflate_name(const unsigned char *data, size_t len)
{
	const struct method *m = find_method(data, len);

	return m ? m->name : NULL;
}

static int refuse(const struct tap_reader *r, const char *name, enum step why, struct tap_err *err)
{
	if (why == STEP_NOMEM)
		return tap_dat_nomem(err);
	if (why == STEP_LARGE)
		return tap_err_set(err, -E2BIG,
				   "'%.300s' needs more than %u MiB of memory to decompress: "
				   "decompress it with %s first",
				   r->path, 1u << (MAX_MEMORY_LOG - 20), name);
	return tap_err_set(err, -EINVAL, "'%.300s' is damaged: its %s data cannot be decompressed",
			   r->path, name);
}

static int write_block(const struct tap_reader *r, int fd, const unsigned char *block, size_t n,
		       uint64_t written, struct tap_err *err)
{
	const uint64_t limit = tap_budget_limit(&r->budget);
	int ret;

	if (written > limit)
		return tap_err_set(err, -E2BIG,
				   "'%.300s' is refused: decompressed it has more than %llu MB, "
				   "out of proportion to its %llu kB. It is damaged, or was made "
				   "to use up the disk",
				   r->path, (unsigned long long)(limit / 1000000),
				   (unsigned long long)((r->budget.file_bytes + 999) / 1000));
	ret = tap_write_all(fd, block, n);
	return ret ? tap_unnamed_fail(ret, "decompress", r->path, err) : 0;
}

/* Write the content to @fd. Return: 0 with @last set; -errno. */
static int inflate_into(struct tap_reader *r, struct inflater *f, int fd, enum step *last,
			struct tap_err *err)
{
	unsigned char *block = malloc(BLOCK_BYTES);
	uint64_t written = 0;
	int ret = 0;

	if (!block)
		return tap_dat_nomem(err);
	*last = f->method->start(f) ? STEP_MORE : STEP_NOMEM;
	while (!ret && *last == STEP_MORE) {
		size_t n;

		*last = f->method->step(f, block, BLOCK_BYTES, &n);
		written += n;
		ret = write_block(r, fd, block, n, written, err);
	}
	f->method->release(f);
	free(block);
	if (!ret && *last != STEP_END && *last != STEP_CUT)
		ret = refuse(r, f->method->name, *last, err);
	if (!ret && !written && *last == STEP_CUT)
		ret = tap_err_set(err, -EINVAL,
				  "'%.300s' is cut: nothing of its %s data can be decompressed",
				  r->path, f->method->name);
	return ret;
}

/* Map the file in place of the mapped one, whose size remains the budget. */
static int replace_map(struct tap_reader *r, int fd, struct tap_err *err)
{
	const uint64_t file_bytes = r->budget.file_bytes;
	const struct tap_mapping *map;
	int ret;

	tap_dat_drop_maps(r);
	ret = tap_dat_add_map(r, fd, &map);
	r->budget.file_bytes = file_bytes;
	return ret ? tap_unnamed_fail(ret, "decompress", r->path, err) : 0;
}

int tap_inflate(struct tap_reader *r, bool *is_cut, struct tap_err *err)
{
	const struct tap_mapping *map = &r->maps[0];
	struct inflater f = {
		.method = find_method(map->data, map->len),
		.at = map->data,
		.end = map->data + map->len,
	};
	int fd = tap_unnamed_open(), ret;
	enum step last = STEP_END;

	if (fd < 0)
		return tap_unnamed_fail(fd, "decompress", r->path, err);
	ret = inflate_into(r, &f, fd, &last, err) ?: replace_map(r, fd, err);
	*is_cut = !ret && last == STEP_CUT;
	close(fd);
	return ret;
}
