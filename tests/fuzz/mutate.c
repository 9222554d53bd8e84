// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mutate.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a scan notes ---- */

void scan_piece(struct scan *s, enum piece_kind kind, size_t at, size_t len, size_t unit)
{
	if (s->nr_pieces < MAX_PIECES && at <= s->len && len <= s->len - at)
		s->pieces[s->nr_pieces++] = (struct piece){ kind, at, len, unit };
}

static void add_number(struct scan *s, const struct number *n)
{
	if (s->nr_numbers < MAX_NUMBERS && n->at <= s->len && n->size <= s->len - n->at)
		s->numbers[s->nr_numbers++] = *n;
}

void scan_value(struct scan *s, enum piece_kind kind, size_t at, size_t size)
{
	add_number(s, &(struct number){ kind, VALUE, at, size });
}

void scan_length(struct scan *s, enum piece_kind kind, size_t at, size_t size, size_t from,
		 size_t to, size_t unit)
{
	add_number(s, &(struct number){ kind, LENGTH, at, size, from, to, unit });
}

void scan_offset(struct scan *s, enum piece_kind kind, size_t at, size_t size, size_t from)
{
	add_number(s, &(struct number){ kind, OFFSET, at, size, from });
}

uint64_t scan_get(const struct scan *s, size_t at, size_t size)
{
	uint64_t v = 0;

	if (at <= s->len && size <= s->len - at)
		memcpy(&v, s->data + at, size);
	return v;
}

static void put(struct scan *s, const struct number *n, uint64_t v)
{
	memcpy(s->data + n->at, &v, n->size);
}

/* ---- bytes that come and go ---- */

/* Where what was at @was is when @drop bytes at @at have become @add. */
static size_t moved(size_t was, size_t at, size_t drop, size_t add)
{
	return was < at + drop || was < at ? was : was - drop + add;
}

static void adjust(struct scan *s, struct number *n, size_t at, size_t drop, size_t add)
{
	uint64_t v;

	if (n->at + n->size > at && n->at < at + drop)
		n->size = 0;
	if (n->at >= at + drop)
		n->at = moved(n->at, at, drop, add);
	if (!n->size || n->means == VALUE)
		return;
	v = scan_get(s, n->at, n->size);
	if (n->means == LENGTH && n->from <= at && at + drop <= n->to && at < n->to) {
		n->to += add - drop;
		put(s, n, v + (add - drop) / n->unit);
	} else if (n->means == LENGTH && n->from > at) {
		n->from = moved(n->from, at, drop, add);
		n->to = moved(n->to, at, drop, add);
	} else if (n->means == OFFSET && v + n->from > at) {
		put(s, n, v - drop + add);
	}
	if (n->means == OFFSET && n->from > at)
		n->from = moved(n->from, at, drop, add);
}

/* Puts @add bytes in the place of @drop. Return: false: there is no room. */
static bool splice(struct scan *s, size_t at, size_t drop, const unsigned char *bytes, size_t add)
{
	if (s->len - drop + add > s->max)
		return false;
	memmove(s->data + at + add, s->data + at + drop, s->len - at - drop);
	if (add)
		memcpy(s->data + at, bytes, add);
	s->len += add - drop;
	for (unsigned int i = 0; i < s->nr_numbers; i++)
		adjust(s, &s->numbers[i], at, drop, add);
	return true;
}

/* splice() for all pieces: a sub-buffer keeps its size, its end is cut off or filled with zeros. */
static void replace(struct scan *s, size_t at, size_t drop, const unsigned char *bytes, size_t add)
{
	static const unsigned char zeros[65536];
	size_t end = 0, more = drop > add ? drop - add : 0, less = add > drop ? add - drop : 0;

	for (unsigned int i = 0; i < s->nr_pieces; i++)
		if (s->pieces[i].kind == PAGE && s->pieces[i].at < at &&
		    at + drop <= s->pieces[i].at + s->pieces[i].len)
			end = s->pieces[i].at + s->pieces[i].len;
	if (end && less > end - at - drop)
		return;
	if (end && less)
		splice(s, end - less, less, NULL, 0);
	if (splice(s, at, drop, bytes, add) && end && more && more <= sizeof(zeros))
		splice(s, end - more, 0, zeros, more);
}

/* ---- changes ---- */

static unsigned int pick(unsigned int *seed, size_t nr)
{
	return nr ? (unsigned int)rand_r(seed) % (unsigned int)nr : 0;
}

/* Most changes of sections and options make a recording that is refused. */
static enum piece_kind pick_kind(unsigned int *seed)
{
	static const enum piece_kind kinds[] = {
		SECTION, OPTION, CPU_DATA, CPU_DATA, FORMAT,	     PAGE,	PAGE,
		RECORD,	 RECORD, RECORD,   RECORD,   FILE_IN_FOLDER, FILE_NAME, OTHER,
	};

	return kinds[pick(seed, sizeof(kinds) / sizeof(*kinds))];
}

/* Return: NULL: there is none. */
static const struct piece *pick_piece(const struct scan *s, unsigned int *seed)
{
	for (unsigned int tries = 0; s->nr_pieces && tries < 64; tries++) {
		enum piece_kind kind = pick_kind(seed);
		unsigned int first = pick(seed, s->nr_pieces);

		for (unsigned int i = 0; i < s->nr_pieces; i++) {
			const struct piece *p = &s->pieces[(first + i) % s->nr_pieces];

			if (p->kind == kind)
				return p;
		}
	}
	return NULL;
}

static const struct piece *pick_other(const struct scan *s, const struct piece *p,
				      unsigned int *seed)
{
	unsigned int first = pick(seed, s->nr_pieces);

	for (unsigned int i = 0; i < s->nr_pieces; i++) {
		const struct piece *other = &s->pieces[(first + i) % s->nr_pieces];

		if (other->kind == p->kind && other != p)
			return other;
	}
	return p;
}

static void swap_pieces(struct scan *s, const struct piece *a, const struct piece *b)
{
	for (size_t i = 0; a->len == b->len && i < a->len; i++) {
		unsigned char byte = s->data[a->at + i];

		s->data[a->at + i] = s->data[b->at + i];
		s->data[b->at + i] = byte;
	}
}

static void change_piece(struct scan *s, unsigned int *seed)
{
	const struct piece *p = pick_piece(s, seed), *other = p ? pick_other(s, p, seed) : NULL;
	unsigned char *copy = p ? malloc(2 * s->max + 1) : NULL;
	size_t len, units;

	if (!copy)
		return;
	len = p->len;
	units = len / p->unit;
	memcpy(copy, s->data + p->at, len);
	switch (pick(seed, 6)) {
	case 0: /* it goes */
		replace(s, p->at, len, NULL, 0);
		break;
	case 1: /* it is there twice */
		replace(s, other->at, 0, copy, len);
		break;
	case 2:
		if (len == other->len)
			swap_pieces(s, p, other);
		else
			replace(s, other->at, other->len, copy, len);
		break;
	case 3: /* its end is cut */
		len = pick(seed, units) * p->unit;
		replace(s, p->at + len, p->len - len, NULL, 0);
		break;
	case 4: /* its beginning follows it, as a part of it */
		len = pick(seed, units) * p->unit;
		replace(s, p->at + p->len - p->unit * !!units, 0, copy, len);
		break;
	case 5:
		if (units)
			len = LLVMFuzzerMutate(copy, len, p->unit > 1 ? len : 2 * len);
		replace(s, p->at, p->len, copy, len);
		break;
	}
	free(copy);
}

static uint64_t boundary(unsigned int *seed, size_t size)
{
	static const uint64_t edges[] = { 0,
					  1,
					  7,
					  8,
					  255,
					  256,
					  4095,
					  4096,
					  0x7fff,
					  0x8000,
					  0xffff,
					  0x10000,
					  1u << 27,
					  INT32_MAX,
					  UINT32_MAX,
					  INT64_MAX,
					  (uint64_t)INT64_MAX + 1,
					  UINT64_MAX };
	uint64_t v = edges[pick(seed, sizeof(edges) / sizeof(*edges))];

	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

/* An offset that becomes another one's makes two ranges overlap. */
static void change_number(struct scan *s, unsigned int *seed)
{
	enum piece_kind kind = pick_kind(seed);
	unsigned int first = pick(seed, s->nr_numbers), other = pick(seed, s->nr_numbers);

	for (unsigned int i = 0; i < s->nr_numbers; i++) {
		const struct number *n = &s->numbers[(first + i) % s->nr_numbers],
				    *from = &s->numbers[(other + i) % s->nr_numbers];
		uint64_t v = scan_get(s, n->at, n->size);

		if (n->kind != kind && i < s->nr_numbers - 1) /* the last one is of any kind */
			continue;
		for (unsigned int k = 0;
		     k < 64 &&
		     (from->kind != n->kind || from->means != n->means || from->size != n->size);
		     k++)
			from = &s->numbers[(other + i + k) % s->nr_numbers];
		switch (pick(seed, 4)) {
		case 0:
			put(s, n, boundary(seed, n->size));
			return;
		case 1:
			put(s, n, v + pick(seed, 17) - 8);
			return;
		case 2:
			put(s, n, v ^ 1ull << pick(seed, 8 * n->size));
			return;
		case 3:
			put(s, n, scan_get(s, from->at, from->size));
			return;
		}
	}
}

void mutate(struct scan *s, unsigned int seed)
{
	unsigned int how = pick(&seed, 8);

	if (!s->nr_pieces || how == 7)
		s->len = LLVMFuzzerMutate(s->data, s->len, s->max);
	else if (how < 4)
		change_piece(s, &seed);
	else
		change_number(s, &seed);
}
