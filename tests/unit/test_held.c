// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "file/held.h"

#define PAGE 4096u

/* A page is its stamp, all through. */
static void put(struct tap_held *h, struct tap_held_lane *lane, uint64_t stamp)
{
	uint64_t page[PAGE / 8];
	size_t room;
	unsigned char *to = tap_held_room(h, lane, &room);

	for (unsigned int i = 0; i < PAGE / 8; i++)
		page[i] = stamp;
	assert_true(room >= PAGE);
	memcpy(to, page, PAGE);
	tap_held_put(h, lane, PAGE);
}

/* Put one slot's worth of pages, with stamps @from, @from + 1, ... */
static void put_slot(struct tap_held *h, struct tap_held_lane *lane, uint64_t from)
{
	for (uint64_t i = 0; i < TAP_HELD_SLOT / PAGE; i++)
		put(h, lane, from + i);
}

static uint64_t held(const struct tap_held_lane *lane)
{
	return (lane->end - lane->begin) / TAP_HELD_SLOT;
}

/* The pages from @at up to @end are those. */
static void check_to(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t at,
		     uint64_t end, uint64_t stamp)
{
	uint64_t page[PAGE / 8];

	for (; at < end; at += PAGE, stamp++) {
		assert_int_equal(tap_held_read(h, lane, at, page, PAGE), PAGE);
		assert_int_equal(page[0], stamp);
		assert_int_equal(page[PAGE / 8 - 1], stamp);
	}
}

static void check(const struct tap_held *h, const struct tap_held_lane *lane, uint64_t at,
		  uint64_t stamp)
{
	check_to(h, lane, at, lane->end, stamp);
}

/* The oldest of all lanes goes first, and none that may hold what is needed. */
static void test_oldest_first(void **state)
{
	struct tap_held_lane *a, *b;
	struct tap_held *h;

	(void)state;
	assert_int_equal(tap_held_new(16 * TAP_HELD_SLOT, &h), 0);
	a = tap_held_add(h, 0, 0, PAGE);
	b = tap_held_add(h, 0, 1, PAGE);
	assert_ptr_equal(tap_held_find(h, 0, 1), b);
	assert_null(tap_held_find(h, 1, 1));
	for (uint64_t i = 0; i < 4; i++) {
		put_slot(h, a, 1000 * i + 1000);
		put_slot(h, b, 1000 * i + 1500);
	}
	assert_int_equal(tap_held_whole_from(h), 0);
	/* an event at 1999 may be in the slots that began before */
	assert_false(tap_held_give_back(h, 2000, 0));
	assert_int_equal(held(a), 4);
	assert_false(tap_held_give_back(h, 2001, 0));
	assert_int_equal(held(a), 3);
	assert_int_equal(held(b), 4);
	assert_int_equal(tap_held_whole_from(h), 2000);
	assert_false(tap_held_give_back(h, UINT64_MAX, 5 * TAP_HELD_SLOT)); /* two more, of seven */
	assert_int_equal(held(a), 2);
	assert_int_equal(held(b), 3);
	assert_int_equal(tap_held_whole_from(h), 3000);
	/* more is needed than there may be */
	assert_true(tap_held_give_back(h, 3000, 4 * TAP_HELD_SLOT));
	check_to(h, a, a->begin, a->begin + TAP_HELD_SLOT, 3000);
	check(h, a, a->begin + TAP_HELD_SLOT, 4000);
	assert_false(tap_held_give_back(h, UINT64_MAX, 0)); /* what is being filled stays */
	assert_int_equal(held(a), 1);
	assert_int_equal(held(b), 1);
	check(h, a, a->begin, 4000);
	check(h, b, b->begin, 4500);
	tap_held_free(h);
}

/* Slots go round: what is read is what was put there, and what was given back is said to be gone.
 */
static void test_goes_round(void **state)
{
	unsigned char page[2 * PAGE];
	struct tap_held_lane *lane;
	struct tap_held *h;

	(void)state;
	assert_int_equal(tap_held_new(4 * TAP_HELD_SLOT, &h), 0);
	lane = tap_held_add(h, 0, 0, PAGE);
	for (uint64_t i = 0; i < 20000; i++) {
		put(h, lane, 1 + i);
		tap_held_give_back(h, UINT64_MAX, 4 * TAP_HELD_SLOT);
		if (i % 1000 == 999)
			check(h, lane, lane->begin, 1 + lane->begin / PAGE);
	}
	assert_int_equal(tap_held_read(h, lane, lane->begin - PAGE, page, PAGE), 0);
	assert_int_equal(tap_held_read(h, lane, lane->end, page, PAGE), 0);
	assert_int_equal(tap_held_read(h, lane, lane->end - PAGE, page, sizeof(page)), PAGE);
	assert_int_equal(
		tap_held_read(h, lane, lane->begin + TAP_HELD_SLOT - PAGE, page, sizeof(page)),
		PAGE);
	tap_held_free(h);
}

/* Memory stays bounded even if nothing is given back. */
static void test_all_taken(void **state)
{
	struct tap_held_lane *lane, *other;
	struct tap_held *h;
	uint64_t stamp = 1;

	(void)state;
	assert_int_equal(tap_held_new(TAP_HELD_SLOT, &h), 0);
	lane = tap_held_add(h, 0, 0, PAGE);
	other = tap_held_add(h, 0, 1, PAGE);
	put(h, other, stamp);
	for (unsigned int i = 0; i < 100; i++, stamp += TAP_HELD_SLOT / PAGE)
		put_slot(h, lane, stamp);
	assert_true(held(lane) < 30);
	assert_int_equal(tap_held_whole_from(h), 1 + lane->begin / PAGE);
	check(h, lane, lane->begin, 1 + lane->begin / PAGE);
	check(h, other, 0, 1); /* the one that is being filled */
	for (unsigned int i = 2; i < 100; i++) /* each CPU has room, however many there are */
		put_slot(h, tap_held_add(h, 0, i, PAGE), stamp++);
	for (struct tap_held_lane *l = tap_held_lanes(h); l; l = l->next)
		assert_true(l->end - l->begin >= PAGE);
	tap_held_free(h);
}

static void test_since(void **state)
{
	struct tap_held_lane *lane;
	uint64_t from, to;
	struct tap_held *h;

	(void)state;
	assert_int_equal(tap_held_new(4 * TAP_HELD_SLOT, &h), 0);
	lane = tap_held_add(h, 0, 0, PAGE);
	tap_held_since(h, lane, 0, &from, &to);
	assert_int_equal(from, to);
	for (uint64_t stamp = 10; stamp <= 100; stamp += 10)
		put(h, lane, stamp);
	tap_held_since(h, lane, 0, &from, &to);
	assert_int_equal(from, 0);
	assert_int_equal(to, 10 * PAGE);
	tap_held_since(h, lane, 35, &from, &to); /* in the page that begins at 30 */
	assert_int_equal(from, 2 * PAGE);
	tap_held_since(h, lane, 40, &from, &to); /* that one's last may be at 40 as well */
	assert_int_equal(from, 2 * PAGE);
	tap_held_since(h, lane, 1000, &from, &to);
	assert_int_equal(from, 9 * PAGE);
	tap_held_free(h);
}

static void test_refused(void **state)
{
	struct tap_held *h;

	(void)state;
	assert_int_equal(tap_held_new(UINT64_MAX, &h), -12);
	assert_null(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest_first), cmocka_unit_test(test_goes_round),
		cmocka_unit_test(test_all_taken),    cmocka_unit_test(test_since),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
