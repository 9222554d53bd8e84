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

#define STEP_BYTES ((size_t)1 << 20) /* of what is unpacked at once */
#define LZ4_BLOCK_BYTES ((size_t)8 << 20) /* of the legacy frame that kernels use */
#define UNPACKED_MAX_BYTES ((size_t)512 << 20) /* of a kernel without debug information */
#define XZ_MAX_BYTES ((uint64_t)256 << 20) /* of memory: kernels' dictionaries have up to 128M */
/*
 * Read and written at all the places that look like a beginning. A false one ends within a few
 * bytes, nearly always, but may have taken memory for a window before: so each counts as more.
 */
#define WORK_MAX_BYTES ((size_t)1 << 30)
#define TRY_BYTES ((size_t)8 << 20)

/*
 * ---- one decompressor each: from @in on, as much as there is ----
 * @len: then what was read. Return: whether there was all of it.
 */

static bool gunzip(const unsigned char *in, size_t *len, struct tap_buf *out)
{
	z_stream z = { .next_in = (unsigned char *)in, .avail_in = (uInt)*len };
	int ret = inflateInit2(&z, 15 + 16); /* a gzip header, the largest window */

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

static bool unzstd(const unsigned char *in, size_t *len, struct tap_buf *out)
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

static bool unxz(const unsigned char *in, size_t *len, struct tap_buf *out)
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

/* Blocks of a size and that many bytes; what cannot be one ends them. */
static bool unlz4(const unsigned char *in, size_t *len, struct tap_buf *out)
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
	{ { 0x1f, 0x8b, 0x08 }, 3, gunzip },
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, unzstd },
	{ { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, unxz },
	{ { 0x02, 0x21, 0x4c, 0x18 }, 4, unlz4 },
};

/* ---- types out of bytes ---- */

/*
 * BTF in a kernel's memory image, whether or not there is an ELF file around it (arm64's Image has
 * none). Its header tells its length. The kernel's own is larger than that of the BPF programs that
 * may be in it.
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

/* Packed in one way. @work_bytes: what may still be read and written. */
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

/* A packed kernel has its own loader first, and somewhere behind it the rest. */
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
