// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

#include "file/cursor.h"
#include "file/cut.h"

#define MAX_PAGES 8u
#define LEN(table) (sizeof(table) / sizeof(*(table)))

static const struct tap_page_abi abi = { .page_size = TAP_PAGE_SIZE,
					 .data_offset = TAP_PAGE_HEADER,
					 .commit_size = 8,
					 .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

/* Events of one CPU: the n-th is @step_ns after the one before, and its payload is n. */
struct cut_case {
	const char *name;
	unsigned int nr;
	uint64_t step_ns;
	uint64_t missed; /* before the first page */
	unsigned int at; /* the first event after the cut */
	bool between; /* the cut is just after the event before it, instead of at its time */
};

static const struct cut_case cases[] = {
	{ "all are earlier", 5, 10, 0, 5, false },
	{ "all are later", 5, 10, 0, 0, false },
	{ "within a page, at an event", 5, 10, 0, 2, false },
	{ "within a page, between events", 5, 10, 0, 2, true },
	{ "only the last is later", 5, 10, 0, 4, false },
	{ "deltas that need two words", 5, 1ull << 40, 0, 3, false },
	{ "equal times", 5, 0, 0, 0, false },
	{ "losses stay with what follows them", 5, 10, 7, 2, false },
	{ "losses before all that is later", 5, 10, 7, 0, false },
	{ "the second of three pages", 600, 10, 0, 300, false },
	{ "a full page with losses", 600, 10, 3, 1, true },
};

static uint64_t time_of(const struct cut_case *c, unsigned int n)
{
	return 1000 + n * c->step_ns;
}

static uint64_t cut_of(const struct cut_case *c)
{
	return c->between ? time_of(c, c->at - 1) + 1 : time_of(c, c->at);
}

/* Return: bytes of pages. */
static size_t make_pages(const struct cut_case *c, unsigned char *pages)
{
	struct tap_page page;
	unsigned char *to, *at = pages;

	tap_page_begin(&page, at, time_of(c, 0));
	for (uint32_t n = 0; n < c->nr; n++) {
		to = tap_page_add(&page, time_of(c, n), 12);
		if (!to) {
			tap_page_end(&page, at == pages ? c->missed : 0);
			at += TAP_PAGE_SIZE;
			tap_page_begin(&page, at, time_of(c, n));
			to = tap_page_add(&page, time_of(c, n), 12);
		}
		memset(to, 0, 12);
		memcpy(to, &n, sizeof(n));
	}
	tap_page_end(&page, at == pages ? c->missed : 0);
	return (size_t)(at - pages) + TAP_PAGE_SIZE;
}

/* Check that the pages have the events from @n on. Return: the number of the next one. */
static unsigned int check_pages(const struct cut_case *c, const unsigned char *pages, size_t len,
				unsigned int n, unsigned int *missed)
{
	struct tap_cursor cursor = { 0 };
	struct tap_page_head head;
	uint32_t value;

	for (size_t at = 0; at < len; at += TAP_PAGE_SIZE) {
		assert_true(tap_page_parse(&abi, pages + at, &head));
		*missed += head.missed;
		if (head.missed_cnt) /* a full page had no room for it */
			assert_int_equal(head.missed_cnt, c->missed);
		tap_cursor_open(&cursor, &abi, pages + at, &head, 0);
		while (tap_cursor_step(&cursor) == TAP_STEP_EVENT) {
			memcpy(&value, cursor.rec, sizeof(value));
			assert_int_equal(value, n);
			assert_int_equal(cursor.ts, time_of(c, n));
			n++;
		}
	}
	return n;
}

static void cuts(void **state)
{
	unsigned char *pages = malloc(MAX_PAGES * TAP_PAGE_SIZE), first[TAP_PAGE_SIZE];

	(void)state;
	assert_non_null(pages);
	for (size_t i = 0; i < LEN(cases); i++) {
		const struct cut_case *c = &cases[i];
		size_t len = make_pages(c, pages), whole;
		unsigned int n, missed = 0, missed_later = 0;
		bool is_split;

		print_message("%s\n", c->name);
		whole = tap_cut_pages(pages, len, TAP_PAGE_SIZE, cut_of(c), first, &is_split);
		n = check_pages(c, pages, whole, 0, &missed);
		if (is_split)
			n = check_pages(c, first, TAP_PAGE_SIZE, n, &missed);
		assert_int_equal(n, c->at);
		n = check_pages(c, pages + whole, len - whole, n, &missed_later);
		assert_int_equal(n, c->nr);
		assert_int_equal(missed, c->at && c->missed);
		assert_int_equal(missed_later, !c->at && c->missed);
	}
	free(pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(cuts) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("cut", tests, NULL, NULL);
}
