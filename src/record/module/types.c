// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/module/types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <lz4.h>
#include <lzma.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "record/module/dwarf.h"

#define STEP_BYTES ((size_t)1 << 20) /* output is decompressed in steps of this size */
/* block size of the legacy frame format, which kernels use */
#define LZ4_BLOCK_BYTES ((size_t)8 << 20)
/* limit of a decompressed kernel without debug information */
#define UNPACKED_MAX_BYTES ((size_t)512 << 20)
/* limit of memory: kernels use dictionaries of up to 128 MiB */
#define XZ_MAX_BYTES ((uint64_t)256 << 20)
/*
 * Limit of bytes read and written for all places that look like the beginning of compressed data.
 * Nearly all false ones end after a few bytes, but may have allocated a window before, so each try
 * counts as at least TRY_BYTES.
 */
#define WORK_MAX_BYTES ((size_t)1 << 30)
#define TRY_BYTES ((size_t)8 << 20)

/*
 * ---- decompressors ----
 *
 * Each decompresses from @in as much as possible. @len: in: bytes available; out: bytes read.
 * Return: true if the data was complete.
 */

static bool unpack_gzip(const unsigned char *in, size_t *len, struct tap_buf *out)
{
	z_stream z = { .next_in = (unsigned char *)in, .avail_in = (uInt)*len };
	int ret = inflateInit2(&z, 15 + 16); /* 15: largest window, 16: gzip header */

	while (ret == Z_OK && tap_buf_reserve(out, STEP_BYTES)) {
		z.next_out = (unsigned char *)out->data + out->len;
		z.avail_out = STEP_BYTES;
		ret = inflate(&z, Z_NO_FLUSH);
		out->len += STEP_BYTES - z.avail_out;
	}
	*len -= z.avail_in;
	inflateEnd(&z);
	return ret == Z_STREAM_END;
}

static bool unpack_zstd(const unsigned char *in, size_t *len, struct tap_buf *out)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer from = { in, *len, 0 };
	size_t ret = z ? 1 : 0;

	while (ret && !ZSTD_isError(ret) && from.pos < from.size &&
	       tap_buf_reserve(out, STEP_BYTES)) {
		ZSTD_outBuffer to = { out->data + out->len, STEP_BYTES, 0 };

		ret = ZSTD_decompressStream(z, &to, &from);
		out->len += to.pos;
	}
	*len = from.pos;
	ZSTD_freeDStream(z);
	return z && !ret;
}

static bool unpack_xz(const unsigned char *in, size_t *len, struct tap_buf *out)
{
	lzma_stream x = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&x, XZ_MAX_BYTES, 0);

	x.next_in = in;
	x.avail_in = *len;
	while (ret == LZMA_OK && tap_buf_reserve(out, STEP_BYTES)) {
		x.next_out = (unsigned char *)out->data + out->len;
		x.avail_out = STEP_BYTES;
		ret = lzma_code(&x, LZMA_RUN);
		out->len += STEP_BYTES - x.avail_out;
	}
	*len -= x.avail_in;
	lzma_end(&x);
	return ret == LZMA_STREAM_END;
}

/* Blocks, each preceded by its size. Anything that cannot be a block ends the data. */
static bool unpack_lz4(const unsigned char *in, size_t *len, struct tap_buf *out)
{
	size_t at = 4;
	uint32_t size;

	while (*len - at > sizeof(size)) {
		int n;

		memcpy(&size, in + at, sizeof(size));
		at += sizeof(size);
		if (!size || size > *len - at ||
		    size > (uint32_t)LZ4_compressBound(LZ4_BLOCK_BYTES) ||
		    !tap_buf_reserve(out, LZ4_BLOCK_BYTES))
			break;
		n = LZ4_decompress_safe((const char *)in + at, out->data + out->len, (int)size,
					(int)LZ4_BLOCK_BYTES);
		if (n <= 0)
			break;
		out->len += (size_t)n;
		at += size;
	}
	*len = at;
	return out->len;
}

static const struct packing {
	unsigned char magic[6];
	size_t len;
	bool (*unpack)(const unsigned char *in, size_t *len, struct tap_buf *out);
} packings[] = {
	{ { 0x1f, 0x8b, 0x08 }, 3, unpack_gzip },
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, unpack_zstd },
	{ { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, unpack_xz },
	{ { 0x02, 0x21, 0x4c, 0x18 }, 4, unpack_lz4 },
};

/* ---- types from bytes ---- */

/*
 * Find BTF in a kernel's memory image, with or without an ELF file around it (arm64's Image is not
 * ELF). The BTF header contains the length. The image may also contain the BTF of BPF programs; the
 * kernel's own is the largest.
 */
static struct btf *from_memory(const void *image, size_t len)
{
	static const struct btf_header start = { .magic = BTF_MAGIC, .version = BTF_VERSION };
	const size_t start_bytes = offsetof(struct btf_header, flags);
	const unsigned char *at = image, *end = at + len, *largest = NULL;
	size_t largest_bytes = 0;

	for (; (at = memmem(at, (size_t)(end - at), &start, start_bytes)); at += start_bytes) {
		struct btf_header head;
		uint64_t bytes;

		if ((size_t)(end - at) < sizeof(head))
			break;
		memcpy(&head, at, sizeof(head));
		bytes = sizeof(head) + (uint64_t)head.type_len + head.str_len;
		if (head.hdr_len == sizeof(head) && !head.type_off &&
		    head.str_off == head.type_len && bytes > largest_bytes &&
		    bytes <= (size_t)(end - at) && bytes <= UINT32_MAX) {
			largest = at;
			largest_bytes = (size_t)bytes;
		}
	}
	return largest ? btf__new(largest, (uint32_t)largest_bytes) : NULL;
}

/*
 * Find BTF in data compressed with @p. @work_bytes: in and out, bytes that may still be read and
 * written.
 */
static struct btf *from_packed(const unsigned char *image, size_t len, const struct packing *p,
			       size_t *work_bytes)
{
	const unsigned char *at = image, *end = image + len;
	struct btf *btf = NULL;

	while (!btf && *work_bytes > TRY_BYTES &&
	       (at = memmem(at, (size_t)(end - at), p->magic, p->len))) {
		struct tap_buf out = { .max = MIN(*work_bytes, UNPACKED_MAX_BYTES) };
		size_t read_bytes = MIN(*work_bytes, (size_t)(end - at));

		if (p->unpack(at, &read_bytes, &out))
			btf = from_memory(out.data, out.len);
		*work_bytes -= MIN(*work_bytes, read_bytes + out.len + TRY_BYTES);
		tap_buf_release(&out);
		at += p->len;
	}
	return btf;
}

/*
 * Find BTF in a kernel image. A compressed kernel begins with a loader; the compressed part follows
 * somewhere after it.
 */
static struct btf *from_image(int fd, size_t len)
{
	size_t work_bytes = WORK_MAX_BYTES;
	struct btf *btf;
	unsigned char *image = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);

	if (image == MAP_FAILED)
		return NULL;
	btf = from_memory(image, len);
	for (size_t i = 0; !btf && i < sizeof(packings) / sizeof(*packings); i++)
		btf = from_packed(image, len, &packings[i], &work_bytes);
	munmap(image, len);
	return btf;
}

static int read_types(const char *path, int fd, struct btf **out, struct tap_err *err)
{
	struct stat st;
	int ret;

	if (fstat(fd, &st))
		return tap_err_set(err, -errno, "cannot read '%.300s': %m", path);
	if (!S_ISREG(st.st_mode))
		return tap_err_set(err, -EINVAL,
				   "cannot read kernel types: '%.300s' is not a regular file",
				   path);
	*out = btf__parse(path, NULL);
	if (!*out && st.st_size > 0)
		*out = from_image(fd, (size_t)st.st_size);
	ret = *out ? 0 : tap_dwarf_types(fd, out, err);
	if (ret == -ENODATA)
		tap_err_set(err, ret,
			    "'%.300s' has no kernel types, neither BTF nor DWARF: give a vmlinux "
			    "or vmlinuz built with CONFIG_DEBUG_INFO_BTF, or a vmlinux with "
			    "CONFIG_DEBUG_INFO",
			    path);
	return ret;
}

int tap_types_open(const char *path, struct btf **out, struct tap_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ret;

	*out = NULL;
	if (fd < 0)
		return tap_err_set(err, -errno, "cannot read '%.300s': %m", path);
	ret = read_types(path, fd, out, err);
	close(fd);
	return ret;
}
