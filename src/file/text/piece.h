/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event's text as pieces: a fixed text such as " prev_pid=", then a value. The pieces of a
 * definition come from its print format, or from its fields for texts that show these
 * (trace-cmd report -R).
 */
#ifndef TAP_FILE_TEXT_PIECE_H
#define TAP_FILE_TEXT_PIECE_H

#include <stdint.h>

#include "event/defs.h"
#include "event/span.h"

#define TAP_PIECES_MAX 32u
#define TAP_PIECE_MAX_WORDS 16u

enum tap_piece_kind {
	TAP_PIECE_TEXT, /* anything, up to the next piece */
	TAP_PIECE_NUMBER,
	TAP_PIECE_STATE, /* prev_state (state.h) */
	TAP_PIECE_WORD, /* one of .words, or a number */
	TAP_PIECE_SKIPPED, /* no field of the definition; without spaces */
};

struct tap_piece {
	char before[48]; /* the fixed text */
	uint8_t before_len;
	uint8_t base; /* 10 or 16 */
	enum tap_piece_kind kind;
	const char *field; /* name; NULL: not used, such as a cgroup's path */
	bool is_needed; /* the texts of all kernels have it */
	struct {
		struct span text;
		uint64_t value;
	} words[TAP_PIECE_MAX_WORDS]; /* borrowed from the definition */
	unsigned int nr_words;
};

struct tap_pieces {
	struct tap_piece v[TAP_PIECES_MAX];
	unsigned int nr;
	char after[8]; /* fixed text after the last value */
};

/* Fill @p as the print format prints a record. Return: false if it cannot be read back. */
bool tap_pieces_of_print(struct tap_pieces *p, const struct tap_def *def);
/* Fill @p with one piece for each field, in the record's order, under its own name. */
bool tap_pieces_of_fields(struct tap_pieces *p, const struct tap_def *def);

#endif
