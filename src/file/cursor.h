/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walking ftrace sub-buffers ("pages"), the reading side of page.h: any byte order, 4- or 8-byte
 * commit words, any page size. A page is opened with tap_cursor_open(); then each step gives the
 * next record with its absolute time. What is impossible ends the page as damaged.
 */
#ifndef TAP_FILE_CURSOR_H
#define TAP_FILE_CURSOR_H

#include "file/dat_bytes.h"
#include "file/page.h"

/*
 * A discarded event becomes padding, and the kernel then makes a time delta of 0 a 1, so that
 * times may run ahead by 1 ns for each. A page has room for a few hundred of them.
 */
#define TAP_CURSOR_SLACK_NS 8192u
#define TAP_CURSOR_MAX_NS ((uint64_t)INT64_MAX) /* later is damage: so no sum of deltas wraps */

/* How the pages of a buffer are laid out. */
struct tap_page_abi {
	uint32_t page_size;
	uint32_t data_offset; /* 12 or 16 */
	uint8_t commit_size; /* 4 or 8: a long of the kernel */
	bool big_endian;
};

struct tap_page_head {
	uint64_t stamp;
	uint32_t used; /* bytes of events */
	bool missed; /* events were lost before this page */
	uint64_t missed_cnt; /* 0: not known */
};

struct tap_cursor {
	const unsigned char *at, *end; /* what is left of the page */
	uint64_t ts; /* of the record; before the first: of the page */
	uint64_t max_ts; /* no record of this page can be later */
	const unsigned char *rec;
	uint32_t size; /* of the record, at least 4 */
	bool big_endian;
};

enum tap_step {
	TAP_STEP_EVENT,
	TAP_STEP_END,
	TAP_STEP_DAMAGE,
	TAP_STEP_TIME, /* only the time moved (not from tap_cursor_step()) */
};

/*
 * @page: @abi->page_size readable bytes.
 * Return: false if the commit word or the stamp is impossible.
 */
bool tap_page_parse(const struct tap_page_abi *abi, const unsigned char *page,
		    struct tap_page_head *head);

/*
 * Starts a page. Its time is the stamp, or c->ts where that is later: the caller has refused
 * stamps that lie too far back.
 * @next_stamp: of the page behind it; 0: not known.
 */
void tap_cursor_open(struct tap_cursor *c, const struct tap_page_abi *abi,
		     const unsigned char *page, const struct tap_page_head *head,
		     uint64_t next_stamp);

/* Takes an event's first word apart. Return: its type. */
static inline uint32_t tap_cursor_word(const struct tap_cursor *c, uint32_t *delta)
{
	uint32_t word = tap_get_u32(c->at, c->big_endian);

	*delta = c->big_endian ? word & ((1u << TAP_EV_DELTA_BITS) - 1) : word >> 5;
	return c->big_endian ? word >> TAP_EV_DELTA_BITS : word & 31;
}

static inline void tap_cursor_take(struct tap_cursor *c, uint32_t type, uint32_t delta)
{
	c->rec = c->at + 4;
	c->size = 4 * type;
	c->at = c->rec + c->size;
	c->ts += delta;
}

/*
 * Takes the next record if it is what nearly all are: of a short kind, whole, and not late.
 * Return: false where it is not, with nothing moved: tap_cursor_step() then says what is there.
 */
static inline bool tap_cursor_plain(struct tap_cursor *c)
{
	size_t left = (size_t)(c->end - c->at);
	uint32_t type, delta;

	if (__builtin_expect(left < 4, 0))
		return false;
	type = tap_cursor_word(c, &delta);
	if (__builtin_expect(type - 1 >= TAP_EV_DATA_MAX || 4 * type > left - 4 ||
				     c->ts + delta > c->max_ts,
			     0))
		return false;
	tap_cursor_take(c, type, delta);
	return true;
}

/* The next record: c->rec, c->size, c->ts. After damage c->ts is the time before it. */
enum tap_step tap_cursor_step(struct tap_cursor *c);

#endif
