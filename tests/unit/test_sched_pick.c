// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Read the group levels above the picked task from sched_pick records of any byte order and any
 * length. */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "event/defs.h"
#include "analysis/sched_pick.h"
#include "main_of_cases.h"

#define WORDS 7u

static const struct levels_case {
	const char *name;
	unsigned int nr_words; /* in the record, after its fixed part */
	uint32_t loc_at, loc_bytes; /* that the field claims instead; 0: what is right */
	unsigned int want; /* levels */
	/* .is_old: without the field; .is_idle: another class picked */
	bool is_big_endian, is_old, is_idle;
} cases[] = {
	{ "no levels", 0 },
	{ "one level", WORDS, .want = 1 },
	{ "three levels", 3 * WORDS, .want = 3 },
	{ "as many as fit", 8 * WORDS, .want = 8 },
	{ "more than fit", 20 * WORDS, .want = 8 },
	{ "half a level", WORDS + 3, .want = 1 },
	{ "big endian", 2 * WORDS, .want = 2, .is_big_endian = true },
	{ "an array beyond the record", WORDS, .loc_bytes = 2 * WORDS * 8 },
	{ "an array that begins beyond the record", WORDS, .loc_at = 60000,
	  .loc_bytes = WORDS * 8 },
	{ "bytes that are no number", WORDS, .loc_bytes = WORDS * 8 - 1 },
	{ "an old recording", WORDS, .is_old = true },
	{ "another class picked", WORDS, .is_idle = true },
};

static struct tap_format *format_of(const struct levels_case *c)
{
	const struct tap_def *def = tap_def_find("schedtap", "sched_pick");
	bool absent[64] = { false };
	struct tap_buf text = { 0 };
	struct tap_format *fmt = NULL;

	for (unsigned int i = 0; i < def->nr_fields; i++)
		absent[i] = c->is_old && !strcmp(def->fields[i].name, "levels");
	tap_def_format(def, absent, NULL, &text);
	assert_int_equal(
		tap_format_parse("schedtap", text.data, text.len,
				 (struct tap_abi){ .long_size = 8, .big_endian = c->is_big_endian },
				 &fmt, NULL),
		0);
	tap_buf_release(&text);
	return fmt;
}

static void put(const struct levels_case *c, char *at, uint64_t v, uint32_t bytes)
{
	v = c->is_big_endian ? htobe64(v << (64 - 8 * bytes)) : htole64(v);
	memcpy(at, &v, bytes);
}

static void put_field(const struct levels_case *c, char *rec, const struct tap_format *fmt,
		      const char *name, uint64_t v)
{
	const struct tap_field *f = tap_format_field(fmt, name);

	if (f)
		put(c, rec + f->offset, v, f->size);
}

/* Level i: group -i, weight i + 1 times nice 0, V 1000, V - v -i, deadline - v 300, vprot - v 200,
 * slice 700. */
static void check_levels(const struct levels_case *c, const struct tap_sched_pick *p)
{
	assert_int_equal(p->nr_levels, c->want);
	for (unsigned int i = 0; i < c->want; i++) {
		const struct tap_pick_level *l = &p->levels[i];

		assert_int_equal(l->group, -(int)i);
		assert_int_equal(l->weight, (i + 1) << 20);
		assert_int_equal(l->vtime, 1000);
		assert_int_equal(l->v, 1000 + i);
		assert_int_equal(l->deadline, 1300 + i);
		assert_int_equal(l->left_ns, 300 * (i + 1));
		assert_int_equal(l->protected_ns, 200 * (i + 1));
		assert_int_equal(l->slice_ns, 700);
	}
}

static void test_levels(void **state)
{
	const struct levels_case *c = *state;
	struct tap_format *fmt = format_of(c);
	uint32_t fixed = (fmt->min_size + 7) & ~7u, size = fixed + c->nr_words * 8;
	struct tap_pick_level levels[TAP_PICK_LEVELS];
	struct tap_sched_pick_fields fields;
	char *rec = calloc(1, size); /* exactly, so that a sanitizer sees a read beyond it */
	struct tap_sched_pick p;

	assert_non_null(rec);
	assert_true(tap_sched_pick_init(&fields, fmt));
	put_field(c, rec, fmt, "next_pid", 7);
	put_field(c, rec, fmt, "next_weight", c->is_idle ? 0 : 1 << 20);
	put_field(c, rec, fmt, "levels",
		  (c->loc_bytes ?: c->nr_words * 8) << 16 | (c->loc_at ?: fixed));
	for (unsigned int i = 0; i < c->nr_words; i++) {
		unsigned int level = i / WORDS;
		const uint64_t words[WORDS] = {
			-(uint64_t)level,
			(uint64_t)(level + 1) << 20,
			1000,
			-(uint64_t)level,
			300,
			200,
			700,
		};

		put(c, rec + fixed + 8 * i, words[i % WORDS], 8);
	}
	tap_sched_pick_read(&fields,
			    &(const struct tap_event){ .fmt = fmt, .data = rec, .size = size }, &p);
	assert_int_equal(p.nr_levels, 0);
	tap_sched_pick_read_levels(
		&fields, &(const struct tap_event){ .fmt = fmt, .data = rec, .size = size }, levels,
		&p);
	check_levels(c, &p);
	free(rec);
	tap_format_free(fmt);
}

MAIN_OF_CASES(cases, test_levels)
