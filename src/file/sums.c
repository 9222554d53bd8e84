// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xxh64.h"

#define SECTION_HEADER 16u
#define MAGIC "stsums1" /* sizeof includes the NUL */
#define READ_BYTES ((size_t)1 << 20)

uint64_t tap_sums_section_size(uint64_t nr)
{
	return SECTION_HEADER + TAP_SUMS_RECORD + nr * sizeof(uint32_t);
}

static uint32_t block_size(uint32_t page_size, uint32_t block_bytes)
{
	return page_size > block_bytes ? page_size : block_bytes;
}

uint64_t tap_sums_count(uint64_t size, uint32_t page_size, uint32_t block_bytes)
{
	uint32_t block = block_size(page_size, block_bytes);

	return size / block + !!(size % block);
}

uint32_t tap_sums_of(const void *block, size_t len)
{
	return (uint32_t)tap_xxh64(block, len);
}

/* ---- reading ---- */

static bool parse_record(struct tap_bytes b, struct tap_sums *s)
{
	const unsigned char *from = b.at, *magic = tap_bytes_take(&b, sizeof(MAGIC));
	uint64_t own;

	s->block_bytes = tap_bytes_u32(&b);
	tap_bytes_u32(&b); /* reserved, 0 */
	s->front_end = tap_bytes_u64(&b);
	s->section_at = tap_bytes_u64(&b);
	s->nr = tap_bytes_u64(&b);
	s->front = tap_bytes_u64(&b);
	s->blocks = tap_bytes_u64(&b);
	tap_bytes_u64(&b); /* reserved, 0 */
	own = tap_bytes_u64(&b);
	return !b.bad && !memcmp(magic, MAGIC, sizeof(MAGIC)) &&
	       own == tap_xxh64(from, TAP_SUMS_RECORD - 8) && s->block_bytes && s->nr <= UINT32_MAX;
}

/* Return @all from @at on, in the same byte order. */
static struct tap_bytes bytes_at(const struct tap_bytes *all, uint64_t at)
{
	struct tap_bytes b = *all;

	tap_bytes_take(&b, at);
	return b;
}

/*
 * Return the offset of the section that follows the description, or @first if the first section is
 * not one.
 */
static uint64_t after_meta(const struct tap_bytes *all, uint64_t first)
{
	struct tap_bytes b = bytes_at(all, first);

	if (tap_bytes_u16(&b) != TAP_META_SECTION)
		return first;
	tap_bytes_take(&b, 6);
	tap_bytes_take(&b, tap_bytes_u64(&b));
	return b.bad ? first : (uint64_t)(b.at - all->at);
}

bool tap_sums_find(const struct tap_bytes *all, uint64_t first, struct tap_sums *out)
{
	uint64_t section_at = after_meta(all, first);
	struct tap_bytes b = bytes_at(all, section_at);
	size_t len = tap_bytes_left(all);

	if (tap_bytes_u16(&b) == TAP_SUMS_SECTION && !b.bad) {
		tap_bytes_take(&b, SECTION_HEADER - 2);
		if (parse_record(b, out) && out->section_at == section_at)
			return true;
	}
	return len >= TAP_SUMS_RECORD && parse_record(bytes_at(all, len - TAP_SUMS_RECORD), out);
}

bool tap_sums_front_fits(const struct tap_bytes *all, const struct tap_sums *s)
{
	uint64_t after = s->section_at + tap_sums_section_size(s->nr);
	struct tap_xxh64 x;

	if (s->front_end > tap_bytes_left(all) || after < s->section_at || after > s->front_end)
		return false;
	tap_xxh64_init(&x);
	tap_xxh64_add(&x, all->at, (size_t)s->section_at);
	tap_xxh64_add(&x, all->at + after, (size_t)(s->front_end - after));
	return tap_xxh64_sum(&x) == s->front;
}

const unsigned char *tap_sums_blocks(const struct tap_bytes *all, const struct tap_sums *s)
{
	struct tap_bytes b = bytes_at(all, s->section_at + SECTION_HEADER + TAP_SUMS_RECORD);
	size_t len = (size_t)s->nr * sizeof(uint32_t);
	const unsigned char *blocks = tap_bytes_take(&b, len);

	return blocks && tap_xxh64(blocks, len) == s->blocks ? blocks : NULL;
}

/*
 * Offset of the byte order in a trace.dat. It is followed by u8 long size, u32 page size, two
 * strings, a u64, and the first section.
 */
#define BYTE_ORDER_AT 12u

bool tap_sums_head_fits(const void *data, size_t len)
{
	struct tap_bytes all = { .at = data, .end = (const unsigned char *)data + len }, b = all;
	struct tap_sums s;

	tap_bytes_take(&b, BYTE_ORDER_AT);
	all.big_endian = tap_bytes_u8(&b);
	tap_bytes_take(&b, 5);
	tap_bytes_str(&b);
	tap_bytes_str(&b);
	tap_bytes_take(&b, 8);
	return !b.bad && tap_sums_find(&all, (uint64_t)(b.at - all.at), &s) &&
	       tap_sums_front_fits(&all, &s);
}

/* ---- writing ---- */

static void add_u64(struct tap_buf *b, uint64_t v)
{
	tap_buf_add(b, &v, sizeof(v));
}

static void add_record(const struct tap_sums *s, struct tap_buf *b)
{
	const uint32_t numbers[2] = { s->block_bytes, 0 };
	size_t from = b->len;

	tap_buf_add(b, MAGIC, sizeof(MAGIC));
	tap_buf_add(b, numbers, sizeof(numbers));
	add_u64(b, s->front_end);
	add_u64(b, s->section_at);
	add_u64(b, s->nr);
	add_u64(b, s->front);
	add_u64(b, s->blocks);
	add_u64(b, 0);
	if (!b->err)
		add_u64(b, tap_xxh64(b->data + from, TAP_SUMS_RECORD - 8));
}

static void add_section(const struct tap_sums *s, unsigned int id, const uint32_t *blocks,
			struct tap_buf *b)
{
	size_t len = blocks ? (size_t)s->nr * sizeof(*blocks) : 0;

	const struct {
		uint16_t id, flags;
		uint32_t string;
		uint64_t size;
	} header = { .id = (uint16_t)id, .size = TAP_SUMS_RECORD + len };

	tap_buf_add(b, &header, sizeof(header));
	add_record(s, b);
	tap_buf_add(b, blocks, len);
}

void tap_sums_seal(struct tap_buf *front, uint64_t section_at)
{
	struct tap_sums s = { .block_bytes = TAP_SUMS_BLOCK_BYTES,
			      .front_end = front->len,
			      .section_at = section_at };
	uint64_t after = section_at + tap_sums_section_size(0);
	struct tap_buf section = { 0 };
	struct tap_xxh64 x;

	if (front->err)
		return;
	tap_xxh64_init(&x);
	tap_xxh64_add(&x, front->data, (size_t)section_at);
	tap_xxh64_add(&x, front->data + after, front->len - (size_t)after);
	s.front = tap_xxh64_sum(&x);
	s.blocks = tap_xxh64("", 0);
	add_section(&s, TAP_SUMS_SECTION, NULL, &section);
	if (!section.err)
		memcpy(front->data + section_at, section.data, section.len);
	else
		front->err = section.err;
	tap_buf_release(&section);
	add_section(&s, TAP_SUMS_END_SECTION, NULL, front);
}

int tap_sums_compute(int fd, uint64_t from, uint64_t size, uint32_t page_size, uint32_t *out)
{
	const uint32_t block = block_size(page_size, TAP_SUMS_BLOCK_BYTES);
	unsigned char *buf = malloc(block);
	int ret = buf ? 0 : -ENOMEM;

	for (uint64_t at = 0; !ret && at < size; at += block) {
		size_t len = size - at < block ? (size_t)(size - at) : block;

		/* a power cut may leave holes that are too long to read */
		if ((uint64_t)tap_find_data(fd, (off_t)(from + at), (off_t)(from + at + len)) >=
		    from + at + len)
			memset(buf, 0, len);
		else
			ret = tap_pread_all(fd, buf, len, (off_t)(from + at));
		*out++ = tap_sums_of(buf, len);
	}
	free(buf);
	return ret;
}

/* Add [@from, @to) of the file to the checksum @x. */
static int add_part(int fd, uint64_t from, uint64_t to, unsigned char *buf, struct tap_xxh64 *x)
{
	int ret = 0;

	for (size_t len; !ret && from < to; from += len) {
		len = to - from < READ_BYTES ? (size_t)(to - from) : READ_BYTES;
		ret = tap_pread_all(fd, buf, len, (off_t)from);
		tap_xxh64_add(x, buf, ret ? 0 : len);
	}
	return ret;
}

static int sum_front(int fd, struct tap_sums *s)
{
	unsigned char *buf = malloc(READ_BYTES);
	struct tap_xxh64 x;
	int ret;

	if (!buf)
		return -ENOMEM;
	tap_xxh64_init(&x);
	ret = add_part(fd, 0, s->section_at, buf, &x);
	if (!ret)
		ret = add_part(fd, s->section_at + tap_sums_section_size(s->nr), s->front_end, buf,
			       &x);
	s->front = tap_xxh64_sum(&x);
	free(buf);
	return ret;
}

int tap_sums_write(int fd, struct tap_sums *s, const uint32_t *blocks, uint64_t end)
{
	struct tap_buf first = { 0 }, last = { 0 };
	int ret = sum_front(fd, s);

	if (ret)
		return ret;
	s->block_bytes = TAP_SUMS_BLOCK_BYTES;
	s->blocks = tap_xxh64(blocks, (size_t)s->nr * sizeof(*blocks));
	add_section(s, TAP_SUMS_SECTION, blocks, &first);
	add_section(s, TAP_SUMS_END_SECTION, NULL, &last);
	ret = first.err ?: last.err;
	ret = ret ?: tap_pwrite_all(fd, first.data, first.len, s->section_at);
	ret = ret ?: tap_pwrite_all(fd, last.data, last.len, end);
	tap_buf_release(&first);
	tap_buf_release(&last);
	return ret;
}
