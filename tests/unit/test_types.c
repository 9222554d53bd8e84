// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <lz4.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "record/module/layout.h"
#include "record/module/types.h"
#include "skip_test.h"
#include "tmp_dir.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define BYTE_ORDER_HERE (IS_LITTLE ? ELFDATA2LSB : ELFDATA2MSB)

/* ---- files with types in them ---- */

static void add_btf_of(struct tap_buf *out, const char *name, unsigned int nr)
{
	struct btf *btf = btf__new_empty();
	const void *raw;
	uint32_t len;

	while (nr--)
		assert_true(btf__add_struct(btf, name, 8) > 0);
	raw = btf__raw_data(btf, &len);
	assert_non_null(raw);
	tap_buf_add(out, raw, len);
	btf__free(btf);
}

static void add_btf(struct tap_buf *out)
{
	add_btf_of(out, "here", 2);
}

/* Only bytes, as arm64 has it; a BPF program in it has BTF of its own. */
static void add_kernel(struct tap_buf *out)
{
	tap_buf_add(out, "code", 4);
	add_btf_of(out, "of_bpf", 1);
	tap_buf_add(out, "\x9f\xeb\x01", 3); /* as BTF begins */
	add_btf(out);
}

/* An ELF file with a .BTF section at its end; larger than what is unpacked in one step. */
static void add_elf(struct tap_buf *out)
{
	static const char names[] = "\0.BTF\0.shstrtab", code[3 << 20];
	struct tap_buf btf = { 0 };
	struct {
		Elf64_Ehdr head;
		Elf64_Shdr sections[3];
		char names[sizeof(names)];
	} elf = {
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				     BYTE_ORDER_HERE, EV_CURRENT },
			.e_type = ET_EXEC,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(elf.head),
			.e_shoff = offsetof(typeof(elf), sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2,
		},
		.sections = {
			[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS,
				.sh_offset = sizeof(elf) + sizeof(code) },
			[2] = { .sh_name = 6, .sh_type = SHT_STRTAB, .sh_size = sizeof(names),
				.sh_offset = offsetof(typeof(elf), names) },
		},
	};

	add_btf(&btf);
	elf.sections[1].sh_size = btf.len;
	memcpy(elf.names, names, sizeof(names));
	tap_buf_add(out, &elf, sizeof(elf));
	tap_buf_add(out, code, sizeof(code));
	tap_buf_add(out, btf.data, btf.len);
	tap_buf_release(&btf);
}

/* ---- packed as kernels are ---- */

static void add_gzip(struct tap_buf *out, const struct tap_buf *in)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)in->data;
	z.avail_in = (uInt)in->len;
	assert_true(tap_buf_reserve(out, in->len));
	z.next_out = (unsigned char *)out->data + out->len;
	z.avail_out = (uInt)in->len;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->len += z.total_out;
	deflateEnd(&z);
}

/* with a checksum, as zstd(1) does it */
static void add_zstd(struct tap_buf *out, const struct tap_buf *in)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t len;

	assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1)));
	assert_true(tap_buf_reserve(out, in->len));
	len = ZSTD_compress2(z, out->data + out->len, in->len, in->data, in->len);
	assert_false(ZSTD_isError(len));
	out->len += len;
	ZSTD_freeCCtx(z);
}

static void add_xz(struct tap_buf *out, const struct tap_buf *in)
{
	lzma_ret ret;

	assert_true(tap_buf_reserve(out, in->len));
	ret = lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, (uint8_t *)in->data, in->len,
				      (uint8_t *)out->data, &out->len, out->cap);
	assert_int_equal(ret, LZMA_OK);
}

/* in blocks smaller than the kernel's, so that there are several */
static void add_lz4(struct tap_buf *out, const struct tap_buf *in)
{
	const size_t block_bytes = 1 << 20;

	tap_buf_add(out, "\x02\x21\x4c\x18", 4);
	for (size_t at = 0; at < in->len; at += block_bytes) {
		size_t rest = in->len - at < block_bytes ? in->len - at : block_bytes;
		uint32_t len;
		char *to;

		assert_true(tap_buf_reserve(out, sizeof(len) + block_bytes));
		to = out->data + out->len;
		len = (uint32_t)LZ4_compress_default(in->data + at, to + sizeof(len), (int)rest,
						     (int)block_bytes);
		assert_true(len);
		memcpy(to, &len, sizeof(len));
		out->len += sizeof(len) + len;
	}
}

/* Magic numbers of all ways of packing, each followed by what cannot be. */
static void add_false_starts(struct tap_buf *out)
{
	static const char start[] = "\x1f\x8b\x08\xff(\xb5/\xfd\xff\xfd"
				    "7zXZ\0\xff\xff\xff\xff\x02!L\x18\xff\xff\xff\xff\x7f"
				    "ELF";

	for (unsigned int i = 0; i < 10; i++)
		tap_buf_add(out, start, sizeof(start));
}

struct file {
	const char *name;
	void (*add)(struct tap_buf *out);
	void (*pack)(struct tap_buf *out, const struct tap_buf *in);
	bool starts; /* the frame has false starts before it and garbage after it */
	size_t cut, break_at; /* bytes taken away at the end; which one, from the end, is changed */
	int want;
};

static void make_file(struct tmp_dir *dir, const struct file *f)
{
	struct tap_buf plain = { 0 }, out = { 0 };

	if (f->starts)
		add_false_starts(&out);
	if (f->add)
		f->add(&plain);
	if (f->pack)
		f->pack(&out, &plain);
	else
		tap_buf_add(&out, plain.data, plain.len);
	if (f->break_at)
		out.data[out.len - f->break_at] ^= 0x55;
	out.len -= f->cut;
	if (f->starts)
		add_false_starts(&out);
	assert_int_equal(out.err, 0);
	tmp_write(dir, "file", out.len ? out.data : "", out.len);
	tap_buf_release(&plain);
	tap_buf_release(&out);
}

static void test_files(void **state)
{
	static const struct file cases[] = {
		{ "BTF as it is", add_btf },
		{ "ELF with a section", add_elf },
		{ "a kernel without ELF", add_kernel },
		{ "a kernel without ELF, packed", add_kernel, add_gzip },
		{ "gzip", add_elf, add_gzip },
		{ "zstd", add_elf, add_zstd },
		{ "xz", add_elf, add_xz },
		{ "lz4", add_elf, add_lz4 },
		{ "gzip, among what only looks so", add_elf, add_gzip, .starts = true },
		{ "zstd, among what only looks so", add_elf, add_zstd, .starts = true },
		{ "xz, among what only looks so", add_elf, add_xz, .starts = true },
		{ "lz4, among what only looks so", add_elf, add_lz4, .starts = true },
		{ "empty", .want = -ENODATA },
		{ "nothing but false starts", .starts = true, .want = -ENODATA },
		{ "BTF, cut", add_btf, .cut = 1, .want = -ENODATA },
		{ "ELF, cut", add_elf, .cut = 1, .want = -ENODATA },
		{ "gzip, cut", add_elf, add_gzip, .cut = 1, .want = -ENODATA },
		{ "zstd, cut", add_elf, add_zstd, .cut = 1, .want = -ENODATA },
		{ "xz, cut", add_elf, add_xz, .cut = 1, .want = -ENODATA },
		{ "gzip, another checksum", add_elf, add_gzip, .break_at = 8, .want = -ENODATA },
		{ "zstd, damaged", add_elf, add_zstd, .break_at = 20, .want = -ENODATA },
		{ "xz, damaged", add_elf, add_xz, .break_at = 100, .want = -ENODATA },
	};
	struct tmp_dir dir;

	(void)state;
	tmp_make(&dir);
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_err err = { 0 };
		struct btf *btf;
		int ret;

		make_file(&dir, &cases[i]);
		ret = tap_types_open(tmp_at(&dir, "file"), &btf, &err);
		if (ret != cases[i].want || !btf != !!ret || err.code != ret)
			fail_msg("%s: %d '%s'", cases[i].name, ret, err.text);
		if (ret && !strstr(err.text, "neither BTF nor DWARF"))
			fail_msg("%s: '%s'", cases[i].name, err.text);
		if (!ret && btf__find_by_name_kind(btf, "here", BTF_KIND_STRUCT) <= 0)
			fail_msg("%s: other types", cases[i].name);
		btf__free(btf);
	}
	tmp_remove(&dir);
}

static void test_no_files(void **state)
{
	static const struct {
		const char *name;
		int want;
		const char *text;
	} cases[] = {
		{ "missing", -ENOENT, "cannot read '%s': No such file or directory" },
		{ "folder", -EINVAL, "cannot read kernel types: '%s' is not a regular file" },
		/* nor waited for */
		{ "fifo", -EINVAL, "cannot read kernel types: '%s' is not a regular file" },
	};
	struct tmp_dir dir;

	(void)state;
	tmp_make(&dir);
	assert_int_equal(mkdir(tmp_at(&dir, "folder"), 0700), 0);
	assert_int_equal(mkfifo(tmp_at(&dir, "fifo"), 0600), 0);
	for (size_t i = 0; i < TABLE(cases); i++) {
		const char *path = tmp_at(&dir, cases[i].name);
		struct tap_err err = { 0 };
		struct btf *btf = (struct btf *)1;
		char want[512];
		int ret = tap_types_open(path, &btf, &err);

		snprintf(want, sizeof(want), cases[i].text, path);
		if (ret != cases[i].want || btf || strcmp(err.text, want))
			fail_msg("%s: %d '%s'", cases[i].name, ret, err.text);
	}
	tmp_remove(&dir);
}

/* ---- debug information ---- */

#define LINKED "-O2 -shared -fPIC -nostdlib"
#define FAKE "tests/unit/fake_kernel.c"

/* Return: false: there is no such compiler. */
static bool compile(struct tmp_dir *dir, const char *command, const char *source)
{
	char line[512];

	snprintf(line, sizeof(line), "command -v %.*s >/dev/null", (int)strcspn(command, " "),
		 command);
	if (system(line))
		return false;
	snprintf(line, sizeof(line), "%s -o %s %s", command, tmp_at(dir, "file"), source);
	assert_int_equal(system(line), 0);
	return true;
}

/* The header without its first line, which says from where it is. */
static void add_layout(struct tmp_dir *dir, const char *name, struct tap_buf *out)
{
	struct tap_err err = { 0 };
	struct btf *btf;
	char *end;

	if (tap_types_open(tmp_at(dir, "file"), &btf, &err) || tap_layout_write(btf, "", out, &err))
		fail_msg("%s: %s", name, err.text);
	btf__free(btf);
	assert_true(out->len > 1000);
	end = memchr(tap_buf_str(out), '\n', out->len);
	assert_non_null(end);
	memmove(out->data, end, strlen(end) + 1);
}

static void fail_where_they_differ(const char *name, const char *got, const char *want)
{
	size_t same = 0, line = 0;

	for (; got[same] && got[same] == want[same]; same++)
		if (got[same] == '\n')
			line = same + 1;
	fail_msg("%s:\n%.*s\nbut BTF says\n%.*s", name, (int)strcspn(got + line, "\n"), got + line,
		 (int)strcspn(want + line, "\n"), want + line);
}

static void test_dwarf_says_what_btf_says(void **state)
{
	static const struct {
		const char *name, *command;
	} cases[] = {
		{ "gcc, DWARF 4", "gcc -gdwarf-4 " LINKED },
		{ "gcc, DWARF 5", "gcc -gdwarf-5 " LINKED },
		{ "clang, DWARF 4", "clang -gdwarf-4 " LINKED },
		{ "clang, DWARF 5", "clang -gdwarf-5 " LINKED },
		{ "compressed", "gcc -g -gz " LINKED },
	};
	struct tap_buf btf = { 0 };
	struct tmp_dir dir;

	(void)state;
	tmp_make(&dir);
	if (!compile(&dir, "clang -target bpf -g -O2 -c", FAKE)) {
		tmp_remove(&dir);
		return skip_test("no clang");
	}
	add_layout(&dir, "BTF", &btf);
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_buf dwarf = { 0 };

		if (!compile(&dir, cases[i].command, FAKE))
			continue;
		add_layout(&dir, cases[i].name, &dwarf);
		if (strcmp(tap_buf_str(&dwarf), tap_buf_str(&btf)))
			fail_where_they_differ(cases[i].name, tap_buf_str(&dwarf),
					       tap_buf_str(&btf));
		tap_buf_release(&dwarf);
	}
	tap_buf_release(&btf);
	tmp_remove(&dir);
}

static void test_dwarf_of_no_kernel(void **state)
{
	struct tap_err err;
	struct tmp_dir dir;
	struct btf *btf;

	(void)state;
	tmp_make(&dir);
	if (!compile(&dir, "gcc -g " LINKED, "-x c - <<end\nstruct rq *rq;\nend")) {
		tmp_remove(&dir);
		return skip_test("no gcc");
	}
	assert_int_equal(tap_types_open(tmp_at(&dir, "file"), &btf, &err), -ENODATA);
	assert_non_null(strstr(err.text, "neither BTF nor DWARF"));
	tmp_remove(&dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_dwarf_says_what_btf_says),
		cmocka_unit_test(test_dwarf_of_no_kernel),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	libbpf_set_print(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
