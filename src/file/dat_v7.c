// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* trace.dat version 7 (trace-cmd.dat.v7(5)): sections in any order, found through options. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "file/dat_file.h"
#include "file/sums.h"

#define SECTION_OPTIONS 0u
#define SECTION_FLYRECORD 3u
/* Sections that are found by options of the same number. */
#define SECTION_HEADERS 16u
#define SECTION_FTRACE_FORMATS 17u
#define SECTION_FORMATS 18u
#define SECTION_KALLSYMS 19u
#define SECTION_PRINTK 20u
#define SECTION_CMDLINES 21u
#define SECTION_FIRST SECTION_HEADERS
#define SECTION_LAST SECTION_CMDLINES

#define SECTION_COMPRESSED 1u

/* after decompression; also allows the largest description */
#define SECTION_MAX_BYTES ((size_t)256 << 20)
#define MAX_OPTION_SECTIONS 1024u

struct section {
	unsigned int id, flags;
	struct tap_bytes bytes;
	unsigned char *owned; /* the decompressed contents */
};

struct v7 {
	struct tap_reader *r;
	bool zstd;
	struct tap_bytes *buffers; /* BUFFER options, evaluated after the headers were read */
	unsigned int nr_buffers, cap_buffers;
	uint64_t places[SECTION_LAST + 1]; /* offsets of sections from options; 0: absent */
	struct tap_sums sums;
	/* checksums not yet assigned to a stream; NULL: none */
	const unsigned char *blocks, *blocks_end;
};

static int decompress_section(struct v7 *v, struct section *s, struct tap_err *err)
{
	uint32_t len = tap_bytes_u32(&s->bytes), size = tap_bytes_u32(&s->bytes);
	const unsigned char *src = tap_bytes_take(&s->bytes, len);
	int ret;

	if (!v->zstd || !src || size > SECTION_MAX_BYTES)
		return tap_dat_bad(v->r, err, "a compressed section is invalid");
	/* charged twice, as its text is copied */
	ret = tap_budget_add(&v->r->budget, TAP_COST_SECTIONS, 2 * (uint64_t)size, err);
	if (ret)
		return ret;
	s->owned = malloc(size + 1); /* + 1: malloc(0) may return NULL */
	if (!s->owned)
		return tap_dat_nomem(err);
	ret = tap_unzstd(&v->r->decoder.unpack, src, len, s->owned, size);
	if (ret == -ENOMEM)
		return tap_dat_nomem(err);
	if (ret)
		return tap_dat_bad(v->r, err, "a section cannot be decompressed");
	s->bytes.at = s->owned;
	s->bytes.end = s->owned + size;
	return 0;
}

/* Open the section at @offset. The caller must free(s->owned), also after a failure. */
static int open_section(struct v7 *v, uint64_t offset, unsigned int id, struct section *s,
			struct tap_err *err)
{
	struct tap_bytes b = tap_dat_bytes(v->r, offset);

	*s = (struct section){ .id = tap_bytes_u16(&b), .flags = tap_bytes_u16(&b) };
	tap_bytes_u32(&b); /* offset of its description */
	s->bytes = tap_bytes_sub(&b, tap_bytes_u64(&b));
	if (s->bytes.bad || s->id != id)
		return tap_err_set(err, -EINVAL,
				   "'%.300s' is cut or damaged: section %u at byte %llu is missing "
				   "or incomplete",
				   v->r->path, id, (unsigned long long)offset);
	return s->flags & SECTION_COMPRESSED ? decompress_section(v, s, err) : 0;
}

static int note_buffer(struct v7 *v, struct tap_bytes opt, struct tap_err *err)
{
	if (v->nr_buffers >= TAP_DAT_MAX_BUFFERS)
		return tap_dat_bad(v->r, err, "it has more than 65536 buffers");
	if (tap_array_grow(&v->buffers, v->nr_buffers, &v->cap_buffers, sizeof(*v->buffers)))
		return tap_dat_nomem(err);
	v->buffers[v->nr_buffers++] = opt;
	return 0;
}

/* Return: 1 with @offset of the next options section (0: none); 0: continue; -errno. */
static int read_one_option(struct v7 *v, struct tap_bytes *b, uint64_t *offset, struct tap_err *err)
{
	unsigned int id = tap_bytes_u16(b);
	struct tap_bytes opt = tap_bytes_sub(b, tap_bytes_u32(b));

	if (opt.bad)
		return tap_dat_bad(v->r, err, "the options are cut");
	switch (id) {
	case TAP_OPTION_DONE:
		*offset = tap_bytes_u64(&opt);
		return opt.bad ? tap_dat_bad(v->r, err, "the options have no end") : 1;
	case TAP_OPTION_BUFFER:
		return note_buffer(v, opt, err);
	case SECTION_FIRST ... SECTION_LAST:
		v->places[id] = tap_bytes_u64(&opt);
		return opt.bad ? tap_dat_bad(v->r, err, "an option is cut") : 0;
	default:
		return tap_dat_read_option(v->r, id, opt, err);
	}
}

static int read_options(struct v7 *v, uint64_t offset, struct tap_err *err)
{
	for (unsigned int i = 0; offset; i++) {
		struct section s;
		int ret;

		if (i == MAX_OPTION_SECTIONS)
			return tap_dat_bad(v->r, err, "the options have no end");
		ret = open_section(v, offset, SECTION_OPTIONS, &s, err);
		/*
		 * .buffers point into the options, so decompressed options, freed below, are
		 * refused
		 */
		if (!ret && s.owned)
			ret = tap_dat_bad(v->r, err, "its options are compressed");
		while (!ret)
			ret = read_one_option(v, &s.bytes, &offset, err);
		free(s.owned);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int read_content(struct v7 *v, struct section *s, struct tap_err *err)
{
	struct tap_bytes json;

	switch (s->id) {
	case SECTION_HEADERS:
		return tap_dat_read_headers(v->r, &s->bytes, err);
	case SECTION_FTRACE_FORMATS:
		return tap_dat_read_formats(v->r, &s->bytes, "ftrace", tap_bytes_u32(&s->bytes),
					    err);
	case SECTION_FORMATS:
		return tap_dat_read_systems(v->r, &s->bytes, err);
	case SECTION_KALLSYMS:
		return tap_dat_read_text(v->r, &s->bytes, &v->r->kallsyms, err);
	case SECTION_PRINTK:
		return tap_dat_read_text(v->r, &s->bytes, &v->r->printk, err);
	case SECTION_CMDLINES:
		return tap_dat_read_cmdlines(v->r, &s->bytes, err);
	default: /* TAP_META_SECTION */
		json = tap_bytes_sub(&s->bytes, tap_bytes_u32(&s->bytes));
		if (json.bad)
			return tap_dat_bad(v->r, err, "schedtap's description is cut");
		return tap_dat_set_text(&v->r->meta, json.at, tap_bytes_left(&json), err)
			       ?: tap_dat_check_meta(v->r, err);
	}
}

static int read_section(struct v7 *v, unsigned int id, uint64_t offset, struct tap_err *err)
{
	struct section s;
	int ret = open_section(v, offset, id, &s, err) ?: read_content(v, &s, err);

	free(s.owned);
	return ret;
}

/*
 * The description is read first. Then a recording of a newer format is refused for its format,
 * rather than for sections that look damaged.
 */
static int read_description(struct v7 *v, uint64_t first, struct tap_err *err)
{
	struct tap_bytes at_first = tap_dat_bytes(v->r, first);

	return tap_bytes_u16(&at_first) == TAP_META_SECTION
		       ? read_section(v, TAP_META_SECTION, first, err)
		       : 0;
}

static int read_sections(struct v7 *v, struct tap_err *err)
{
	int ret = 0;

	if (!v->places[SECTION_HEADERS])
		return tap_dat_bad(v->r, err, "no header_page");
	for (unsigned int id = SECTION_FIRST; !ret && id <= SECTION_LAST; id++)
		if (v->places[id])
			ret = read_section(v, id, v->places[id], err);
	return ret;
}

/*
 * Find and check the checksums. With damaged block checksums, sub-buffers can still be read, but
 * not be verified. A damaged front is refused, as events could be misread.
 */
static int read_sums(struct v7 *v, uint64_t first, struct tap_err *err)
{
	const struct tap_bytes all = tap_dat_bytes(v->r, 0);

	if (!tap_sums_find(&all, first, &v->sums))
		return 0;
	v->r->info.checksums = TAP_CHECKSUMS_WHOLE;
	if (!tap_sums_front_fits(&all, &v->sums))
		return tap_err_set(err, -EINVAL,
				   "'%.300s' is cut or damaged: the part before the events (event "
				   "formats, task names, offsets) fails its checksum",
				   v->r->path);
	v->blocks = tap_sums_blocks(&all, &v->sums);
	v->blocks_end = v->blocks ? v->blocks + v->sums.nr * sizeof(uint32_t) : NULL;
	if (v->blocks)
		return 0;
	v->r->info.checksums = TAP_CHECKSUMS_DAMAGED;
	return tap_dat_note(v->r, err,
			    "'%.300s': its checksums are damaged, so its pages cannot be verified",
			    v->r->path);
}

/* Assign the checksums of its sub-buffers to a stream. */
static void place_sums(struct v7 *v, struct tap_stream *s, uint64_t size)
{
	uint64_t nr = tap_sums_count(size, s->abi.page_size, v->sums.block_bytes);

	/*
	 * Blocks do not hold a whole number of sub-buffers whose size is not a power of two.
	 * schedtap writes no checksums for those.
	 */
	if (!v->blocks || (s->abi.page_size & (s->abi.page_size - 1)) ||
	    (v->sums.block_bytes & (v->sums.block_bytes - 1)) ||
	    nr > (uint64_t)(v->blocks_end - v->blocks) / sizeof(uint32_t))
		return;
	s->sums.of_blocks = v->blocks;
	s->sums.block =
		v->sums.block_bytes > s->abi.page_size ? v->sums.block_bytes : s->abi.page_size;
	s->sums.size = size;
	v->blocks += nr * sizeof(uint32_t);
}

/*
 * Set a CPU's compressed data, a sequence of chunks. @size does not include the number of chunks.
 */
static void place_chunks(const struct tap_reader *r, struct tap_stream *s, uint64_t offset,
			 uint64_t size)
{
	s->whole.chunks = tap_dat_bytes(r, offset);
	s->whole.nr_chunks = tap_bytes_u32(&s->whole.chunks);
	if (tap_bytes_left(&s->whole.chunks) > size)
		s->whole.chunks.end = s->whole.chunks.at + size;
	s->whole.cut = s->whole.chunks.bad;
	s->whole.exact = !s->whole.cut;
}

static int read_cpus(struct v7 *v, struct tap_bytes *opt, uint32_t nr, bool compressed,
		     struct tap_err *err)
{
	unsigned int buffer = v->r->info.nr_buffers - 1;

	while (nr--) {
		uint32_t cpu = tap_bytes_u32(opt);
		uint64_t offset = tap_bytes_u64(opt), size = tap_bytes_u64(opt);
		struct tap_stream *s;
		int ret;

		if (opt->bad)
			return tap_dat_bad(v->r, err, "a buffer option is cut");
		if (!size)
			continue;
		ret = tap_dat_add_stream(v->r, buffer, cpu, &s, err);
		if (ret)
			return ret;
		if (compressed)
			place_chunks(v->r, s, offset, size);
		else
			tap_dat_place_pages(v->r, s, offset, size);
		place_sums(v, s, size);
	}
	return 0;
}

static int read_buffer(struct v7 *v, struct tap_bytes opt, struct tap_err *err)
{
	struct tap_bytes section = tap_dat_bytes(v->r, tap_bytes_u64(&opt));
	const char *name = tap_bytes_str(&opt), *clock = tap_bytes_str(&opt);
	uint32_t page_size = tap_bytes_u32(&opt), nr = tap_bytes_u32(&opt);
	unsigned int id = tap_bytes_u16(&section), flags = tap_bytes_u16(&section);
	int ret;

	if (opt.bad)
		return tap_dat_bad(v->r, err, "a buffer option is cut");
	if (!section.bad && id != SECTION_FLYRECORD)
		return tap_dat_bad(v->r, err, "a buffer has no data section");
	if (!*clock && v->r->clock)
		clock = v->r->clock;
	ret = tap_dat_add_buffer(v->r, name, clock, page_size, err);
	if (ret < 0)
		return ret;
	/*
	 * The section header has no checksum. If the file has checksums, its data is compressed
	 * whenever the file is.
	 */
	return read_cpus(v, &opt, nr,
			 v->zstd && (flags & SECTION_COMPRESSED || v->r->info.checksums), err);
}

static int read_compression(struct v7 *v, const char *name, struct tap_err *err)
{
	v->zstd = !strcmp(name, "zstd");
	if (!v->zstd && *name && strcmp(name, "none"))
		return tap_err_set(err, -ENOTSUP,
				   "'%.300s' is compressed with '%.32s': only zstd can be read",
				   v->r->path, name);
	return tap_dat_set_text(&v->r->compression, v->zstd ? "zstd" : "none", 4, err);
}

int tap_dat_read_v7(struct tap_reader *r, struct tap_bytes *b, struct tap_err *err)
{
	struct v7 v = { .r = r };
	const char *compression = tap_bytes_str(b);
	uint64_t options, first;
	int ret;

	tap_bytes_str(b); /* version of the compressor */
	options = tap_bytes_u64(b);
	if (b->bad || !options)
		return tap_dat_bad(r, err, "its header is cut");
	first = (uint64_t)(b->at - r->maps[0].data);
	ret = read_compression(&v, compression, err) ?:
	      read_sums(&v, first, err) ?:
	      read_description(&v, first, err) ?:
	      read_options(&v, options, err) ?:
	      read_sections(&v, err);
	for (unsigned int i = 0; !ret && i < v.nr_buffers; i++)
		ret = read_buffer(&v, v.buffers[i], err);
	free(v.buffers);
	return ret;
}
