// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "file/cursor.h"

#define PAGE 128u
#define STAMP 1000u

/* A word of a page: an event's first word, or one that follows it. */
struct word {
	enum { STOP, HEAD, WORD } kind;
	uint32_t type_or_value, delta;
};

#define E(type, delta)                                                                             \
	{                                                                                          \
		HEAD, type, delta                                                                  \
	}
#define W(value)                                                                                   \
	{                                                                                          \
		WORD, value                                                                        \
	}

struct want {
	enum tap_step step;
	uint64_t ts;
	uint32_t size;
};

#define EVENT(ts, size)                                                                            \
	{                                                                                          \
		TAP_STEP_EVENT, ts, size                                                           \
	}
#define END(ts)                                                                                    \
	{                                                                                          \
		TAP_STEP_END, ts                                                                   \
	}
#define DAMAGE(ts)                                                                                 \
	{                                                                                          \
		TAP_STEP_DAMAGE, ts                                                                \
	}

struct walk_case {
	const char *name;
	uint64_t stamp, next_stamp; /* 0: STAMP, not known */
	struct word words[16];
	struct want want[6]; /* up to the END or DAMAGE */
};

static const struct walk_case walk_cases[] = {
	{
		.name = "plain records add their deltas",
		.words = { E(2, 5), W(0), W(0), E(3, 7), W(0), W(0), W(0) },
		.want = { EVENT(1005, 8), EVENT(1012, 12), END(1012) },
	},
	{
		.name = "a length word counts itself and not the first word",
		.words = { E(0, 5), W(16), W(1), W(2), W(3), E(1, 1), W(0) },
		.want = { EVENT(1005, 12), EVENT(1006, 4), END(1006) },
	},
	{
		.name = "a time extend shifts by 27 bits and adds its own delta",
		.words = { E(30, 3), W(2), E(1, 4), W(0) },
		.want = { EVENT(STAMP + (2u << 27) + 7, 4), END(STAMP + (2u << 27) + 7) },
	},
	{
		.name = "an absolute stamp replaces the time",
		.words = { E(31, 9), W(1), E(1, 4), W(0) },
		.want = { EVENT((1u << 27) + 13, 4), END((1u << 27) + 13) },
	},
	{
		.name = "an absolute stamp keeps the top five bits of the time",
		.stamp = (1ULL << 59) + 5,
		.words = { E(31, 9), W(1), E(1, 4), W(0) },
		.want = { EVENT((1ULL << 59) + (1u << 27) + 13, 4),
			  END((1ULL << 59) + (1u << 27) + 13) },
	},
	{
		.name = "an absolute stamp whose 59 bits have wrapped",
		.stamp = (2ULL << 59) - 5,
		.words = { E(31, 9), W(0), E(1, 0), W(0) },
		.want = { EVENT((2ULL << 59) + 9, 4), END((2ULL << 59) + 9) },
	},
	{
		.name = "an absolute stamp far in the past is damage",
		.stamp = 1u << 20,
		.words = { E(31, 9), W(0), E(1, 0), W(0) },
		.want = { DAMAGE(1u << 20) },
	},
	{
		.name = "an absolute stamp that padding overtook keeps the time",
		.words = { E(31, 990), W(0), E(1, 1), W(0) },
		.want = { EVENT(1001, 4), END(1001) },
	},
	{
		.name = "padding with a delta is skipped, and its delta counts",
		.words = { E(29, 5), W(12), W(0), W(0), E(1, 1), W(0) },
		.want = { EVENT(1006, 4), END(1006) },
	},
	{
		.name = "padding without a delta ends the page",
		.words = { E(1, 1), W(0), E(29, 0), W(8), E(1, 1), W(0) },
		.want = { EVENT(1001, 4), END(1001) },
	},
	{
		.name = "an empty page ends at once",
		.want = { END(1000) },
	},
	{
		.name = "a record that reaches over the end is damage",
		.words = { E(1, 1), W(0), E(3, 1), W(0), W(0) },
		.want = { EVENT(1001, 4), DAMAGE(1001) },
	},
	{
		.name = "a length beyond the page is damage",
		.words = { E(0, 1), W(0xfffffffc), W(0) },
		.want = { DAMAGE(1000) },
	},
	{
		.name = "a length of a few bytes more than there are is damage",
		.words = { E(0, 1), W(12), W(0) },
		.want = { DAMAGE(1000) },
	},
	{
		.name = "a length without room for a record's type is damage",
		.words = { E(0, 1), W(4), W(0) },
		.want = { DAMAGE(1000) },
	},
	{
		.name = "a length of zero is damage",
		.words = { E(0, 1), W(0), W(0) },
		.want = { DAMAGE(1000) },
	},
	{
		.name = "padding beyond the page is damage",
		.words = { E(29, 1), W(64), W(0) },
		.want = { DAMAGE(1000) },
	},
	{
		.name = "padding of length zero is damage, not an endless loop",
		.words = { E(29, 1), W(0), W(0) },
		.want = { DAMAGE(1000) },
	},
	{
		.name = "a time extend cut in half is damage",
		.words = { E(30, 1) },
		.want = { DAMAGE(1000) },
	},
	{
		.name = "time extends that overflow are damage",
		.stamp = TAP_CURSOR_MAX_NS - 1,
		.words = { E(30, 1), W(~0u), E(1, 1), W(0) },
		.want = { DAMAGE(TAP_CURSOR_MAX_NS - 1) },
	},
	{
		.name = "a time far after the next page's is damage, and does not move the clock",
		.next_stamp = 2000,
		.words = { E(1, 1), W(0), E(1, 100000), W(0) },
		.want = { EVENT(1001, 4), DAMAGE(1001) },
	},
	{
		.name = "a time that padding drove past the next page's is pulled back",
		.next_stamp = 2000,
		.words = { E(1, 1002), W(0), E(1, 0), W(0) },
		.want = { EVENT(2000, 4), EVENT(2000, 4), END(2000) },
	},
};

static void put_u32(unsigned char *p, uint32_t v, bool big_endian)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> 8 * (big_endian ? 3 - i : i));
}

static void put_long(unsigned char *p, uint64_t v, unsigned int size, bool big_endian)
{
	for (unsigned int i = 0; i < size; i++)
		p[i] = (unsigned char)(v >> 8 * (big_endian ? size - 1 - i : i));
}

static struct tap_page_abi make_abi(bool big_endian, uint8_t commit_size)
{
	return (struct tap_page_abi){
		.page_size = PAGE,
		.data_offset = 8u + commit_size,
		.commit_size = commit_size,
		.big_endian = big_endian,
	};
}

/* Return: bytes used. */
static uint32_t put_words(unsigned char *p, const struct word *words, bool big_endian)
{
	unsigned int n = 0;

	for (; words[n].kind != STOP; n++) {
		uint32_t v = words[n].type_or_value;

		if (words[n].kind == HEAD)
			v = big_endian ? v << 27 | words[n].delta : words[n].delta << 5 | v;
		put_u32(p + 4 * n, v, big_endian);
	}
	return 4 * n;
}

static void walk(const struct walk_case *c, bool big_endian, uint8_t commit_size)
{
	struct tap_page_abi abi = make_abi(big_endian, commit_size);
	unsigned char page[PAGE] = { 0 };
	struct tap_cursor cur = { 0 };
	struct tap_page_head head;
	uint32_t used;

	used = put_words(page + abi.data_offset, c->words, big_endian);
	put_long(page, c->stamp ? c->stamp : STAMP, 8, big_endian);
	put_long(page + 8, used, commit_size, big_endian);
	assert_true(tap_page_parse(&abi, page, &head));
	tap_cursor_open(&cur, &abi, page, &head, c->next_stamp);
	for (const struct want *w = c->want;; w++) {
		enum tap_step step = tap_cursor_step(&cur);

		if (step != w->step || cur.ts != w->ts ||
		    (step == TAP_STEP_EVENT && cur.size != w->size))
			fail_msg("%s (%s endian, commit %u), step %d: got %d at %llu, %u bytes",
				 c->name, big_endian ? "big" : "little", commit_size,
				 (int)(w - c->want), step, (unsigned long long)cur.ts, cur.size);
		if (step != TAP_STEP_EVENT)
			break;
	}
}

static void test_walk(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(walk_cases) / sizeof(*walk_cases); i++)
		for (int big = 0; big < 2; big++)
			for (uint8_t commit = 4; commit <= 8; commit += 4)
				walk(&walk_cases[i], big, commit);
}

struct head_case {
	const char *name;
	uint8_t commit_size;
	uint64_t commit, stored; /* stored: the long after the used bytes */
	bool refused;
	struct tap_page_head want;
};

static const struct head_case head_cases[] = {
	{
		.name = "nothing was missed",
		.commit_size = 8,
		.commit = 16,
		.want = { .used = 16 },
	},
	{
		.name = "missed, without a count: the word after the data is not a count",
		.commit_size = 8,
		.commit = 1u << 31 | 16,
		.stored = 7,
		.want = { .used = 16, .missed = true },
	},
	{
		.name = "missed, with the count after the data",
		.commit_size = 8,
		.commit = 3u << 30 | 16,
		.stored = 0x123456789a,
		.want = { .used = 16, .missed = true, .missed_cnt = 0x123456789a },
	},
	{
		.name = "the flag sign-extended into the upper half",
		.commit_size = 8,
		.commit = 0xffffffff00000000 | 3u << 30 | 16,
		.stored = 7,
		.want = { .used = 16, .missed = true, .missed_cnt = 7 },
	},
	{
		.name = "a 4-byte commit has a 4-byte count",
		.commit_size = 4,
		.commit = 3u << 30 | 16,
		.stored = 7,
		.want = { .used = 16, .missed = true, .missed_cnt = 7 },
	},
	{
		.name = "a count without the flag is none",
		.commit_size = 8,
		.commit = 1u << 30 | 16,
		.stored = 7,
		.want = { .used = 16 },
	},
	{
		.name = "a full page has no room for the count",
		.commit_size = 8,
		.commit = 3u << 30 | (PAGE - 16),
		.want = { .used = PAGE - 16, .missed = true },
	},
	{
		.name = "the bits between the size and the flags are not the size's",
		.commit_size = 8,
		.commit = 3u << 27 | 16,
		.want = { .used = 16 },
	},
	{
		.name = "more used than there is",
		.commit_size = 8,
		.commit = PAGE - 15,
		.refused = true,
	},
	{
		.name = "a full 4-byte page is a word larger",
		.commit_size = 4,
		.commit = PAGE - 12,
		.want = { .used = PAGE - 12 },
	},
};

static void test_head(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(head_cases) / sizeof(*head_cases); i++) {
		const struct head_case *c = &head_cases[i / 2];
		bool big = i & 1, ok;
		struct tap_page_abi abi = make_abi(big, c->commit_size);
		unsigned char page[PAGE] = { 0 };
		struct tap_page_head head;

		put_long(page, STAMP, 8, big);
		put_long(page + 8, c->commit, c->commit_size, big);
		if (c->stored)
			put_long(page + abi.data_offset + c->want.used, c->stored, c->commit_size,
				 big);
		ok = tap_page_parse(&abi, page, &head);
		if (ok == c->refused)
			fail_msg("%s: %s", c->name, ok ? "accepted" : "refused");
		if (ok && (head.stamp != STAMP || head.used != c->want.used ||
			   head.missed != c->want.missed || head.missed_cnt != c->want.missed_cnt))
			fail_msg("%s: stamp %llu used %u missed %d count %llu", c->name,
				 (unsigned long long)head.stamp, head.used, head.missed,
				 (unsigned long long)head.missed_cnt);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_head),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
