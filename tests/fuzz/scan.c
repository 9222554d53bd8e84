// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Find the pieces and the numbers of a recording: trace.dat version 7 (docs/recording-format.md)
 * and 6, and perf.data.
 */
#include <string.h>

#include "base/xxh64.h"
#include "file/sums.h"
#include "mutate.h"

#define V7_HEADER 18u /* up to the two texts */
#define SECTION_HEADER 16u
#define OPTION_BUFFER 3u
#define SECTION_OPTIONS 0u
#define SECTION_FORMATS 17u
#define MAX_WORDS 24u /* scanned per record */

/* ---- sub-buffers ---- */

/* Return the length of the record in bytes; 0 if there is none. */
static size_t record_len(const struct scan *s, size_t at, size_t end)
{
	uint64_t head = scan_get(s, at, 4), len = head & 31;

	if (len == 0)
		len = 4 + scan_get(s, at + 4, 4);
	else if (len == 29)
		len = 0;
	else
		len = len >= 30 ? 8 : 4 + 4 * len;
	return len > end - at ? 0 : (size_t)len;
}

static void scan_records(struct scan *s, size_t at, size_t end)
{
	for (size_t len; at + 8 <= end && (len = record_len(s, at, end)) >= 8; at += len) {
		size_t data = at + (scan_get(s, at, 4) & 31 ? 4 : 8);

		scan_piece(s, RECORD, at, len, 4);
		scan_value(s, RECORD, at, 4);
		scan_value(s, RECORD, data, 2); /* the event ID */
		if (data == at + 8)
			scan_length(s, RECORD, at + 4, 4, data, at + len, 1);
		for (size_t word = data + 4; word < at + len && word < data + 4 * MAX_WORDS;
		     word += 4)
			scan_value(s, RECORD, word, 4);
	}
}

void scan_pages(struct scan *s, size_t at, size_t len, size_t page_size)
{
	for (size_t end = at + len; page_size >= 16 && page_size <= end - at; at += page_size) {
		size_t used = (size_t)scan_get(s, at + 8, 8) & 0xfffffff;

		scan_piece(s, PAGE, at, page_size, page_size);
		scan_value(s, PAGE, at, 8);
		scan_length(s, PAGE, at + 8, 8, at + 16, at + 16 + used, 1);
		scan_records(s, at + 16, at + 16 + (used < page_size - 16 ? used : page_size - 16));
	}
}

/* ---- trace.dat version 7 ---- */

static size_t text_len(const struct scan *s, size_t at)
{
	const unsigned char *nul = at < s->len ? memchr(s->data + at, 0, s->len - at) : NULL;

	return nul ? (size_t)(nul - s->data) - at + 1 : s->len - at;
}

/* Scan the option that contains the position of a buffer's data. */
static void scan_buffer(struct scan *s, size_t at, size_t end, size_t base)
{
	size_t name = at + 8, clock = name + text_len(s, name), size = clock + text_len(s, clock),
	       cpus = size + 8;
	size_t page_size = (size_t)scan_get(s, size, 4);

	if (cpus > end)
		return;
	scan_offset(s, OPTION, at, 8, base);
	scan_value(s, OPTION, size, 4);
	scan_length(s, OPTION, size + 4, 4, cpus, end, 20);
	for (at = cpus; at + 20 <= end; at += 20) {
		size_t from = base + (size_t)scan_get(s, at + 4, 8),
		       len = (size_t)scan_get(s, at + 12, 8);

		scan_piece(s, CPU_DATA, at, 20, 20);
		scan_value(s, CPU_DATA, at, 4);
		scan_offset(s, CPU_DATA, at + 4, 8, base);
		if (from > s->len || len > s->len - from)
			continue;
		scan_length(s, CPU_DATA, at + 12, 8, from, from + len, 1);
		scan_pages(s, from, len, page_size);
	}
}

static void scan_options(struct scan *s, size_t at, size_t end, size_t base)
{
	for (size_t len; at + 6 <= end; at += 6 + len) {
		len = (size_t)scan_get(s, at + 2, 4);
		if (len > end - at - 6)
			return;
		scan_piece(s, OPTION, at, 6 + len, 1);
		scan_value(s, OPTION, at, 2);
		scan_length(s, OPTION, at + 2, 4, at + 6, at + 6 + len, 1);
		if (scan_get(s, at, 2) == OPTION_BUFFER)
			scan_buffer(s, at + 6, at + 6 + len, base);
		else if (len == 8)
			scan_offset(s, OPTION, at + 6, 8, base);
	}
}

/*
 * Scan a length of @size bytes followed by as many bytes. Return: their end; @end if they do not
 * fit.
 */
static size_t scan_sized(struct scan *s, enum piece_kind kind, size_t at, size_t size, size_t end)
{
	size_t from = at + size, len = (size_t)scan_get(s, at, size);

	if (from > end || len > end - from)
		return end;
	scan_piece(s, kind, from, len, 1);
	scan_length(s, kind, at, size, from, from + len, 1);
	return from + len;
}

/* Return: the end of the events. */
static size_t scan_events(struct scan *s, size_t at, size_t end)
{
	uint64_t events = scan_get(s, at, 4);

	scan_value(s, FORMAT, at, 4);
	for (at += 4; events-- && at < end;)
		at = scan_sized(s, FORMAT, at, 8, end);
	return at;
}

static size_t scan_formats(struct scan *s, size_t at, size_t end)
{
	uint64_t systems = scan_get(s, at, 4);

	scan_value(s, FORMAT, at, 4);
	for (at += 4; systems-- && at < end;)
		at = scan_events(s, at + text_len(s, at), end);
	return at;
}

static void scan_section(struct scan *s, size_t at, size_t end, size_t base)
{
	uint64_t id = scan_get(s, at, 2), is_compressed = scan_get(s, at + 2, 2) & 1;
	size_t from = at + SECTION_HEADER;

	scan_piece(s, SECTION, at, end - at, 1);
	scan_value(s, SECTION, at, 2);
	scan_value(s, SECTION, at + 2, 2);
	scan_length(s, SECTION, at + 8, 8, from, end, 1);
	if (id == SECTION_OPTIONS && !is_compressed)
		scan_options(s, from, end, base);
	else if (id == SECTION_FORMATS && !is_compressed)
		scan_formats(s, from, end);
	else if (id == TAP_SUMS_SECTION || id == TAP_SUMS_END_SECTION)
		scan_offset(s, SECTION, from + 16, 8, base);
}

/* Return the start of the first section. */
static size_t first_section(const struct scan *s, size_t base)
{
	size_t at = base + V7_HEADER;

	at += text_len(s, at);
	return at + text_len(s, at) + 8;
}

static void scan_v7(struct scan *s, size_t base, size_t end)
{
	size_t at = first_section(s, base);

	scan_offset(s, OTHER, at - 8, 8, base);
	scan_value(s, OTHER, base + V7_HEADER - 4, 4);
	while (at + SECTION_HEADER <= end) {
		size_t len = (size_t)scan_get(s, at + 8, 8);

		if (len > end - at - SECTION_HEADER)
			return;
		scan_section(s, at, at + SECTION_HEADER + len, base);
		at += SECTION_HEADER + len;
	}
}

/* ---- trace.dat version 6 (trace-cmd.dat.v6(5)) ---- */

#define TAG "flyrecord"

static void scan_v6(struct scan *s, size_t base, size_t end)
{
	const unsigned char *tag;
	size_t at = base + V7_HEADER, page_size = (size_t)scan_get(s, at - 4, 4), cpus_at;
	uint64_t cpus;

	for (unsigned int i = 0; i < 2; i++) /* header_page, header_event */
		at = scan_sized(s, OTHER, at + text_len(s, at), 8, end);
	at = scan_formats(s, scan_events(s, at, end), end);
	at = scan_sized(s, OTHER, at, 4, end); /* kallsyms */
	at = scan_sized(s, OTHER, at, 4, end); /* printk formats */
	cpus_at = scan_sized(s, OTHER, at, 8, end); /* names of tasks */
	cpus = scan_get(s, cpus_at, 4);
	scan_value(s, CPU_DATA, cpus_at, 4);
	/* after the options */
	tag = cpus_at < end ? memmem(s->data + cpus_at, end - cpus_at, TAG, sizeof(TAG)) : NULL;
	at = tag ? (size_t)(tag - s->data) + sizeof(TAG) : end;
	for (; cpus-- && at + 16 <= end; at += 16) {
		size_t from = base + (size_t)scan_get(s, at, 8),
		       len = (size_t)scan_get(s, at + 8, 8);

		scan_offset(s, CPU_DATA, at, 8, base);
		if (from > s->len || len > s->len - from)
			continue;
		scan_length(s, CPU_DATA, at + 8, 8, from, from + len, 1);
		scan_pages(s, from, len, page_size);
	}
}

/*
 * The checksum record (docs/recording-format.md): the magic ends at 8, where the block size
 * follows; the end of the front part is at 16, the section at 24, and the number of blocks at 32.
 */
void fix_checksums(unsigned char *data, size_t len)
{
	const struct scan s = { .data = data, .len = len };
	size_t section = first_section(&s, 0), record, end, front_end;
	struct tap_xxh64 x;
	uint64_t sum;

	if (scan_get(&s, section, 2) == TAP_META_SECTION)
		section += SECTION_HEADER + (size_t)scan_get(&s, section + 8, 8);
	record = section + SECTION_HEADER;
	front_end = (size_t)scan_get(&s, record + 16, 8);
	end = record + TAP_SUMS_RECORD + 4 * (size_t)scan_get(&s, record + 32, 8);
	if (section > len || record + TAP_SUMS_RECORD > len ||
	    memcmp(data + record, "stsums1", 8) || front_end > len || end > front_end ||
	    end < record + TAP_SUMS_RECORD)
		return;
	tap_xxh64_init(&x);
	tap_xxh64_add(&x, data, section);
	tap_xxh64_add(&x, data + end, front_end - end);
	sum = tap_xxh64_sum(&x);
	memcpy(data + record + 24, &(uint64_t){ section }, 8);
	memcpy(data + record + 40, &sum, 8);
	sum = tap_xxh64(data + record + TAP_SUMS_RECORD, end - record - TAP_SUMS_RECORD);
	memcpy(data + record + 48, &sum, 8);
	sum = tap_xxh64(data + record, TAP_SUMS_RECORD - 8);
	memcpy(data + record + TAP_SUMS_RECORD - 8, &sum, 8);
	if (!memcmp(data + len - TAP_SUMS_RECORD, "stsums1", 8))
		memcpy(data + len - TAP_SUMS_RECORD, data + record, TAP_SUMS_RECORD);
}

/* ---- perf.data ---- */

#define PERF_HEADER 104u
#define PERF_DATA 40u
#define PERF_FEATURES 72u
#define PERF_PIPE_HEADER 16u
#define PERF_TRACING_DATA 66u /* a record in pipe mode, which its data follows */

static void scan_perf_records(struct scan *s, size_t at, size_t end)
{
	for (size_t len;
	     at + 8 <= end && (len = (size_t)scan_get(s, at + 6, 2)) >= 8 && len <= end - at;
	     at += len) {
		scan_piece(s, RECORD, at, len, 8);
		scan_value(s, RECORD, at, 4);
		scan_value(s, RECORD, at + 4, 2);
		scan_length(s, RECORD, at + 6, 2, at + 8, at + len, 1);
		for (size_t word = at + 8; word < at + len && word < at + 8 * MAX_WORDS; word += 4)
			scan_value(s, RECORD, word, word % 8 || word % 3 ? 4 : 8);
		if (scan_get(s, at, 4) == PERF_TRACING_DATA)
			at += (size_t)scan_get(s, at + 8, 4);
	}
}

static void scan_perf(struct scan *s, size_t base)
{
	size_t at = base + (size_t)scan_get(s, base + PERF_DATA, 8),
	       end = at + (size_t)scan_get(s, base + PERF_DATA + 8, 8), len;

	if (scan_get(s, base + 8, 8) == PERF_PIPE_HEADER) {
		scan_perf_records(s, base + PERF_PIPE_HEADER, s->len);
		return;
	}
	if (at > s->len || end < at || end > s->len)
		return;
	for (size_t word = base + 8; word < base + PERF_HEADER; word += 8)
		scan_value(s, OTHER, word, 8);
	scan_offset(s, OTHER, base + PERF_DATA, 8, base);
	scan_length(s, OTHER, base + PERF_DATA + 8, 8, at, end, 1);
	scan_perf_records(s, at, end);
	at = end;
	for (unsigned int bit = 0; bit < 256; bit++) {
		size_t from = base + (size_t)scan_get(s, at, 8);

		if (!(scan_get(s, base + PERF_FEATURES + bit / 8, 1) >> bit % 8 & 1))
			continue;
		scan_offset(s, OPTION, at, 8, base);
		len = (size_t)scan_get(s, at + 8, 8);
		if (from <= s->len && len <= s->len - from) {
			scan_length(s, OPTION, at + 8, 8, from, from + len, 1);
			scan_piece(s, OPTION, from, len, 1);
		}
		at += 16;
	}
}

bool scan_recording(struct scan *s, size_t at, size_t len)
{
	if (len > PERF_HEADER && !memcmp(s->data + at, "PERFILE2", 8))
		scan_perf(s, at);
	else if (len > V7_HEADER && !memcmp(s->data + at, "\x17\x08\x44tracing7", 12) &&
		 !s->data[at + 12])
		scan_v7(s, at, at + len);
	else if (len > V7_HEADER && !memcmp(s->data + at, "\x17\x08\x44tracing6", 12) &&
		 !s->data[at + 12])
		scan_v6(s, at, at + len);
	else
		return false;
	return true;
}
