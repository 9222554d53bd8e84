// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/wait_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

_Static_assert(sizeof(struct tap_wait_line_key) == 2 * (TAP_TASK_COMM + 4) + 2 * 4, "no padding");
_Static_assert(offsetof(struct tap_wait_line, ns) == sizeof(struct tap_wait_line_key),
	       "base/keyed.h");

int tap_wait_lines_add(struct tap_keyed *lines, const struct tap_wait_told *w)
{
	struct tap_wait_line_key key = { .task = tap_folded_who(w->task) };
	struct tap_wait_line *line;

	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		const struct tap_piece *piece = &w->pieces[i];

		key.kind = piece->kind;
		key.has_runner = piece->task != NULL;
		key.runner =
			piece->task ? tap_folded_who(piece->task) : (struct tap_folded_who){ 0 };
		line = tap_keyed_get(lines, &key, sizeof(key), sizeof(*line));
		if (!line)
			return -ENOMEM;
		line->ns += piece->ns;
	}
	return 0;
}

void tap_wait_lines_end(struct tap_keyed *lines)
{
	tap_keyed_greatest_first(lines, sizeof(struct tap_wait_line_key),
				 sizeof(struct tap_wait_line));
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
