/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walk the records of an ftrace sub-buffer ("page"), as the kernel or page.h wrote it: any byte
 * order, 4- or 8-byte commit words, any size. tap_cursor_open() starts a sub-buffer; each step then
 * returns the next record with its absolute time. Impossible contents end the sub-buffer as
 * damaged.
 */
#ifndef TAP_FILE_CURSOR_H
#define TAP_FILE_CURSOR_H

#include "file/dat_bytes.h"
#include "file/page.h"

/*
 * The kernel turns a discarded event into padding and its time delta of 0 into 1, so time stamps
 * may run ahead by 1 ns per discarded event. A sub-buffer has room for a few hundred of them.
 */
#define TAP_CURSOR_SLACK_NS 8192u
/* later times are damage; keeps sums of deltas from wrapping */
#define TAP_CURSOR_MAX_NS ((uint64_t)INT64_MAX)

/* Layout of a buffer's sub-buffers. */
struct tap_page_abi {
	uint32_t page_size;
	uint32_t data_offset; /* offset of the events: 12 or 16 bytes */
	uint8_t commit_size; /* 4 or 8: the kernel's sizeof(long) */
	bool big_endian;
};

struct tap_page_head {
	uint64_t stamp;
	uint32_t used; /* bytes of event data */
	bool missed; /* events were lost before this sub-buffer */
	uint64_t missed_cnt; /* number of lost events; 0: unknown */
};

struct tap_cursor {
	const unsigned char *at, *end; /* what remains of the sub-buffer */
	uint64_t ts; /* time of the current record; before the first record, of the sub-buffer */
	uint64_t max_ts; /* upper limit for the times of this sub-buffer's records */
	const unsigned char *rec;
	uint32_t size; /* bytes of .rec, at least 4 */
	bool big_endian;
};

enum tap_step {
	TAP_STEP_EVENT,
	TAP_STEP_END,
	TAP_STEP_DAMAGE,
	TAP_STEP_TIME, /* only the time advanced; tap_cursor_step() never returns this */
};

/*
 * Parse the sub-buffer's header. @page: @abi->page_size readable bytes. Return: false if the commit
 * word or the time stamp is impossible.
 */
bool tap_page_parse(const struct tap_page_abi *abi, const unsigned char *page,
		    struct tap_page_head *head);

/*
 * Start a sub-buffer. Its time is the header's time stamp, or c->ts if that is later; the caller
 * has already refused time stamps that are too early.
 * @next_stamp: time stamp of the following sub-buffer; 0: unknown.
 */
void tap_cursor_open(struct tap_cursor *c, const struct tap_page_abi *abi,
		     const unsigned char *page, const struct tap_page_head *head,
		     uint64_t next_stamp);

/* Split an event's first word into its type (returned) and time delta. */
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
 * Take the next record if it is ordinary, as nearly all are: a short data record, complete, and not
 * after c->max_ts. Return: false if not; the cursor is unchanged then, and tap_cursor_step()
 * determines what is there.
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

/*
 * Advance to the next record: c->rec, c->size, c->ts. After TAP_STEP_DAMAGE, c->ts is the time
 * before the damage.
 */
enum tap_step tap_cursor_step(struct tap_cursor *c);

#endif
