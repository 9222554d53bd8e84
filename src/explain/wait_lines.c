// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/wait_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

_Static_assert(sizeof(struct tap_wait_line_key) == 2 * (TAP_TASK_COMM + 4) + 2 * 4, "no padding");

void tap_wait_lines_release(struct tap_wait_lines *l)
{
	free(l->v);
	tap_map_release(&l->by_key);
}

/* Return: NULL when out of memory. */
static struct tap_wait_line *find(struct tap_wait_lines *l, const struct tap_wait_line_key *key)
{
	/* lines with equal keys of the map get another one each */
	for (uint64_t at = tap_map_key(key, sizeof(*key));; at++) {
		uint64_t *slot = tap_map_put(&l->by_key, at);

		if (!slot || tap_array_grow(&l->v, l->nr, &l->cap, sizeof(*l->v)))
			return NULL;
		if (!*slot) {
			l->v[l->nr] = (struct tap_wait_line){ .key = *key };
			*slot = ++l->nr;
		}
		if (!memcmp(&l->v[*slot - 1].key, key, sizeof(*key)))
			return &l->v[*slot - 1];
	}
}

int tap_wait_lines_add(struct tap_wait_lines *l, const struct tap_wait_told *w)
{
	struct tap_wait_line_key key = { .task = tap_folded_who(w->task) };
	struct tap_wait_line *line;

	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		const struct tap_piece *piece = &w->pieces[i];

		key.kind = piece->kind;
		key.has_runner = piece->task != NULL;
		key.runner = piece->task ? tap_folded_who(piece->task) : (struct tap_folded_who){ 0 };
		line = find(l, &key);
		if (!line)
			return -ENOMEM;
		line->ns += piece->ns;
	}
	return 0;
}

static int by_ns(const void *a, const void *b)
{
	const struct tap_wait_line *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return memcmp(&x->key, &y->key, sizeof(x->key));
}

void tap_wait_lines_end(struct tap_wait_lines *l)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < l->nr; i++)
		if (l->v[i].ns)
			l->v[nr++] = l->v[i];
	l->nr = nr;
	if (nr)
		qsort(l->v, nr, sizeof(*l->v), by_ns);
}

void tap_wait_line_put(const struct tap_wait_line *line, struct tap_buf *out)
{
	tap_folded_put_who(out, &line->key.task);
	tap_buf_printf(out, ";%s", tap_piece_name(line->key.kind));
	if (line->key.has_runner) {
		tap_buf_char(out, ';');
		tap_folded_put_who(out, &line->key.runner);
	}
	tap_buf_printf(out, " %" PRIu64 "\n", line->ns);
}
