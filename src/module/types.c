// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "module/types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <lz4.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"

#define STEP_BYTES ((size_t)1 << 20)
#define LZ4_BLOCK_BYTES ((size_t)8 << 20) /* of the legacy frame that kernels use */

/* ---- one decompressor each: from @in on, as much as there is; whether anything came out ---- */

static bool gunzip(const unsigned char *in, size_t len, struct tap_buf *out)
{
	z_stream z = { .next_in = (unsigned char *)in, .avail_in = (uInt)len };
	int ret = inflateInit2(&z, 15 + 16); /* a gzip header, the largest window */

	while (ret == Z_OK && tap_buf_reserve(out, STEP_BYTES)) {
		z.next_out = (unsigned char *)out->data + out->len;
		z.avail_out = STEP_BYTES;
		ret = inflate(&z, Z_NO_FLUSH);
		out->len += STEP_BYTES - z.avail_out;
	}
	inflateEnd(&z);
	return ret == Z_STREAM_END;
}

static bool unzstd(const unsigned char *in, size_t len, struct tap_buf *out)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer from = { in, len, 0 };
	size_t ret = z ? 1 : 0;

	while (ret && !ZSTD_isError(ret) && from.pos < from.size && tap_buf_reserve(out, STEP_BYTES)) {
		ZSTD_outBuffer to = { out->data + out->len, STEP_BYTES, 0 };

		ret = ZSTD_decompressStream(z, &to, &from);
		out->len += to.pos;
	}
	ZSTD_freeDStream(z);
	return z && !ret;
}

static bool unxz(const unsigned char *in, size_t len, struct tap_buf *out)
{
	lzma_stream x = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&x, UINT64_MAX, 0);

	x.next_in = in;
	x.avail_in = len;
	while (ret == LZMA_OK && tap_buf_reserve(out, STEP_BYTES)) {
		x.next_out = (unsigned char *)out->data + out->len;
		x.avail_out = STEP_BYTES;
		ret = lzma_code(&x, LZMA_RUN);
		out->len += STEP_BYTES - x.avail_out;
	}
	lzma_end(&x);
	return ret == LZMA_STREAM_END;
}

/* Blocks of a size and that many bytes; what cannot be one ends them. */
static bool unlz4(const unsigned char *in, size_t len, struct tap_buf *out)
{
	size_t at = 4;
	uint32_t size;

	while (len - at > sizeof(size)) {
		int n;

		memcpy(&size, in + at, sizeof(size));
		at += sizeof(size);
		if (!size || size > len - at || size > (uint32_t)LZ4_compressBound(LZ4_BLOCK_BYTES) ||
		    !tap_buf_reserve(out, LZ4_BLOCK_BYTES))
			break;
		n = LZ4_decompress_safe((const char *)in + at, out->data + out->len, (int)size,
					(int)LZ4_BLOCK_BYTES);
		if (n <= 0)
			break;
		out->len += (size_t)n;
		at += size;
	}
	return out->len;
}

static const struct packing {
	unsigned char magic[6];
	size_t len;
	bool (*unpack)(const unsigned char *in, size_t len, struct tap_buf *out);
} packings[] = {
	{ { 0x1f, 0x8b, 0x08 }, 3, gunzip },
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, unzstd },
	{ { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, unxz },
	{ { 0x02, 0x21, 0x4c, 0x18 }, 4, unlz4 },
};

/* ---- types out of bytes ---- */

/* The .BTF section of an ELF file in memory. Return: NULL: it has none, or is no such file. */
static struct btf *from_elf(void *data, size_t len)
{
	Elf *elf = NULL;
	struct btf *btf = NULL;
	Elf_Scn *section = NULL;
	Elf_Data *bytes;
	GElf_Shdr head;
	size_t names;

	if (elf_version(EV_CURRENT) != EV_NONE)
		elf = elf_memory(data, len);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrstrndx(elf, &names))
		goto out;
	while (!btf && (section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &head))
			continue;
		name = elf_strptr(elf, names, head.sh_name);
		bytes = name && !strcmp(name, ".BTF") ? elf_getdata(section, NULL) : NULL;
		if (bytes)
			btf = btf__new(bytes->d_buf, (uint32_t)bytes->d_size);
	}
out:
	elf_end(elf);
	return btf;
}

/* A kernel's image has its own loader first, and somewhere behind it the packed rest. */
static struct btf *from_image(const unsigned char *image, size_t len)
{
	struct btf *btf = NULL;

	for (size_t at = 0; !btf && at + sizeof(packings[0].magic) < len; at++)
		for (size_t i = 0; !btf && i < sizeof(packings) / sizeof(*packings); i++) {
			struct tap_buf out = { 0 };

			if (memcmp(image + at, packings[i].magic, packings[i].len))
				continue;
			if (packings[i].unpack(image + at, len - at, &out))
				btf = from_elf(out.data, out.len);
			tap_buf_release(&out);
		}
	return btf;
}

int tap_types_open(const char *path, struct btf **out, struct tap_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char *image;
	struct stat st;

	*out = NULL;
	if (fd < 0 || fstat(fd, &st)) {
		tap_err_set(err, -errno, "cannot read '%.300s': %m", path);
		if (fd >= 0)
			close(fd);
		return err->code;
	}
	*out = btf__parse(path, NULL);
	if (!*out && S_ISREG(st.st_mode) && st.st_size > 0) {
		image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (image != MAP_FAILED) {
			*out = from_image(image, (size_t)st.st_size);
			munmap(image, (size_t)st.st_size);
		}
	}
	close(fd);
	if (*out)
		return 0;
	return tap_err_set(err, -ENODATA,
			   "'%.300s' has no types (BTF): it is no vmlinux, vmlinuz or BTF file, or the "
			   "kernel was built without CONFIG_DEBUG_INFO_BTF", path);
}
