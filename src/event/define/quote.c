// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/quote.h"

#include <errno.h>

#include "base/buf.h"

static void add_part(struct tap_buf *out, const struct tap_part *part, struct tap_place *places)
{
	for (unsigned int i = 0; i < part->nr; i++) {
		const struct tap_token *t = &part->v[i];

		if (i && t->space == SPACE_YES)
			tap_buf_char(out, ' ');
		places[i] = (struct tap_place){ (uint32_t)out->len, t->at, t->source };
		if (token_is(t, "__entry"))
			tap_buf_puts(out, "REC");
		else
			tap_buf_add(out, t->text.s, t->text.len);
	}
	tap_buf_char(out, '\0');
}

bool tap_quote_make(struct tap_pp *pp, struct tap_arena *arena, const struct tap_part *part,
		    struct tap_quote *q)
{
	struct tap_place *places = tap_arena_get(arena, (part->nr + 1) * sizeof(*places));
	struct tap_buf text = { .max = TAP_SOURCE_MAX_BYTES };

	if (places)
		add_part(&text, part, places);
	*q = (struct tap_quote){
		.s = places && !text.err ? tap_arena_copy(arena, text.data, text.len) : NULL,
		.places = places,
		.nr = part->nr,
	};
	if (text.err == -EFBIG)
		tap_pp_fail(pp, &part->at, "text is longer than %u KiB",
			    TAP_SOURCE_MAX_BYTES >> 10);
	tap_buf_release(&text);
	return q->s || !tap_pp_no_memory(pp);
}

const struct tap_place *tap_quote_place(const struct tap_quote *q, const char *at)
{
	const struct tap_place *place = NULL;

	if (!q->s || at < q->s || at > q->s + strlen(q->s))
		return NULL;
	for (unsigned int i = 0; i < q->nr && q->places[i].from <= (size_t)(at - q->s); i++)
		place = &q->places[i];
	return place;
}
