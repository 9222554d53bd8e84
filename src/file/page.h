/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Write ftrace sub-buffers ("pages"): a u64 time stamp, a commit word, then events with time
 * deltas. For backends that receive single records; cursor.h reads sub-buffers. They are always in
 * this machine's byte order, with an 8-byte commit word.
 */
#ifndef TAP_FILE_PAGE_H
#define TAP_FILE_PAGE_H

#include <stdint.h>
#include <string.h>

#define TAP_PAGE_SIZE 4096u
#define TAP_PAGE_HEADER 16u
#define TAP_PAGE_DATA (TAP_PAGE_SIZE - TAP_PAGE_HEADER)

/* Commit word: the number of bytes used, and flags for events lost before this sub-buffer. */
#define TAP_PAGE_COMMIT_MASK 0x07ffffffu
#define TAP_PAGE_MISSED (1u << 31) /* events were lost before this sub-buffer */
#define TAP_PAGE_MISSED_STORED (1u << 30) /* the number of lost events follows the used bytes */

/* Values of type_len, the low 5 bits of an event's first word (struct ring_buffer_event). */
#define TAP_EV_DATA_MAX 28u /* 1..28: payload of 4 * type_len bytes; 0: length in the next word */
#define TAP_EV_PADDING 29u
#define TAP_EV_TIME_EXTEND 30u
#define TAP_EV_TIME_STAMP 31u
#define TAP_EV_DELTA_BITS 27

struct tap_page {
	unsigned char *bytes; /* TAP_PAGE_SIZE bytes, owned by the caller */
	uint32_t used, room; /* bytes of event data; .room: its maximum */
	uint64_t last_ns;
};

/* Start an empty sub-buffer. @ts_ns: its time stamp, at or before its first event. */
static inline void tap_page_begin(struct tap_page *p, unsigned char *bytes, uint64_t ts_ns)
{
	*p = (struct tap_page){ .bytes = bytes, .room = TAP_PAGE_DATA, .last_ns = ts_ns };
	memcpy(bytes, &ts_ns, sizeof(ts_ns));
}

/*
 * Make room for one event of @len payload bytes at @ts_ns, which must not be before the previous
 * event. Return: where to write the payload, zero-padded to 4 bytes; NULL if the sub-buffer is
 * full.
 */
static inline unsigned char *tap_page_add(struct tap_page *p, uint64_t ts_ns, uint32_t len)
{
	unsigned char *at = p->bytes + TAP_PAGE_HEADER + p->used;
	uint64_t delta = ts_ns - p->last_ns;
	uint32_t padded = (len + 3) & ~3u, word, need = 4 + padded;

	need += delta >> TAP_EV_DELTA_BITS ? 8 : 0;
	need += padded > 4 * TAP_EV_DATA_MAX ? 4 : 0;
	if (need > p->room - p->used)
		return NULL;
	p->used += need;
	p->last_ns = ts_ns;
	if (delta >> TAP_EV_DELTA_BITS) {
		uint32_t high = (uint32_t)(delta >> TAP_EV_DELTA_BITS);

		word = (uint32_t)(delta << 5) | TAP_EV_TIME_EXTEND;
		memcpy(at, &word, 4);
		memcpy(at + 4, &high, 4);
		at += 8;
		delta = 0;
	}
	if (padded > 4 * TAP_EV_DATA_MAX) {
		uint32_t total = padded + 4;

		word = (uint32_t)(delta << 5);
		memcpy(at, &word, 4);
		memcpy(at + 4, &total, 4);
		at += 8;
	} else {
		word = (uint32_t)(delta << 5) | padded / 4;
		memcpy(at, &word, 4);
		at += 4;
	}
	if (padded != len)
		memset(at + padded - 4, 0, 4);
	return at;
}

#define TAP_PAGE_MISSED_UNKNOWN UINT64_MAX

/* Finish the sub-buffer. @missed: number of events lost before it, 0, or TAP_PAGE_MISSED_UNKNOWN.
 */
static inline void tap_page_end(struct tap_page *p, uint64_t missed)
{
	unsigned char *end = p->bytes + TAP_PAGE_HEADER + p->used;
	uint32_t left = p->room - p->used;
	uint64_t commit = p->used;

	if (missed) {
		commit |= TAP_PAGE_MISSED;
		if (missed != TAP_PAGE_MISSED_UNKNOWN && left >= sizeof(missed)) {
			commit |= TAP_PAGE_MISSED_STORED;
			memcpy(end, &missed, sizeof(missed));
			end += sizeof(missed);
			left -= (uint32_t)sizeof(missed);
		}
	}
	memset(end, 0, left);
	memcpy(p->bytes + 8, &commit, sizeof(commit));
}

#endif
