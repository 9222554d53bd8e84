// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/shares.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static int by_who(const void *a, const void *b)
{
	const struct tap_share *x = a, *y = b;

	return x->who < y->who ? -1 : x->who > y->who;
}

static void merge_shares(struct tap_shares *s)
{
	unsigned int nr = 0;

	if (s->nr < 2)
		return;
	qsort(s->v, s->nr, sizeof(*s->v), by_who);
	for (unsigned int i = 1; i < s->nr; i++) {
		if (s->v[i].who == s->v[nr].who)
			s->v[nr].ns += s->v[i].ns;
		else
			s->v[++nr] = s->v[i];
	}
	s->nr = nr + 1;
}

int tap_shares_add(struct tap_shares *s, uint32_t who, uint64_t ns)
{
	if (s->nr && s->v[s->nr - 1].who == who) {
		s->v[s->nr - 1].ns += ns;
		return 0;
	}
	if (s->nr == s->cap) {
		merge_shares(s);
		/*
		 * Grow a list that stays half full after merging, to avoid sorting it again and
		 * again.
		 */
		if (2 * s->nr >= s->cap && tap_array_grow(&s->v, s->cap, &s->cap, sizeof(*s->v)))
			return -ENOMEM;
	}
	s->v[s->nr++] = (struct tap_share){ who, ns };
	return 0;
}

const struct tap_share *tap_shares_most(struct tap_shares *s)
{
	const struct tap_share *most = s->v;

	merge_shares(s);
	for (unsigned int i = 1; i < s->nr; i++)
		if (s->v[i].ns > most->ns)
			most = &s->v[i];
	return s->nr ? most : NULL;
}

void tap_shares_release(struct tap_shares *s)
{
	free(s->v);
	*s = (struct tap_shares){ 0 };
}
