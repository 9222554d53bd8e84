/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What waits for a CPU were for, one line for each, as flame graph tools read it: "who
 * waited;kind;who ran ns", the last one where some task did. They add up to what was waited.
 */
#ifndef TAP_EXPLAIN_WAIT_LINES_H
#define TAP_EXPLAIN_WAIT_LINES_H

#include "analysis/explain/waits.h"
#include "analysis/folded.h"

/* Without padding, and what is not used is 0: compared as bytes. */
struct tap_wait_line_key {
	struct tap_folded_who task, runner;
	uint32_t kind; /* enum tap_piece_kind */
	uint32_t has_runner;
};

struct tap_wait_line {
	struct tap_wait_line_key key;
	uint64_t ns;
};

/* To @lines, of struct tap_wait_line. Return: 0 or -ENOMEM. */
int tap_wait_lines_add(struct tap_keyed *lines, const struct tap_wait_told *w);
void tap_wait_lines_end(struct tap_keyed *lines); /* then: most time first, and none is empty */
/* Adds a line's text, with its newline. */
void tap_wait_line_put(const struct tap_wait_line *line, struct tap_buf *out);

#endif
