/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event's text as values, by the pieces that one line of its kind has shown to be there. Texts
 * may contain what looks like the pieces after them. Up to the next text there are only numbers,
 * all of which must fit, or the text ends elsewhere.
 */
#ifndef TAP_FILE_TEXT_BODY_H
#define TAP_FILE_TEXT_BODY_H

#include "file/text/piece.h"

struct tap_value {
	struct span text; /* of a TAP_PIECE_TEXT */
	uint64_t number; /* of others */
};

struct tap_layout {
	struct tap_pieces pieces;
	const struct tap_field *fields[TAP_PIECES_MAX]; /* NULL: the piece's value is not used */
	bool is_escaped; /* texts have the escapes of tap_text_escape() */
};

/* Read the values of an event. Return: false if the text does not have the layout. */
bool tap_body_read(const struct tap_layout *l, struct span body,
		   struct tap_value values[TAP_PIECES_MAX]);

/*
 * Find the pieces of a definition in a first line, and others between them, which are skipped. The
 * fields of @l are left alone. Return: false if the line lacks one that is needed.
 */
bool tap_body_learn(struct tap_layout *l, const struct tap_pieces *from, struct span body);

#endif
