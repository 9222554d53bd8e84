// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "file/follow.h"
#include "growing_spool.h"

static bool in_place; /* pages are read where they are held */

static void open_follow(const struct growing *g, struct tap_follow **f)
{
	struct tap_err err;

	assert_int_equal(tap_follow_open(g->path, g->held, in_place, f, &err), 0);
}

static void note(struct tap_follow *f)
{
	assert_int_equal(tap_follow_note(f, NULL), 0);
}

/* " TS/CPU" of each event, " TS/CPU-FIRST" of each loss. */
static void check(struct tap_follow *f, uint64_t until_ns, const char *want)
{
	const struct tap_event *const *events;
	struct tap_buf got = { 0 };
	int nr;

	while ((nr = tap_follow_batch(f, until_ns, &events, NULL)) > 0) {
		for (int i = 0; i < nr; i++) {
			tap_buf_printf(&got, " %d/%d", (int)events[i]->ts_ns, events[i]->cpu);
			if (!events[i]->fmt)
				tap_buf_printf(&got, "-%d", (int)events[i]->lost.first_ns);
		}
	}
	assert_int_equal(nr, 0);
	assert_string_equal(tap_buf_str(&got), want);
	tap_buf_release(&got);
}

static void test_order(void **state)
{
	struct tap_follow *f;
	struct growing g;

	(void)state;
	growing_make(&g);
	growing_steps(&g, "10 1 exit 1; 12 0 exit 1; 12 1 exit 1; 20 0 exit 1");
	growing_flush(&g);
	open_follow(&g, &f);
	check(f, 100, ""); /* not noted yet */
	note(f);
	check(f, 9, "");
	check(f, 12, " 10/1 12/0 12/1");
	growing_steps(&g, "15 1 exit 1; 16 2 exit 1; 30 1 exit 1"); /* a new file; a page goes on */
	growing_flush(&g);
	/* what is in the file and not noted is not read: it might be half there */
	check(f, 14, "");
	note(f);
	check(f, 20, " 15/1 16/2 20/0");
	growing_end_page(&g, 1);
	growing_steps(&g, "31 1 exit 1");
	growing_flush(&g);
	growing_steps(&g, "32 1 exit 1");
	note(f);
	growing_flush(&g);
	check(f, 100, " 30/1 31/1");
	note(f);
	check(f, 100, " 32/1");
	check(f, 100, "");
	tap_follow_free(f);
	growing_remove(&g);
	steps_release();
}

/* All events, whatever is written when: by a random walk that is the same each time. */
static void test_all_of_many(void **state)
{
	uint64_t random = 12345, ts = 1000, seen = 0, added = 0, last = 0;
	const struct tap_event *const *events;
	struct tap_follow *f;
	struct growing g;
	int nr;

	(void)state;
	growing_make(&g);
	open_follow(&g, &f);
	for (unsigned int i = 0; i < 60000; i++) {
		char line[64];

		random = random * 6364136223846793005u + 1442695040888963407u;
		ts += random >> 60;
		snprintf(line, sizeof(line), "%d %d exit %d", (int)ts, (int)(random >> 40 & 3),
			 1 + (int)(added & 1));
		growing_steps(&g, line);
		added++;
		if (random >> 33 & 63)
			continue;
		growing_flush(&g);
		note(f);
		if (random >> 32 & 1) /* some of the next page is in the file, and not noted */
			growing_steps(&g, line), growing_flush(&g), added++;
		while ((nr = tap_follow_batch(f, ts - 1, &events, NULL)) > 0)
			for (int k = 0; k < nr; k++) {
				assert_non_null(events[k]->fmt);
				assert_true(events[k]->ts_ns >= last && events[k]->ts_ns < ts);
				last = events[k]->ts_ns;
				seen++;
			}
		assert_int_equal(nr, 0);
	}
	growing_flush(&g);
	note(f);
	while ((nr = tap_follow_batch(f, UINT64_MAX, &events, NULL)) > 0)
		seen += (unsigned int)nr;
	assert_int_equal(seen, added);
	tap_follow_free(f);
	growing_remove(&g);
	steps_release();
}

#define SLOT_PAGES ((int)(TAP_HELD_SLOT / TAP_PAGE_SIZE))

/* Pages with one event each, on CPU 0, at @from, @from + 1, ... */
static void make_slots(struct growing *g, int from, int nr)
{
	for (int i = 0; i < nr * SLOT_PAGES; i++) {
		char line[32];

		snprintf(line, sizeof(line), "%d 0 exit 1", from + i);
		growing_steps(g, line);
		growing_end_page(g, 0);
	}
}

/* Check that @nr events come, one per ns from @from on, after a loss if @is_lost. */
static void check_run(struct tap_follow *f, bool is_lost, int from, int nr)
{
	const struct tap_event *const *events;
	int got;

	if (is_lost) {
		assert_int_equal(tap_follow_batch(f, UINT64_MAX - 1, &events, NULL), 1);
		assert_null(events[0]->fmt);
		assert_int_equal(events[0]->ts_ns, from);
	}
	while ((got = tap_follow_batch(f, UINT64_MAX - 1, &events, NULL)) > 0)
		for (int i = 0; i < got; i++, from++, nr--) {
			assert_non_null(events[i]->fmt);
			assert_int_equal(events[i]->ts_ns, from);
		}
	assert_int_equal(got, 0);
	assert_int_equal(nr, 0);
}

static void test_given_back(void **state)
{
	const int one = SLOT_PAGES;
	struct tap_follow *f;
	struct growing g;

	(void)state;
	growing_make(&g);
	growing_hold(&g, 16 * TAP_HELD_SLOT);
	make_slots(&g, 1, 3);
	/* the first one; the second may be needed */
	assert_false(tap_held_give_back(g.held, 1 + 2 * (uint64_t)one, 0));
	open_follow(&g, &f);
	note(f);
	/* what was given back before is none of its business */
	check_run(f, false, 1 + one, 2 * one);
	make_slots(&g, 1 + 3 * one, 1);
	note(f);
	assert_false(tap_held_give_back(g.held, 2 + 3 * (uint64_t)one, 0)); /* all of it was read */
	check_run(f, false, 1 + 3 * one, one);
	make_slots(&g, 1 + 4 * one, 3);
	note(f);
	/* of which two slots were not */
	assert_false(tap_held_give_back(g.held, 2 + 6 * (uint64_t)one, 0));
	check_run(f, true, 1 + 6 * one, one);
	make_slots(&g, 1 + 7 * one, 1);
	note(f);
	check_run(f, false, 1 + 7 * one, one);
	tap_follow_free(f);
	growing_remove(&g);
	steps_release();
}

/* A lane that appears while its recording is followed is read from its beginning: pages given back
 * before that are reported as lost. */
static void test_given_back_at_once(void **state)
{
	struct tap_held_lane *lane;
	struct tap_follow *f;
	struct growing g;

	(void)state;
	growing_make(&g);
	assert_int_equal(tap_held_new(16 * TAP_HELD_SLOT, &g.held), 0);
	open_follow(&g, &f);
	lane = tap_held_add(g.held, 0, 0, TAP_PAGE_SIZE);
	g.cpus[0].lane = lane;
	make_slots(&g, 1, 2);
	assert_false(tap_held_give_back(g.held, 2 + (uint64_t)SLOT_PAGES, 0));
	note(f);
	check_run(f, true, 1 + SLOT_PAGES, SLOT_PAGES);
	tap_follow_free(f);
	growing_remove(&g);
	steps_release();
}

/* Events held in memory are merged by time, up to the time that was noted, like those of page
 * files. */
static void test_held(void **state)
{
	struct tap_follow *f;
	struct growing g;

	(void)state;
	growing_make(&g);
	growing_hold(&g, TAP_HELD_SLOT);
	open_follow(&g, &f);
	growing_steps(&g, "10 1 exit 1; 12 0 exit 1; 12 1 exit 1; 20 0 exit 1");
	growing_flush(&g);
	check(f, 100, "");
	note(f);
	check(f, 12, " 10/1 12/0 12/1");
	growing_steps(&g, "15 1 exit 1; 16 2 exit 1; 30 1 exit 1");
	growing_flush(&g);
	note(f);
	check(f, 30, " 15/1 16/2 20/0 30/1");
	tap_follow_free(f);
	growing_remove(&g);
	steps_release();
}

/* Memory that a reader in place has not read yet is given back only later. */
static void test_in_place(void **state)
{
	const struct tap_event *const *events;
	const int one = SLOT_PAGES;
	struct tap_follow *f;
	struct growing g;
	int nr, read = 0;

	(void)state;
	growing_make(&g);
	growing_hold(&g, 16 * TAP_HELD_SLOT);
	in_place = true;
	open_follow(&g, &f);
	in_place = false;
	make_slots(&g, 1, 4);
	note(f);
	while ((nr = tap_follow_batch(f, (uint64_t)one + 5, &events, NULL)) > 0)
		read += nr;
	assert_int_equal(read, one + 5);
	tap_held_give_back(g.held, UINT64_MAX, 0);
	assert_int_equal(g.cpus[0].lane->begin, TAP_HELD_SLOT);
	check_run(f, false, 1 + one + 5, 3 * one - 5);
	tap_held_give_back(g.held, UINT64_MAX, 0);
	assert_int_equal(g.cpus[0].lane->begin, 3 * TAP_HELD_SLOT);
	make_slots(&g, 1 + 4 * one, 2);
	note(f);
	check_run(f, false, 1 + 4 * one, 2 * one);
	tap_follow_free(f);
	growing_remove(&g);
	steps_release();
}

static void test_losses(void **state)
{
	struct tap_follow *f;
	struct growing g;

	(void)state;
	growing_make(&g);
	open_follow(&g, &f);
	growing_steps(&g, "10 0 exit 1; 25 0 lost 15 3; 30 0 exit 1; 20 1 exit 1; 40 1 exit 1");
	growing_flush(&g);
	note(f);
	check(f, 50, " 10/0 20/1 25/0-15 30/0 40/1");
	tap_follow_free(f);
	growing_remove(&g);
	steps_release();
}

static uint16_t mark_switches(void *asked, const struct tap_format *fmt)
{
	++*(unsigned int *)asked;
	return strcmp(fmt->name, "sched_switch") ? 0 : 9;
}

/* Kinds that are not wanted are passed over; and those that a new head brings are asked about. */
static void test_new_formats(void **state)
{
	const struct tap_event *const *events;
	struct tap_spool *s = NULL;
	struct tap_follow *f;
	unsigned int nr, asked = 0;
	struct growing g;

	(void)state;
	growing_make(&g);
	tmp_remove(&g.dir);
	tmp_make(&g.dir);
	growing_set_head(&g, 1, &s);
	snprintf(g.path, sizeof(g.path), "%s", tmp_at(&g.dir, "x.dat.spool"));
	open_follow(&g, &f);
	tap_follow_mark(f, mark_switches, &asked);
	assert_int_equal(asked, 1);
	note(f);
	check(f, 5, "");
	growing_set_head(&g, 8, &s);
	growing_steps(&g, "10 0 exit 1; 20 0 switch 1 S 2; 30 0 waking 1 by 2");
	growing_flush(&g);
	note(f);
	assert_int_equal(tap_follow_batch(f, 100, &events, NULL), 1);
	assert_int_equal(events[0]->mark, 9);
	assert_int_equal(events[0]->ts_ns, 20);
	check(f, 100, "");
	tap_follow_formats(f, &nr);
	assert_int_equal(nr, 8);
	assert_int_equal(asked, 9);
	tap_spool_free(s);
	tap_follow_free(f);
	growing_remove(&g);
	steps_release();
}

static void test_refused(void **state)
{
	struct tap_err err = { 0 };
	struct tap_follow *f;
	struct growing g;

	(void)state;
	growing_make(&g);
	tmp_write(&g.dir, "x.dat.spool/0.schedtap.mono.4096.cpu0.zstd", "", 0);
	assert_int_equal(tap_follow_open(g.path, NULL, false, &f, &err), -EOPNOTSUPP);
	assert_null(f);
	assert_non_null(strstr(err.text, "compressed"));
	assert_int_equal(tap_follow_open("/nowhere/at/all", NULL, false, &f, &err), -ENOENT);
	growing_remove(&g);
	steps_release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	   cmocka_unit_test(test_all_of_many),
		cmocka_unit_test(test_given_back), cmocka_unit_test(test_given_back_at_once),
		cmocka_unit_test(test_held),	   cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_losses),	   cmocka_unit_test(test_new_formats),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("follow", tests, NULL, NULL);
}
