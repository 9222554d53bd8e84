// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/text/body.h"

#include "file/text/line.h"
#include "file/text/state.h"
#include "file/text/unescape.h"

#define MAX_STEPS 2000u /* to learn from a line; one that looks like many layouts takes more */
#define MAX_LEARNED_BYTES 4096u

static const char *take_hex(const char *p, const char *end, uint64_t *v)
{
	const char *first = p;

	for (*v = 0; p < end && p - first <= 16; p++) {
		unsigned int c = (unsigned char)*p,
			     digit = c - '0' < 10 ? c - '0' : (c | 32) - 'a' + 10;

		if (digit >= 16 || (c - '0' >= 10 && (c | 32) < 'a'))
			break;
		*v = *v << 4 | digit;
	}
	return p == first || p - first > 16 ? NULL : p;
}

static inline const char *take_number(const char *p, const char *end, unsigned int base,
				      uint64_t *v)
{
	bool is_negative;

	p = tap_line_blanks(p, end); /* "%3d" */
	is_negative = p < end && *p == '-';
	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		return take_hex(p + 2, end, v);
	if (base == 16)
		return take_hex(p, end, v);
	p = tap_line_number(p + is_negative, end, UINT64_MAX, v);
	if (is_negative)
		*v = -*v;
	return p;
}

static const char *take_word(const struct tap_piece *piece, const char *p, const char *end,
			     uint64_t *v)
{
	for (unsigned int i = 0; i < piece->nr_words; i++) {
		const struct span w = piece->words[i].text;

		if ((size_t)(end - p) >= w.len && !memcmp(p, w.s, w.len) &&
		    (p + w.len == end || !is_word(p[w.len]))) {
			*v = piece->words[i].value;
			return p + w.len;
		}
	}
	return take_number(p, end, 10, v);
}

static inline const char *take_value(const struct tap_piece *piece, const char *p, const char *end,
				     struct tap_value *v)
{
	switch (piece->kind) {
	case TAP_PIECE_NUMBER:
		return take_number(p, end, piece->base, &v->number);
	case TAP_PIECE_STATE:
		return tap_state_parse(p, end, false, &v->number);
	case TAP_PIECE_WORD:
		return take_word(piece, p, end, &v->number);
	default:
		while (p < end && *p != ' ')
			p++;
		return p;
	}
}

static inline bool has_before(const struct tap_piece *piece, const char *p, const char *end)
{
	return end - p >= piece->before_len && !memcmp(p, piece->before, piece->before_len);
}

/* Is @p the end of the body, but for blanks? */
static bool is_end(const struct tap_pieces *pieces, const char *p, const char *end)
{
	const size_t len = strlen(pieces->after);

	if (len && (size_t)(end - p) >= len && !memcmp(p, pieces->after, len))
		p += len;
	return tap_line_blanks(p, end) == end;
}

/*
 * Read pieces from @i on up to the value of the next text. Return: the start of that, with *@i its
 * index, or the end of the body; NULL if they do not fit.
 */
static const char *take_run(const struct tap_pieces *pieces, unsigned int *i, const char *p,
			    const char *end, struct tap_value *values)
{
	for (; *i < pieces->nr; ++*i) {
		const struct tap_piece *piece = &pieces->v[*i];

		if (!has_before(piece, p, end))
			return NULL;
		p += piece->before_len;
		if (piece->kind == TAP_PIECE_TEXT)
			return p;
		p = take_value(piece, p, end, &values[*i]);
		if (!p)
			return NULL;
	}
	return is_end(pieces, p, end) ? end : NULL;
}

/* Names have up to 15 bytes, unless they are escaped (unescape.h). */
static inline bool is_too_long(const struct tap_layout *l, unsigned int i, struct span text)
{
	const struct tap_field *f = l->fields[i];

	return f && f->kind == TAP_FIELD_CHARS && text.len >= f->size && !l->is_escaped &&
	       memcmp(text.s, TAP_ARRAY_BEGIN, sizeof(TAP_ARRAY_BEGIN) - 1) != 0;
}

/* The last piece is a text, which has all that is left but for the fixed text after it. */
static bool take_last(const struct tap_layout *l, unsigned int i, const char *p, const char *end,
		      struct tap_value *values)
{
	const size_t after = strlen(l->pieces.after);

	if (after && (size_t)(end - p) >= after && !memcmp(end - after, l->pieces.after, after))
		end -= after;
	values[i].text = (struct span){ p, (size_t)(end - p) };
	return !is_too_long(l, i, values[i].text);
}

bool tap_body_read(const struct tap_layout *l, struct span body,
		   struct tap_value values[TAP_PIECES_MAX])
{
	const struct tap_pieces *pieces = &l->pieces;
	const char *end = body.s + body.len, *p, *at;
	unsigned int i = 0, text;

	p = take_run(pieces, &i, body.s, end, values);
	while (p && i < pieces->nr) {
		const struct tap_piece *next = &pieces->v[i + 1];

		text = i;
		if (text + 1 == pieces->nr)
			return take_last(l, text, p, end, values);
		for (at = p;; at++) {
			const char *rest;

			at = memchr(at, next->before[0], (size_t)(end - at));
			if (!at || is_too_long(l, text, (struct span){ p, (size_t)(at - p) }))
				return false;
			i = text + 1;
			rest = take_run(pieces, &i, at, end, values);
			if (!rest)
				continue;
			values[text].text = (struct span){ p, (size_t)(at - p) };
			p = rest;
			break;
		}
	}
	return p;
}

struct learner {
	struct tap_layout *layout;
	const struct tap_pieces *from;
	const char *begin, *end;
	bool skips; /* pieces that are not in .from are skipped */
	unsigned int left; /* steps */
};

/* Return the piece with which the text at @p could go on; the first one has no space before it. */
static bool find_piece(const struct learner *b, unsigned int i, const char *p,
		       struct tap_piece *piece)
{
	if (i >= b->from->nr)
		return false;
	*piece = b->from->v[i];
	if (p == b->begin && piece->before[0] == ' ')
		memmove(piece->before, piece->before + 1, --piece->before_len);
	return has_before(piece, p, b->end);
}

/* Make a piece of " word=VALUE" at @p, which the definition does not have. */
static bool find_skipped(const struct learner *b, unsigned int i, const char *p,
			 struct tap_piece *piece)
{
	const char *key = p + (p < b->end && *p == ' '), *end = key;

	while (end < b->end && is_word(*end))
		end++;
	*piece = (struct tap_piece){ .kind = TAP_PIECE_SKIPPED };
	if (!b->skips || end == key || end == b->end || *end != '=' ||
	    end + 1 - p >= (ptrdiff_t)sizeof(piece->before))
		return false;
	for (; i < b->from->nr; i++)
		if (has_before(&b->from->v[i], p, b->end))
			return false;
	piece->before_len = (uint8_t)(end + 1 - p);
	memcpy(piece->before, p, piece->before_len);
	return true;
}

/* Return true if the text may end before the piece @i of .from. */
static bool may_end(const struct learner *b, unsigned int i)
{
	while (i < b->from->nr && !b->from->v[i].is_needed)
		i++;
	return i == b->from->nr && b->layout->pieces.nr;
}

/* Find pieces from @p on, where those of .from may go on with its @i. */
static bool learn(struct learner *b, unsigned int i, const char *p)
{
	struct tap_pieces *to = &b->layout->pieces;
	struct tap_piece piece;
	struct tap_value v;
	const char *value;

	if (!b->left || to->nr == TAP_PIECES_MAX)
		return false;
	b->left--;
	if (is_end(b->from, p, b->end) && may_end(b, i))
		return true;
	if (find_piece(b, i, p, &piece)) {
		to->v[to->nr++] = piece;
		p += piece.before_len;
		value = piece.kind == TAP_PIECE_TEXT ? NULL : take_value(&piece, p, b->end, &v);
		if (value && learn(b, i + 1, value))
			return true;
		for (value = p; piece.kind == TAP_PIECE_TEXT && value <= b->end; value++)
			if ((value == b->end || *value == ' ' || *value == ']') &&
			    learn(b, i + 1, value))
				return true;
		p -= piece.before_len;
		to->nr--;
	}
	if (find_skipped(b, i, p, &piece)) {
		to->v[to->nr++] = piece;
		value = take_value(&piece, p + piece.before_len, b->end, &v);
		if (learn(b, i, value))
			return true;
		to->nr--;
	}
	return i < b->from->nr && !b->from->v[i].is_needed && learn(b, i + 1, p);
}

bool tap_body_learn(struct tap_layout *l, const struct tap_pieces *from, struct span body)
{
	struct learner b = { .layout = l, .from = from, .begin = body.s, .end = body.s + body.len };

	memset(l->fields, 0, sizeof(l->fields));
	for (unsigned int skips = 0; skips < 2 && body.len <= MAX_LEARNED_BYTES; skips++) {
		b.skips = skips;
		b.left = MAX_STEPS;
		l->pieces = (struct tap_pieces){ 0 };
		memcpy(l->pieces.after, from->after, sizeof(from->after));
		if (learn(&b, 0, body.s))
			return true;
	}
	return false;
}
