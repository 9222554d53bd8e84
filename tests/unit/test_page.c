// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <cmocka.h>

#include "file/page.h"

#define STAMP 1000u
#define WORD(type, delta) ((uint32_t)(delta) << 5 | (type))

struct record {
	uint64_t at_ns; /* after STAMP */
	uint32_t len; /* of the payload: bytes 0x11 */
};

struct words_case {
	const char *name;
	struct record records[3];
	uint32_t used;
	uint32_t words[8]; /* the first ones of the data */
};

static const struct words_case words_cases[] = {
	{
		.name = "a record is one word with its length in words, and the payload",
		.records = { { 5, 8 } },
		.used = 12,
		.words = { WORD(2, 5), 0x11111111, 0x11111111 },
	},
	{
		.name = "deltas count from the record before",
		.records = { { 3, 4 }, { 10, 4 } },
		.used = 16,
		.words = { WORD(1, 3), 0x11111111, WORD(1, 7), 0x11111111 },
	},
	{
		.name = "a payload is filled up with zeros to whole words",
		.records = { { 0, 5 } },
		.used = 12,
		.words = { WORD(2, 0), 0x11111111, 0x00000011 },
	},
	{
		.name = "28 words need no length word",
		.records = { { 1, 112 } },
		.used = 116,
		.words = { WORD(28, 1), 0x11111111 },
	},
	{
		.name = "more than 28 words have a length word that counts itself",
		.records = { { 1, 113 } },
		.used = 124,
		.words = { WORD(0, 1), 120, 0x11111111 },
	},
	{
		.name = "the largest delta of 27 bits stays in the record's word",
		.records = { { (1u << 27) - 1, 4 } },
		.used = 8,
		.words = { WORD(1, (1u << 27) - 1), 0x11111111 },
	},
	{
		.name = "a larger delta is a time extend before the record",
		.records = { { (3ULL << 27) + 9, 4 }, { (3ULL << 27) + 11, 4 } },
		.used = 24,
		.words = { WORD(30, 9), 3, WORD(1, 0), 0x11111111, WORD(1, 2), 0x11111111 },
	},
	{
		.name = "a large delta and a large record",
		.records = { { 1u << 27, 116 } },
		.used = 132,
		.words = { WORD(30, 0), 1, WORD(0, 0), 120, 0x11111111 },
	},
};

static unsigned char *add(struct tap_page *p, struct record r)
{
	unsigned char *at = tap_page_add(p, STAMP + r.at_ns, r.len);

	if (at)
		memset(at, 0x11, r.len);
	return at;
}

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(words_cases) / sizeof(*words_cases); i++) {
		const struct words_case *c = &words_cases[i];
		unsigned char bytes[TAP_PAGE_SIZE];
		struct tap_page p;
		uint32_t words[8];
		uint64_t head[2];

		print_message("# %s\n", c->name);
		memset(bytes, 0xaa, sizeof(bytes));
		tap_page_begin(&p, bytes, STAMP);
		for (int k = 0; k < 3 && c->records[k].len; k++)
			assert_non_null(add(&p, c->records[k]));
		tap_page_end(&p, 0);
		memcpy(head, bytes, sizeof(head));
		assert_int_equal(head[0], STAMP);
		assert_int_equal(head[1], c->used);
		memcpy(words, bytes + TAP_PAGE_HEADER, sizeof(words));
		for (int k = 0; k < 8 && c->words[k]; k++)
			assert_int_equal(words[k], c->words[k]);
		for (size_t k = TAP_PAGE_HEADER + c->used; k < sizeof(bytes); k++)
			assert_int_equal(bytes[k], 0);
	}
}

struct full_case {
	const char *name;
	uint32_t left; /* bytes of a page that is filled up to there */
	struct record record;
	bool fits;
};

static const struct full_case full_cases[] = {
	{ "a record that fits to the byte", 12, { 1, 8 }, true },
	{ "a record of one word too many", 8, { 1, 8 }, false },
	{ "the padding must fit too", 8, { 1, 5 }, false },
	{ "the time extend must fit too", 12, { 1u << 27, 8 }, false },
	{ "a time extend that fits to the byte", 20, { 1u << 27, 8 }, true },
	{ "the length word must fit too", 120, { 1, 116 }, false },
	{ "a length word that fits to the byte", 124, { 1, 116 }, true },
	{ "nothing fits a full page", 0, { 1, 4 }, false },
	{ "a record larger than a page", TAP_PAGE_DATA, { 0, TAP_PAGE_DATA }, false },
	{ "the largest record", TAP_PAGE_DATA, { 0, TAP_PAGE_DATA - 8 }, true },
};

static void fill(struct tap_page *p, unsigned char *bytes, uint32_t left)
{
	tap_page_begin(p, bytes, STAMP);
	while (TAP_PAGE_DATA - p->used > left) {
		uint32_t more = TAP_PAGE_DATA - p->used - left;

		assert_non_null(add(p, (struct record){ 0, more > 116 ? 4 : more - 4 }));
	}
	assert_int_equal(TAP_PAGE_DATA - p->used, left);
}

static void test_full(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(full_cases) / sizeof(*full_cases); i++) {
		const struct full_case *c = &full_cases[i];
		unsigned char bytes[TAP_PAGE_SIZE];
		struct tap_page p, before;

		print_message("# %s\n", c->name);
		fill(&p, bytes, c->left);
		before = p;
		assert_int_equal(!!add(&p, c->record), c->fits);
		if (!c->fits)
			assert_memory_equal(&p, &before, sizeof(p));
	}
}

struct missed_case {
	const char *name;
	uint32_t left;
	uint64_t missed;
	uint64_t flags;
};

static const struct missed_case missed_cases[] = {
	{ "nothing lost", 100, 0, 0 },
	{ "the count stands after the events", 8, 17, TAP_PAGE_MISSED | TAP_PAGE_MISSED_STORED },
	{ "a full page has only the flag", 4, 17, TAP_PAGE_MISSED },
};

static void test_missed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(missed_cases) / sizeof(*missed_cases); i++) {
		const struct missed_case *c = &missed_cases[i];
		unsigned char bytes[TAP_PAGE_SIZE];
		struct tap_page p;
		uint64_t commit, count = 0;

		print_message("# %s\n", c->name);
		fill(&p, bytes, c->left);
		tap_page_end(&p, c->missed);
		memcpy(&commit, bytes + 8, sizeof(commit));
		assert_int_equal(commit, p.used | c->flags);
		if (c->left >= sizeof(count))
			memcpy(&count, bytes + TAP_PAGE_HEADER + p.used, sizeof(count));
		assert_int_equal(count, c->flags & TAP_PAGE_MISSED_STORED ? c->missed : 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_missed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
