/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The components of waits for a CPU, summed up as lines that flame graph tools read:
 * "waiter;kind;runner ns", without the runner if no task ran. The lines add up to the waits.
 */
#ifndef TAP_EXPLAIN_WAIT_LINES_H
#define TAP_EXPLAIN_WAIT_LINES_H

#include "analysis/explain/waits.h"
#include "analysis/folded.h"

/* Compared as bytes: must have no padding, and unused members must be 0. */
struct tap_wait_line_key {
	struct tap_folded_who task, runner;
	uint32_t kind; /* enum tap_piece_kind */
	uint32_t has_runner;
};

struct tap_wait_line {
	struct tap_wait_line_key key;
	uint64_t ns;
};

/* Add a wait to @lines, of struct tap_wait_line. Return: 0 or -ENOMEM. */
int tap_wait_lines_add(struct tap_keyed *lines, const struct tap_wait_told *w);
void tap_wait_lines_end(struct tap_keyed *lines); /* sort: greatest .ns first */
/* Append a line's text, with a newline. */
void tap_wait_line_put(const struct tap_wait_line *line, struct tap_buf *out);

#endif
