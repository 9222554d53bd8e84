// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "event/format.h"
#include "recording/dat_stream.h"

int tap_unzstd(struct tap_decoder *d, const unsigned char *src, size_t len, unsigned char *dst,
	       size_t size)
{
	if (!d->zstd)
		d->zstd = ZSTD_createDCtx();
	if (!d->zstd)
		return -ENOMEM;
	return ZSTD_decompressDCtx(d->zstd, dst, size, src, len) == size ? 0 : -EINVAL;
}

/* From here to the next event something is missing, and nobody counted it. */
static void note_damage(struct tap_stream *s)
{
	if (!s->gap.flag && !s->gap.damage)
		s->gap.first_ns = s->cur.ts;
	s->gap.damage = true;
}

static void note_missed(struct tap_stream *s, const struct tap_page_head *head)
{
	uint64_t before = s->gap.flag ? s->gap.flag_cnt : 0;

	if (!head->missed)
		return;
	if (!s->gap.flag && !s->gap.damage)
		s->gap.first_ns = s->cur.ts ? s->cur.ts : head->stamp;
	if (!head->missed_cnt || (s->gap.flag && !before) ||
	    __builtin_add_overflow(before, head->missed_cnt, &s->gap.flag_cnt))
		s->gap.flag_cnt = 0;
	s->gap.flag = true;
}

/* Return: the stamp of a page as far as its place in the order goes; 0: it says nothing. */
static uint64_t stamp_at(const struct tap_stream *s, const unsigned char *page)
{
	struct tap_page_head head;

	if ((size_t)(s->pages_end - page) < s->abi.page_size ||
	    !tap_page_parse(&s->abi, page, &head) || !head.used)
		return 0;
	return head.stamp;
}

/*
 * By binary search. The two pages before the first that starts in the window are kept: one may
 * reach into it, the other tells when a loss between them began.
 */
void tap_stream_seek(const struct tap_decoder *d, struct tap_stream *s)
{
	size_t low = 0, high = (size_t)(s->pages_end - s->page) / s->abi.page_size;

	if (!d->from || !high)
		return;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint64_t stamp = stamp_at(s, s->page + mid * s->abi.page_size);

		/* empty pages are at the end, if anywhere */
		if (stamp && stamp < d->from)
			low = mid + 1;
		else
			high = mid;
	}
	s->page += (low > 2 ? low - 2 : 0) * s->abi.page_size;
}

static int grow_chunk(struct tap_stream *s, size_t size)
{
	unsigned char *p;

	if (size <= s->chunk_cap)
		return 0;
	p = realloc(s->chunk, size);
	if (!p)
		return -ENOMEM;
	s->chunk = p;
	s->chunk_cap = size;
	return 0;
}

/* Return: 1 with pages; 0 at the end; -ENOMEM. */
static int next_chunk(struct tap_decoder *d, struct tap_stream *s)
{
	for (; s->nr_chunks; s->nr_chunks--) {
		uint32_t len = tap_bytes_u32(&s->chunks), size = tap_bytes_u32(&s->chunks);
		const unsigned char *src = tap_bytes_take(&s->chunks, len);
		int ret;

		if (!src || size > TAP_CHUNK_MAX_BYTES) {
			/* what follows cannot be found */
			s->cut = true;
			s->nr_chunks = 0;
			return 0;
		}
		ret = grow_chunk(s, size);
		if (!ret)
			ret = tap_unzstd(d, src, len, s->chunk, size);
		if (ret == -ENOMEM)
			return ret;
		if (ret || size % s->abi.page_size)
			note_damage(s);
		if (ret || size < s->abi.page_size)
			continue;
		s->page = s->chunk;
		s->pages_end = s->chunk + size - size % s->abi.page_size;
		s->nr_chunks--;
		tap_stream_seek(d, s);
		return 1;
	}
	return 0;
}

/*
 * Whether a page's stamp can be true. One that is far too late would make all pages behind it
 * look like the past: so where the page behind it is earlier, the one after that decides which
 * of the two is damaged.
 */
static bool stamp_fits(const struct tap_stream *s, uint64_t stamp, uint64_t next)
{
	if (stamp < s->cur.ts)
		return s->cur.ts - stamp <= TAP_CURSOR_SLACK_NS;
	if (!next || next < s->cur.ts || next + TAP_CURSOR_SLACK_NS >= stamp)
		return true;
	return stamp_at(s, s->page + s->abi.page_size) >= stamp;
}

/* Opens the next page that has events. Return: 1; 0 at the end; -ENOMEM. */
static int next_page(struct tap_decoder *d, struct tap_stream *s)
{
	for (;;) {
		const unsigned char *page = s->page;
		struct tap_page_head head;
		uint64_t next;

		if (page == s->pages_end) {
			int ret = next_chunk(d, s);

			if (ret <= 0)
				return ret;
			continue;
		}
		s->page += s->abi.page_size;
		if (!tap_page_parse(&s->abi, page, &head)) {
			note_damage(s);
			continue;
		}
		if (!head.used) {
			note_missed(s, &head);
			continue;
		}
		next = stamp_at(s, s->page);
		if (!stamp_fits(s, head.stamp, next)) {
			note_damage(s);
			continue;
		}
		note_missed(s, &head);
		tap_cursor_open(&s->cur, &s->abi, page, &head, next);
		s->fresh = true;
		return 1;
	}
}

static int add_unknown(struct tap_decoder *d, unsigned int id, struct tap_err *err)
{
	static const char fields[] =
		"format:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
		"\n"
		"print fmt: \"\"\n";
	struct tap_abi abi = { .big_endian = d->big_endian, .long_size = d->long_size };
	struct tap_format *fmt, **grown;
	char text[sizeof(fields) + 32];
	int ret;

	grown = reallocarray(d->unknown, d->nr_unknown + 1, sizeof(*grown));
	if (!grown)
		return tap_err_set(err, -ENOMEM, "out of memory");
	d->unknown = grown;
	snprintf(text, sizeof(text), "name: unknown\nID: %u\n%s", id, fields);
	ret = tap_format_parse("", text, strlen(text), abi, &fmt, err);
	if (ret)
		return ret;
	d->unknown[d->nr_unknown++] = fmt;
	d->slots[id] = (struct tap_slot){ .fmt = fmt, .min_size = fmt->min_size };
	return 0;
}

static bool is_plain(const struct tap_stream *s)
{
	return s->slot->fmt && s->cur.size >= s->slot->min_size;
}

/* The record that is not simply an event of a known format. Sets s->item; NONE: damage. */
static int odd_record(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err)
{
	s->item = TAP_ITEM_NONE;
	if (!s->slot->fmt) {
		int ret = add_unknown(d, (unsigned int)(s->slot - d->slots), err);

		if (ret)
			return ret;
	}
	if (s->slot->kind == TAP_SLOT_LOST) {
		if (s->cur.size >= s->slot->fmt->min_size)
			s->item = TAP_ITEM_LOST;
	} else if (s->cur.size >= s->slot->min_size) {
		s->item = TAP_ITEM_EVENT;
	}
	return 0;
}

/* The first record of a page: now it is known when the loss before it ended. */
static void first_record(struct tap_stream *s)
{
	s->fresh = false;
	if (s->item == TAP_ITEM_LOST)
		s->gap.flag = false; /* the record says the same, and more exactly */
	if (!s->gap.flag && !s->gap.damage)
		return;
	s->behind = s->item;
	s->item = TAP_ITEM_GAP;
}

static bool in_window(const struct tap_decoder *d, const struct tap_stream *s)
{
	return s->cur.ts - d->from <= d->to - d->from;
}

static void finish(struct tap_stream *s)
{
	s->cut = false;
	s->page = s->pages_end = NULL;
	s->nr_chunks = 0;
	s->cur.at = s->cur.end = NULL;
	s->item = TAP_ITEM_NONE;
}

static void tail(struct tap_stream *s)
{
	if (s->cut)
		note_damage(s);
	finish(s);
	if (s->gap.flag || s->gap.damage)
		s->item = TAP_ITEM_TAIL;
}

static uint64_t lost_field(const struct tap_stream *s, const char *name)
{
	return tap_field_u64(tap_format_field(s->slot->fmt, name), s->cur.rec, s->cur.size);
}

/*
 * The item lies outside the window. A loss that began inside still belongs there.
 * Return: whether the stream has its item (or its end) all the same.
 */
static bool outside(const struct tap_decoder *d, struct tap_stream *s)
{
	enum tap_item item = s->item;

	if (s->cur.ts < d->from) {
		s->gap.flag = s->gap.damage = false;
		return false;
	}
	finish(s);
	if ((item == TAP_ITEM_GAP && s->gap.first_ns <= d->to) ||
	    (item == TAP_ITEM_LOST && lost_field(s, "first_ns") <= d->to))
		s->item = item;
	s->behind = TAP_ITEM_NONE;
	return true;
}

/* Return: whether the next item is known already: the event behind a gap. */
static bool leave_gap(struct tap_stream *s)
{
	s->gap.flag = s->gap.damage = false;
	s->item = s->item == TAP_ITEM_GAP ? s->behind : TAP_ITEM_NONE;
	return s->item != TAP_ITEM_NONE;
}

/* Takes the record under the cursor. Return: 1: s->item is set; 0: not wanted; -errno. */
static int take_odd(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err)
{
	if (!is_plain(s)) {
		int ret = odd_record(d, s, err);

		if (ret)
			return ret;
		if (s->item == TAP_ITEM_NONE) {
			note_damage(s);
			s->cur.at = s->cur.end;
			return 0;
		}
	}
	if (s->fresh)
		first_record(s);
	return in_window(d, s) || outside(d, s);
}

int tap_stream_next(struct tap_decoder *d, struct tap_stream *s, struct tap_err *err)
{
	if (__builtin_expect(s->item >= TAP_ITEM_GAP, 0) && leave_gap(s))
		return 0;
	for (;;) {
		enum tap_step step = tap_cursor_step(&s->cur);
		int ret;

		if (__builtin_expect(step == TAP_STEP_EVENT, 1)) {
			s->slot = &d->slots[tap_get_u16(s->cur.rec, s->cur.big_endian)];
			s->item = TAP_ITEM_EVENT;
			if (__builtin_expect(is_plain(s) && !s->fresh && in_window(d, s), 1))
				return 0;
			ret = take_odd(d, s, err);
			if (ret)
				return ret < 0 ? ret : 0;
			continue;
		}
		if (step == TAP_STEP_DAMAGE)
			note_damage(s);
		ret = next_page(d, s);
		if (ret < 0)
			return tap_err_set(err, ret, "out of memory");
		if (!ret) {
			tail(s);
			return 0;
		}
	}
}

void tap_stream_get(const struct tap_stream *s, struct tap_event *ev)
{
	*ev = (struct tap_event){
		.ts_ns = s->cur.ts,
		.cpu = s->cpu,
		.buffer = s->buffer,
	};
	if (__builtin_expect(s->item == TAP_ITEM_EVENT, 1)) {
		ev->fmt = s->slot->fmt;
		ev->data = s->cur.rec;
		ev->size = s->cur.size;
		return;
	}
	if (s->item == TAP_ITEM_LOST) {
		ev->cpu = (int32_t)lost_field(s, "lost_cpu");
		ev->lost.count = lost_field(s, "count");
		ev->lost.first_ns = lost_field(s, "first_ns");
		ev->lost.last_ns = lost_field(s, "last_ns");
	} else {
		ev->lost.count = s->gap.damage ? 0 : s->gap.flag_cnt;
		ev->lost.first_ns = s->gap.first_ns;
		ev->lost.last_ns = s->cur.ts;
	}
	if (ev->cpu < -1)
		ev->cpu = -1;
	if (ev->lost.first_ns > ev->lost.last_ns)
		ev->lost.first_ns = ev->lost.last_ns;
}

void tap_stream_release(struct tap_stream *s)
{
	free(s->chunk);
}

void tap_decoder_release(struct tap_decoder *d)
{
	for (unsigned int i = 0; i < d->nr_unknown; i++)
		tap_format_free(d->unknown[i]);
	free(d->unknown);
	free(d->slots);
	ZSTD_freeDCtx(d->zstd);
}
