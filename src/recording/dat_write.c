// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "recording/dat_write.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "recording/meta.h"

#define MAGIC "\x17\x08\x44tracing7"

enum option_id {
	OPT_DONE = 0,
	OPT_BUFFER = 3,
	OPT_TRACECLOCK = 4,
	OPT_UNAME = 5,
	OPT_CPUCOUNT = 8,
	OPT_VERSION = 9,
};

/* Places in tap_dat_front.sections. The meta is the first in the file and has no option. */
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
	[SEC_META] = 0x7374,	    [SEC_HEADER_INFO] = 16, [SEC_FTRACE_EVENTS] = 17,
	[SEC_EVENT_FORMATS] = 18,   [SEC_KALLSYMS] = 19,    [SEC_PRINTK] = 20,
	[SEC_CMDLINES] = 21,	    [SEC_BTF] = 23,
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

static bool is_ftrace(const struct tap_head_format *f)
{
	return !strcmp(f->system, "ftrace");
}

static void make_ftrace(const struct tap_head *head, struct tap_buf *b)
{
	uint32_t nr = 0;

	for (unsigned int i = 0; i < head->nr_formats; i++)
		nr += is_ftrace(&head->formats[i]);
	add_u32(b, nr);
	for (unsigned int i = 0; i < head->nr_formats; i++) {
		if (is_ftrace(&head->formats[i]))
			add_text64(b, head->formats[i].text, head->formats[i].len);
	}
}

/* One system with its formats, if the format at @first is the first of its system. */
static bool make_system(const struct tap_head *head, unsigned int first, struct tap_buf *b)
{
	const struct tap_head_format *f = head->formats;
	const char *system = f[first].system;
	uint32_t nr = 0;

	for (unsigned int i = 0; i < head->nr_formats; i++) {
		if (strcmp(f[i].system, system))
			continue;
		if (i < first)
			return false;
		nr++;
	}
	add_str(b, system);
	add_u32(b, nr);
	for (unsigned int i = first; i < head->nr_formats; i++) {
		if (!strcmp(f[i].system, system))
			add_text64(b, f[i].text, f[i].len);
	}
	return true;
}

static void make_formats(const struct tap_head *head, struct tap_buf *b)
{
	uint32_t nr = 0;

	add_u32(b, nr);
	for (unsigned int i = 0; i < head->nr_formats; i++)
		nr += !is_ftrace(&head->formats[i]) && make_system(head, i, b);
	if (!b->err)
		memcpy(b->data, &nr, sizeof(nr));
}

/* The commit word of a page has the size of the kernel's long, and header_page tells it. */
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

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

int tap_dat_front_make(const struct tap_head *head, struct tap_dat_front *front)
{
	const char *cmdlines = or_empty(head->cmdlines), *printk = or_empty(head->printk);
	const char *meta = or_empty(head->meta), *kallsyms = or_empty(head->kallsyms);
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
	make_ftrace(head, &s[SEC_FTRACE_EVENTS]);
	make_formats(head, &s[SEC_EVENT_FORMATS]);
	add_u32(&s[SEC_KALLSYMS], (uint32_t)strlen(kallsyms));
	tap_buf_puts(&s[SEC_KALLSYMS], kallsyms);
	add_u32(&s[SEC_PRINTK], (uint32_t)strlen(printk));
	tap_buf_puts(&s[SEC_PRINTK], printk);
	add_text64(&s[SEC_CMDLINES], cmdlines, strlen(cmdlines));

	snprintf(clock, sizeof(clock), "[%s]", or_empty(head->clock));
	add_option_str(&front->options, OPT_TRACECLOCK, clock);
	add_option_str(&front->options, OPT_UNAME, or_empty(head->uname));
	add_option_str(&front->options, OPT_VERSION, or_empty(head->tool));
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

/* Bytes that were not written by us, or not to their end. */
struct bytes {
	const unsigned char *data;
	size_t len, pos;
	bool bad; /* something lay outside */
};

static const void *take(struct bytes *b, uint64_t len)
{
	if (b->bad || len > b->len - b->pos) {
		b->bad = true;
		return NULL;
	}
	b->pos += len;
	return b->data + b->pos - len;
}

static uint64_t take_num(struct bytes *b, size_t size)
{
	const void *p = take(b, size);
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	if (!p)
		return 0;
	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		memcpy(&u16, p, 2);
		return u16;
	case 4:
		memcpy(&u32, p, 4);
		return u32;
	default:
		memcpy(&u64, p, 8);
		return u64;
	}
}

static void skip_str(struct bytes *b)
{
	if (!b->bad)
		take(b, strnlen((const char *)b->data + b->pos, b->len - b->pos) + 1);
}

static int section_place(uint64_t id)
{
	for (int i = 0; i < TAP_DAT_NR_SECTIONS; i++) {
		if (section_ids[i] == id)
			return i;
	}
	return -1;
}

/* Copies the section at @offset; it must be plain and have @place's id. */
static void parse_section(const struct bytes *all, uint64_t offset, int place,
			  struct tap_dat_front *front, bool *bad)
{
	struct bytes b = { .data = all->data, .len = all->len };
	uint64_t id, flags, size;
	const void *data;

	take(&b, offset);
	id = take_num(&b, 2);
	flags = take_num(&b, 2);
	take(&b, 4);
	size = take_num(&b, 8);
	data = take(&b, size);
	if (b.bad || flags || id != section_ids[place] || front->sections[place].len) {
		*bad = true;
		return;
	}
	tap_buf_add(&front->sections[place], data, size);
}

static void parse_options(struct bytes *b, struct tap_dat_front *front)
{
	for (;;) {
		uint16_t id = (uint16_t)take_num(b, 2);
		size_t len = take_num(b, 4);
		const void *data = take(b, len);
		struct bytes value = { .data = data, .len = len };
		int place = section_place(id);

		if (b->bad || id == OPT_DONE)
			return;
		if (id == OPT_CPUCOUNT)
			front->nr_cpus = (uint32_t)take_num(&value, 4);
		else if (place > SEC_META)
			parse_section(b, take_num(&value, 8), place, front, &b->bad);
		else if (id != OPT_BUFFER)
			add_option(&front->options, id, data, len);
		b->bad |= value.bad;
	}
}

/* The meta, if there is one, stands where the file header ends. */
static void parse_meta(const struct bytes *b, struct tap_dat_front *front, bool *bad)
{
	struct bytes peek = *b;

	if (take_num(&peek, 2) == section_ids[SEC_META])
		parse_section(b, b->pos, SEC_META, front, bad);
}

int tap_dat_front_parse(const void *data, size_t len, struct tap_dat_front *front,
			struct tap_err *err)
{
	struct bytes b = { .data = data, .len = len };
	const char *magic = take(&b, sizeof(MAGIC));
	uint64_t big = take_num(&b, 1), options;
	int ret;

	*front = (struct tap_dat_front){ .long_size = (uint8_t)take_num(&b, 1) };
	front->page_size = (uint32_t)take_num(&b, 4);
	if (b.bad || memcmp(magic, MAGIC, sizeof(MAGIC)))
		return tap_err_set(err, -EINVAL, "it does not begin as a recording does");
	if (big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		return tap_err_set(err, -ENOTSUP, "it is from a machine of the other byte order");
	skip_str(&b); /* compression */
	skip_str(&b); /* and its version */
	options = take_num(&b, 8);
	parse_meta(&b, front, &b.bad);
	b.pos = 0;
	take(&b, options);
	b.bad |= take_num(&b, 2) != 0;
	take(&b, TAP_DAT_SECTION_HEADER - 2);
	parse_options(&b, front);
	ret = front_err(front);
	if (b.bad || (front->long_size != 4 && front->long_size != 8))
		ret = tap_err_set(err, -EINVAL, "it is cut or damaged");
	if (ret)
		tap_dat_front_release(front);
	return ret;
}

static void add_compressed(uint16_t id, const struct tap_buf *s, int level, struct tap_buf *out)
{
	size_t bound = ZSTD_compressBound(s->len), size, head = out->len;
	uint32_t len = (uint32_t)s->len, csize;
	uint64_t total;

	tap_dat_section_header(id, TAP_DAT_COMPRESSED, 0, out);
	add_u32(out, 0);
	add_u32(out, len);
	if (!tap_buf_reserve(out, bound))
		return;
	size = ZSTD_compress(out->data + out->len, bound, s->data, s->len, level);
	if (ZSTD_isError(size)) {
		out->err = -ENOMEM; /* the only way in which it fails with a buffer large enough */
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

/* Begins an options section at @start in @out; end_options() fills in its size. */
static void end_options(struct tap_buf *out, size_t start, uint64_t next)
{
	uint64_t size;

	add_option(out, OPT_DONE, &next, sizeof(next));
	size = out->len - start - TAP_DAT_SECTION_HEADER;
	if (!out->err)
		memcpy(out->data + start + 8, &size, sizeof(size));
}

void tap_dat_front_write(const struct tap_dat_front *front, int level, struct tap_buf *out,
			 size_t *more_at)
{
	uint64_t offsets[TAP_DAT_NR_SECTIONS], start;
	size_t options_at;

	tap_buf_add(out, MAGIC, sizeof(MAGIC));
	tap_buf_char(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
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
	add_option(out, OPT_CPUCOUNT, &front->nr_cpus, sizeof(front->nr_cpus));
	end_options(out, start, 0);
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

		add_u16(out, OPT_BUFFER);
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
	end_options(out, start, 0);
}
