// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/dat_write.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "file/dat_file.h"
#include "file/meta.h"
#include "file/sums.h"

#define MAGIC "\x17\x08\x44tracing7"

/*
 * Indices of tap_dat_front.sections. The description is the file's first section, without an
 * option.
 */
enum section_place {
	SEC_META,
	SEC_HEADER_INFO,
	SEC_FTRACE_EVENTS,
	SEC_EVENT_FORMATS,
	SEC_KALLSYMS,
	SEC_PRINTK,
	SEC_CMDLINES,
	SEC_BTF,
};

static const uint16_t section_ids[TAP_DAT_NR_SECTIONS] = {
	[SEC_META] = TAP_META_SECTION, [SEC_HEADER_INFO] = 16, [SEC_FTRACE_EVENTS] = 17,
	[SEC_EVENT_FORMATS] = 18,      [SEC_KALLSYMS] = 19,    [SEC_PRINTK] = 20,
	[SEC_CMDLINES] = 21,	       [SEC_BTF] = 23,
};

static void add_u16(struct tap_buf *b, uint16_t v)
{
	tap_buf_add(b, &v, sizeof(v));
}

static void add_u32(struct tap_buf *b, uint32_t v)
{
	tap_buf_add(b, &v, sizeof(v));
}

static void add_u64(struct tap_buf *b, uint64_t v)
{
	tap_buf_add(b, &v, sizeof(v));
}

static void add_str(struct tap_buf *b, const char *s)
{
	tap_buf_add(b, s, strlen(s) + 1);
}

static void add_text64(struct tap_buf *b, const char *text, size_t len)
{
	add_u64(b, len);
	tap_buf_add(b, text, len);
}

static void add_option(struct tap_buf *b, uint16_t id, const void *data, size_t len)
{
	add_u16(b, id);
	add_u32(b, (uint32_t)len);
	tap_buf_add(b, data, len);
}

static void add_option_str(struct tap_buf *b, uint16_t id, const char *s)
{
	add_option(b, id, s, strlen(s) + 1);
}

void tap_dat_section_header(uint16_t id, uint16_t flags, uint64_t size, struct tap_buf *out)
{
	add_u16(out, id);
	add_u16(out, flags);
	add_u32(out, 0); /* no description in a strings section */
	add_u64(out, size);
}

/* Write the number of @system's formats, then the formats. */
static void add_formats(struct tap_buf *b, const struct tap_head *head, const char *system)
{
	const struct tap_head_format *end = head->formats + head->nr_formats;
	uint32_t nr = 0;

	for (const struct tap_head_format *f = head->formats; f < end; f++)
		nr += !strcmp(f->system, system);
	add_u32(b, nr);
	for (const struct tap_head_format *f = head->formats; f < end; f++)
		if (!strcmp(f->system, system))
			add_text64(b, f->text, f->len);
}

static bool is_first_of_system(const struct tap_head *head, unsigned int i)
{
	for (unsigned int k = 0; k < i; k++)
		if (!strcmp(head->formats[k].system, head->formats[i].system))
			return false;
	return true;
}

static void add_systems(struct tap_buf *b, const struct tap_head *head)
{
	uint32_t nr = 0;

	add_u32(b, nr);
	for (unsigned int i = 0; i < head->nr_formats; i++) {
		const char *system = head->formats[i].system;

		if (!strcmp(system, "ftrace") || !is_first_of_system(head, i))
			continue;
		add_str(b, system);
		add_formats(b, head, system);
		nr++;
	}
	if (!b->err)
		memcpy(b->data, &nr, sizeof(nr));
}

/*
 * Return the kernel's sizeof(long): header_page has the size of the commit word, which is a long.
 */
static uint8_t long_size(const char *header_page)
{
	const char *commit = strstr(header_page, "commit;");
	unsigned int size = 8;

	if (commit && sscanf(commit, "commit; offset:%*u; size:%u", &size) == 1 && size == 4)
		return 4;
	return 8;
}

static int front_err(const struct tap_dat_front *front)
{
	for (int i = 0; i < TAP_DAT_NR_SECTIONS; i++) {
		if (front->sections[i].err)
			return front->sections[i].err;
	}
	return front->options.err;
}

void tap_dat_front_set_meta(struct tap_dat_front *front, const char *json, size_t len)
{
	struct tap_buf *b = &front->sections[SEC_META];

	tap_buf_clear(b);
	b->max = TAP_META_MAX_BYTES + 4;
	if (len) {
		add_u32(b, (uint32_t)len);
		tap_buf_add(b, json, len);
	}
}

void tap_dat_front_set_cmdlines(struct tap_dat_front *front, const char *cmdlines)
{
	struct tap_buf *b = &front->sections[SEC_CMDLINES];

	tap_buf_clear(b);
	add_text64(b, cmdlines, strlen(cmdlines));
}

int tap_dat_front_make(const struct tap_head *head, struct tap_dat_front *front)
{
	const char *cmdlines = head->cmdlines ?: "", *printk = head->printk ?: "";
	const char *meta = head->meta ?: "", *kallsyms = head->kallsyms ?: "";
	struct tap_buf *s = front->sections;
	char clock[64];
	int ret;

	*front = (struct tap_dat_front){
		.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		.nr_cpus = head->nr_cpus,
		.long_size = long_size(head->header_page),
	};
	tap_dat_front_set_meta(front, meta, strlen(meta));
	add_str(&s[SEC_HEADER_INFO], "header_page");
	add_text64(&s[SEC_HEADER_INFO], head->header_page, strlen(head->header_page));
	add_str(&s[SEC_HEADER_INFO], "header_event");
	add_text64(&s[SEC_HEADER_INFO], head->header_event, strlen(head->header_event));
	add_formats(&s[SEC_FTRACE_EVENTS], head, "ftrace");
	add_systems(&s[SEC_EVENT_FORMATS], head);
	add_u32(&s[SEC_KALLSYMS], (uint32_t)strlen(kallsyms));
	tap_buf_puts(&s[SEC_KALLSYMS], kallsyms);
	add_u32(&s[SEC_PRINTK], (uint32_t)strlen(printk));
	tap_buf_puts(&s[SEC_PRINTK], printk);
	tap_dat_front_set_cmdlines(front, cmdlines);

	snprintf(clock, sizeof(clock), "[%s]", head->clock ?: "");
	add_option_str(&front->options, TAP_OPTION_TRACECLOCK, clock);
	add_option_str(&front->options, TAP_OPTION_UNAME, head->uname ?: "");
	add_option_str(&front->options, TAP_OPTION_VERSION, head->tool ?: "");
	ret = front_err(front);
	if (ret)
		tap_dat_front_release(front);
	return ret;
}

void tap_dat_front_release(struct tap_dat_front *front)
{
	for (int i = 0; i < TAP_DAT_NR_SECTIONS; i++)
		tap_buf_release(&front->sections[i]);
	tap_buf_release(&front->options);
}

static int section_place(uint64_t id)
{
	for (int i = 0; i < TAP_DAT_NR_SECTIONS; i++) {
		if (section_ids[i] == id)
			return i;
	}
	return -1;
}

/*
 * Copy the section at @offset. Return: false if it is compressed, damaged, a duplicate, or has
 * another id than @place's.
 */
static bool parse_section(struct tap_bytes all, uint64_t offset, int place,
			  struct tap_dat_front *front)
{
	unsigned int id, flags;

	tap_bytes_take(&all, offset);
	id = tap_bytes_u16(&all);
	flags = tap_bytes_u16(&all);
	tap_bytes_u32(&all); /* offset of its description */
	all = tap_bytes_sub(&all, tap_bytes_u64(&all));
	if (all.bad || flags || id != section_ids[place] || front->sections[place].len)
		return false;
	tap_buf_add(&front->sections[place], all.at, tap_bytes_left(&all));
	return true;
}

/*
 * Parse the options section at @offset and the sections it refers to. Return: false if anything is
 * damaged.
 */
static bool parse_options(struct tap_bytes all, uint64_t offset, struct tap_dat_front *front)
{
	struct tap_bytes b = all, opt;

	tap_bytes_take(&b, offset);
	if (tap_bytes_u16(&b) != 0)
		return false;
	tap_bytes_take(&b, TAP_DAT_SECTION_HEADER - 2);
	for (;;) {
		uint16_t id = tap_bytes_u16(&b);
		int place = section_place(id);

		opt = tap_bytes_sub(&b, tap_bytes_u32(&b));
		if (opt.bad || id == TAP_OPTION_DONE)
			return !opt.bad;
		if (id == TAP_OPTION_CPUCOUNT)
			front->nr_cpus = tap_bytes_u32(&opt);
		else if (place > SEC_META)
			opt.bad |= !parse_section(all, tap_bytes_u64(&opt), place, front);
		else if (id != TAP_OPTION_BUFFER)
			add_option(&front->options, id, opt.at, tap_bytes_left(&opt));
		if (opt.bad)
			return false;
	}
}

int tap_dat_front_parse(const void *data, size_t len, struct tap_dat_front *front,
			struct tap_err *err)
{
	const struct tap_bytes all = {
		.at = data,
		/* @data may be NULL if @len is 0 */
		.end = len ? (const unsigned char *)data + len : data,
		.big_endian = TAP_HOST_BIG_ENDIAN,
	};
	struct tap_bytes b = all;
	const unsigned char *magic = tap_bytes_take(&b, sizeof(MAGIC));
	unsigned int endian = tap_bytes_u8(&b);
	uint64_t options, meta_at;
	struct tap_sums sums;
	bool is_whole;
	int ret;

	*front = (struct tap_dat_front){ .long_size = tap_bytes_u8(&b) };
	front->page_size = tap_bytes_u32(&b);
	if (b.bad || memcmp(magic, MAGIC, sizeof(MAGIC)))
		return tap_err_set(err, -EINVAL, "the file does not begin like a recording");
	if (endian != TAP_HOST_BIG_ENDIAN)
		return tap_err_set(err, -ENOTSUP,
				   "the file is from a machine with the other byte order");
	tap_bytes_str(&b); /* compression */
	tap_bytes_str(&b); /* version of the compressor */
	options = tap_bytes_u64(&b);
	is_whole = !b.bad && (front->long_size == 4 || front->long_size == 8);
	/* the description, if present, follows the file header */
	meta_at = (uint64_t)(b.at - all.at);
	if (tap_bytes_u16(&b) == section_ids[SEC_META])
		is_whole &= parse_section(all, meta_at, SEC_META, front);
	is_whole &= parse_options(all, options, front);
	is_whole &= !tap_sums_find(&all, meta_at, &sums) || tap_sums_front_fits(&all, &sums);
	ret = is_whole ? front_err(front) : tap_err_set(err, -EINVAL, "the file is cut or damaged");
	if (ret)
		tap_dat_front_release(front);
	return ret;
}

struct ZSTD_CCtx_s *tap_zstd_new(int level)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();

	if (ctx && !ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, level)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1)))
		return ctx;
	ZSTD_freeCCtx(ctx);
	return NULL;
}

static void add_compressed(uint16_t id, const struct tap_buf *s, int level, struct tap_buf *out)
{
	size_t bound = ZSTD_compressBound(s->len), size, head = out->len;
	uint32_t len = (uint32_t)s->len, csize;
	ZSTD_CCtx *ctx;
	uint64_t total;

	tap_dat_section_header(id, TAP_DAT_COMPRESSED, 0, out);
	add_u32(out, 0);
	add_u32(out, len);
	if (!tap_buf_reserve(out, bound))
		return;
	ctx = tap_zstd_new(level);
	size = ctx ? ZSTD_compress2(ctx, out->data + out->len, bound, s->data, s->len) : 0;
	ZSTD_freeCCtx(ctx);
	if (!ctx || ZSTD_isError(size)) {
		out->err = -ENOMEM; /* it cannot fail otherwise with a buffer of this size */
		return;
	}
	out->len += size;
	csize = (uint32_t)size;
	total = size + 8;
	memcpy(out->data + head + 8, &total, sizeof(total));
	memcpy(out->data + head + TAP_DAT_SECTION_HEADER, &csize, sizeof(csize));
}

static void add_section(uint16_t id, const struct tap_buf *s, int level, struct tap_buf *out)
{
	if (level) {
		add_compressed(id, s, level, out);
		return;
	}
	tap_dat_section_header(id, 0, s->len, out);
	tap_buf_add(out, s->data, s->len);
}

/* End the options section that starts at @start, and set its size. There is no next section yet. */
static void end_options(struct tap_buf *out, size_t start)
{
	uint64_t size, next = 0;

	add_option(out, TAP_OPTION_DONE, &next, sizeof(next));
	size = out->len - start - TAP_DAT_SECTION_HEADER;
	if (!out->err)
		memcpy(out->data + start + 8, &size, sizeof(size));
}

/* Reserve zeroed space for the section of checksums. */
static void add_sums(uint64_t nr_sums, struct tap_buf *out)
{
	size_t len = (size_t)tap_sums_section_size(nr_sums);

	if (!tap_buf_reserve(out, len))
		return;
	memset(out->data + out->len, 0, len);
	out->len += len;
}

void tap_dat_front_write(const struct tap_dat_front *front, int level, uint64_t nr_sums,
			 struct tap_buf *out, size_t *more_at, size_t *sums_at)
{
	uint64_t offsets[TAP_DAT_NR_SECTIONS], start;
	size_t options_at;

	tap_buf_add(out, MAGIC, sizeof(MAGIC));
	tap_buf_char(out, TAP_HOST_BIG_ENDIAN);
	tap_buf_char(out, (char)front->long_size);
	add_u32(out, front->page_size);
	add_str(out, level ? "zstd" : "none");
	add_str(out, level ? ZSTD_versionString() : "");
	options_at = out->len;
	add_u64(out, 0);
	for (int i = 0; i < TAP_DAT_NR_SECTIONS; i++) {
		offsets[i] = out->len;
		if (front->sections[i].len)
			add_section(section_ids[i], &front->sections[i], level, out);
		if (i == SEC_META) {
			*sums_at = out->len;
			add_sums(nr_sums, out);
		}
	}
	start = out->len;
	if (!out->err)
		memcpy(out->data + options_at, &start, sizeof(start));
	tap_dat_section_header(0, 0, 0, out);
	for (int i = SEC_META + 1; i < TAP_DAT_NR_SECTIONS; i++) {
		if (front->sections[i].len)
			add_option(out, section_ids[i], &offsets[i], sizeof(offsets[i]));
	}
	tap_buf_add(out, front->options.data, front->options.len);
	add_option(out, TAP_OPTION_CPUCOUNT, &front->nr_cpus, sizeof(front->nr_cpus));
	end_options(out, start);
	*more_at = out->len - sizeof(uint64_t);
}

void tap_dat_buffers_write(const struct tap_dat_buffer *buffers, unsigned int nr,
			   struct tap_buf *out)
{
	size_t start = out->len;

	tap_dat_section_header(0, 0, 0, out);
	for (unsigned int i = 0; i < nr; i++) {
		const struct tap_dat_buffer *b = &buffers[i];
		size_t len = 8 + strlen(b->name) + 1 + strlen(b->clock) + 1 + 8;

		add_u16(out, TAP_OPTION_BUFFER);
		add_u32(out, (uint32_t)(len + b->nr_cpus * 20));
		add_u64(out, b->offset);
		add_str(out, b->name);
		add_str(out, b->clock);
		add_u32(out, b->page_size);
		add_u32(out, b->nr_cpus);
		for (unsigned int k = 0; k < b->nr_cpus; k++) {
			add_u32(out, b->cpus[k].cpu);
			add_u64(out, b->cpus[k].offset);
			add_u64(out, b->cpus[k].size);
		}
	}
	end_options(out, start);
}
