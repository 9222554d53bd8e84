// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/cursor.h"

/*
 * An absolute time stamp (RINGBUF_TYPE_TIME_STAMP) has 59 bits; the upper bits are those of the
 * previous time.
 */
#define STAMP_BITS 59

bool tap_page_parse(const struct tap_page_abi *abi, const unsigned char *page,
		    struct tap_page_head *head)
{
	const unsigned char *word = page + 8, *after;
	uint64_t commit;

	/*
	 * Use only the low half of an 8-byte word: v6.18 sign-extends the flag into the upper half.
	 */
	commit = abi->commit_size == 4 ? tap_get_u32(word, abi->big_endian)
				       : tap_get_u64(word, abi->big_endian);
	*head = (struct tap_page_head){
		.stamp = tap_get_u64(page, abi->big_endian),
		.used = (uint32_t)commit & TAP_PAGE_COMMIT_MASK,
		.missed = commit & TAP_PAGE_MISSED,
	};
	if (head->used > abi->page_size - abi->data_offset || head->stamp > TAP_CURSOR_MAX_NS)
		return false;
	after = page + abi->data_offset + head->used;
	if (head->missed && commit & TAP_PAGE_MISSED_STORED &&
	    (size_t)(page + abi->page_size - after) >= abi->commit_size)
		head->missed_cnt = abi->commit_size == 4 ? tap_get_u32(after, abi->big_endian)
							 : tap_get_u64(after, abi->big_endian);
	return true;
}

void tap_cursor_open(struct tap_cursor *c, const struct tap_page_abi *abi,
		     const unsigned char *page, const struct tap_page_head *head,
		     uint64_t next_stamp)
{
	c->at = page + abi->data_offset;
	c->end = c->at + head->used;
	c->big_endian = abi->big_endian;
	c->ts = head->stamp > c->ts ? head->stamp : c->ts;
	c->max_ts = next_stamp >= c->ts ? next_stamp : TAP_CURSOR_MAX_NS;
}

static enum tap_step long_record(struct tap_cursor *c, uint32_t len, uint32_t delta)
{
	/*
	 * The length includes its own word, is a multiple of 4, and a record contains at least its
	 * id.
	 */
	if (len < 8 || len & 3 || len > (size_t)(c->end - c->at) - 4)
		return TAP_STEP_DAMAGE;
	c->rec = c->at + 8;
	c->size = len - 4;
	c->at += 4 + len;
	c->ts += delta;
	return TAP_STEP_EVENT;
}

static enum tap_step skip_padding(struct tap_cursor *c, uint32_t len, uint32_t delta)
{
	if (len < 4 || len > (size_t)(c->end - c->at) - 4)
		return TAP_STEP_DAMAGE;
	c->at += 4 + len;
	c->ts += delta;
	return TAP_STEP_TIME;
}

static enum tap_step take_absolute_time(struct tap_cursor *c, uint64_t stamp)
{
	uint64_t high = c->ts >> STAMP_BITS << STAMP_BITS, ts = high | stamp;

	if (ts < c->ts && high && c->ts - ts > (uint64_t)1 << (STAMP_BITS - 1))
		ts += (uint64_t)1 << STAMP_BITS; /* the 59 bits have wrapped */
	if (ts < c->ts) {
		if (c->ts - ts > TAP_CURSOR_SLACK_NS)
			return TAP_STEP_DAMAGE;
		ts = c->ts;
	}
	c->at += 8;
	c->ts = ts;
	return TAP_STEP_TIME;
}

/* Take a word that is not a short data record: type_len 0, or above TAP_EV_DATA_MAX. */
static enum tap_step take_special(struct tap_cursor *c, uint32_t type, uint32_t delta)
{
	size_t left = (size_t)(c->end - c->at);
	uint64_t high;
	uint32_t word;

	if (type == TAP_EV_PADDING && !delta) {
		c->at = c->end;
		return TAP_STEP_END;
	}
	if (left < 8)
		return TAP_STEP_DAMAGE;
	word = tap_get_u32(c->at + 4, c->big_endian);
	high = (uint64_t)word << TAP_EV_DELTA_BITS;
	switch (type) {
	case 0:
		return long_record(c, word, delta);
	case TAP_EV_PADDING:
		return skip_padding(c, word, delta);
	case TAP_EV_TIME_EXTEND:
		c->at += 8;
		if (__builtin_add_overflow(c->ts, high + delta, &c->ts))
			return TAP_STEP_DAMAGE;
		return TAP_STEP_TIME;
	default: /* TAP_EV_TIME_STAMP, the only remaining 5-bit value */
		return take_absolute_time(c, high + delta);
	}
}

/* Take whatever tap_cursor_plain() has refused. */
static enum tap_step take_unusual(struct tap_cursor *c)
{
	size_t left = (size_t)(c->end - c->at);
	uint32_t type, delta;

	if (left < 4)
		return left ? TAP_STEP_DAMAGE : TAP_STEP_END;
	type = tap_cursor_word(c, &delta);
	if (type - 1 >= TAP_EV_DATA_MAX)
		return take_special(c, type, delta);
	if (4 * type > left - 4)
		return TAP_STEP_DAMAGE;
	tap_cursor_take(c, type, delta);
	return TAP_STEP_EVENT;
}

/* Reduce a time after c->max_ts to it if the difference is within TAP_CURSOR_SLACK_NS. */
static enum tap_step check_late(struct tap_cursor *c)
{
	if (c->ts <= c->max_ts)
		return TAP_STEP_EVENT;
	if (c->ts - c->max_ts > TAP_CURSOR_SLACK_NS)
		return TAP_STEP_DAMAGE;
	c->ts = c->max_ts;
	return TAP_STEP_EVENT;
}

enum tap_step tap_cursor_step(struct tap_cursor *c)
{
	uint64_t before = c->ts;
	enum tap_step step = TAP_STEP_TIME;

	while (step == TAP_STEP_TIME)
		step = tap_cursor_plain(c) ? TAP_STEP_EVENT : take_unusual(c);
	if (step == TAP_STEP_EVENT)
		step = check_late(c);
	if (step == TAP_STEP_DAMAGE)
		c->ts = before;
	return step;
}
