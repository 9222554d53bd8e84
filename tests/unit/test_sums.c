// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zstd.h>

#include "base/xxh64.h"
#include "file/dat_write.h"
#include "file/meta.h"
#include "file/sums.h"

#define MAX_BYTES 300u

static unsigned char bytes[MAX_BYTES];

static void xxh64_gives_known_sums(void **state)
{
	(void)state;
	assert_true(tap_xxh64("", 0) == 0xef46db3751d8e999);
	assert_true(tap_xxh64("a", 1) == 0xd24ec4f1a98c6e5b);
	assert_true(tap_xxh64("abc", 3) == 0x44bc2cf5ad770999);
}

/* A frame ends with the low half of the content's XXH64, in little endian. */
static void xxh64_is_what_zstd_writes(void **state)
{
	ZSTD_CCtx *ctx = tap_zstd_new(1);
	unsigned char frame[1024], *end;
	uint32_t sum;

	(void)state;
	assert_non_null(ctx);
	for (size_t len = 0; len < MAX_BYTES; len++) {
		size_t size = ZSTD_compress2(ctx, frame, sizeof(frame), bytes, len);

		assert_false(ZSTD_isError(size));
		end = frame + size;
		sum = end[-4] | end[-3] << 8 | end[-2] << 16 | (uint32_t)end[-1] << 24;
		assert_int_equal(sum, tap_sums_of(bytes, len));
	}
	ZSTD_freeCCtx(ctx);
}

static void xxh64_of_parts_is_that_of_the_whole(void **state)
{
	(void)state;
	for (size_t part = 1; part < 80; part++) {
		struct tap_xxh64 x;

		tap_xxh64_init(&x);
		for (size_t at = 0; at < MAX_BYTES; at += part)
			tap_xxh64_add(&x, bytes + at,
				      MAX_BYTES - at < part ? MAX_BYTES - at : part);
		assert_true(tap_xxh64_sum(&x) == tap_xxh64(bytes, MAX_BYTES));
	}
}

static struct tap_bytes all_of(const struct tap_buf *b)
{
	return (struct tap_bytes){
		.at = (unsigned char *)b->data,
		.end = (unsigned char *)b->data + b->len,
		.big_endian = TAP_HOST_BIG_ENDIAN,
	};
}

/* 100 bytes, the section, 50 bytes, the section at the end. */
static void make_front(struct tap_buf *b)
{
	static const char nothing[TAP_DAT_SECTION_HEADER + TAP_SUMS_RECORD];

	tap_buf_add(b, bytes, 100);
	tap_buf_add(b, nothing, sizeof(nothing));
	tap_buf_add(b, bytes, 50);
	tap_sums_seal(b, 100);
	assert_int_equal(b->err, 0);
}

/* Each byte but those of the sections is part of the checksum, and one of the two records is found
 * whatever byte is damaged. */
static void every_byte_of_a_front_counts(void **state)
{
	const size_t section = TAP_DAT_SECTION_HEADER + TAP_SUMS_RECORD;
	struct tap_buf b = { 0 };
	struct tap_sums sums;

	(void)state;
	make_front(&b);
	for (size_t i = 0; i < b.len; i++) {
		const struct tap_bytes all = all_of(&b);
		bool in_sections = (i >= 100 && i < 100 + section) || i >= b.len - section;

		b.data[i] ^= 4;
		assert_true(tap_sums_find(&all, 100, &sums));
		assert_int_equal(tap_sums_front_fits(&all, &sums), in_sections);
		assert_non_null(tap_sums_blocks(&all, &sums));
		b.data[i] ^= 4;
	}
	tap_buf_release(&b);
}

static void without_a_record_there_are_none(void **state)
{
	struct tap_buf b = { 0 };
	struct tap_bytes all;
	struct tap_sums sums;

	(void)state;
	make_front(&b);
	b.data[100 + TAP_DAT_SECTION_HEADER] = 0;
	b.data[b.len - TAP_SUMS_RECORD] = 0;
	all = all_of(&b);
	assert_false(tap_sums_find(&all, 100, &sums));
	assert_false(tap_sums_find(&all, b.len, &sums));
	assert_false(tap_sums_find(&all, UINT64_MAX, &sums));
	tap_buf_release(&b);
}

static void blocks_are_of_a_page_at_least(void **state)
{
	(void)state;
	assert_int_equal(tap_sums_count(0, 4096, 65536), 0);
	assert_int_equal(tap_sums_count(4096, 4096, 65536), 1);
	assert_int_equal(tap_sums_count(65536, 4096, 65536), 1);
	assert_int_equal(tap_sums_count(65536 + 4096, 4096, 65536), 2);
	assert_int_equal(tap_sums_count(3 << 20, 1 << 20, 65536), 3);
}

static void a_description_has_its_checksum(void **state)
{
	static const char json[] = "{\"a\": 1, \"b\": [2]}";
	struct tap_buf b = { 0 };
	size_t len;

	(void)state;
	tap_meta_seal(json, &b);
	for (size_t i = 0; i < sizeof(json) - 2; i++) {
		len = b.len;
		b.data[i] ^= 2;
		assert_false(tap_meta_open(b.data, &len));
		b.data[i] ^= 2;
	}
	for (size_t cut = 1; cut < b.len; cut++) {
		len = b.len - cut;
		assert_false(tap_meta_open(b.data, &len));
	}
	len = b.len;
	assert_true(tap_meta_open(b.data, &len));
	assert_int_equal(len, sizeof(json) - 2);
	tap_buf_release(&b);
}

/* Older recorders wrote none. */
static void a_description_without_a_checksum_is_taken_as_it_is(void **state)
{
	char json[] = "{\"a\": 1}\n";
	size_t len = sizeof(json) - 1;

	(void)state;
	assert_true(tap_meta_open(json, &len));
	assert_int_equal(len, sizeof(json) - 1);
	json[3] = '\0';
	assert_false(tap_meta_open(json, &len));
	len = 0;
	assert_false(tap_meta_open(json, &len));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xxh64_gives_known_sums),
		cmocka_unit_test(xxh64_is_what_zstd_writes),
		cmocka_unit_test(xxh64_of_parts_is_that_of_the_whole),
		cmocka_unit_test(every_byte_of_a_front_counts),
		cmocka_unit_test(without_a_record_there_are_none),
		cmocka_unit_test(blocks_are_of_a_page_at_least),
		cmocka_unit_test(a_description_has_its_checksum),
		cmocka_unit_test(a_description_without_a_checksum_is_taken_as_it_is),
	};

	for (size_t i = 0; i < MAX_BYTES; i++)
		bytes[i] = (unsigned char)(i * i * 7 + i / 3);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
