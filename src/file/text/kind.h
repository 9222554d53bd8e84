/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of events in a text, by name. The first lines of a kind decide how its text is read
 * and which of the definition's fields it has.
 */
#ifndef TAP_FILE_TEXT_KIND_H
#define TAP_FILE_TEXT_KIND_H

#include "base/map.h"
#include "file/made.h"
#include "file/text/body.h"
#include "file/text/line.h"

enum tap_kind_form {
	TAP_KIND_UNDECIDED, /* no line fitted so far */
	TAP_KIND_TEXT,
	TAP_KIND_PIECES,
	TAP_KIND_SWITCH, /* as trace-cmd's plugin prints it */
	TAP_KIND_WAKEUP,
};

struct tap_kind {
	struct span system, name; /* in the file */
	const struct tap_def *def; /* NULL: it is a text */
	const struct tap_format *fmt;
	enum tap_kind_form form;
	bool has_strings;
	unsigned int prev_state; /* index of the piece, from 1; 0: none */
	bool has_0x40; /* some prev_state is TAP_STATE_0X40 */
	uint64_t nr_unfit; /* lines that do not fit, which are skipped */
	struct tap_layout layout;
};

struct tap_kinds {
	struct tap_map by_name; /* key -> index in .all, from 1 */
	struct tap_kind **all;
	unsigned int nr, cap;
	bool is_escaped;
};

/* Find the kind of a line's event. Return: NULL if there are too many, or without memory. */
struct tap_kind *tap_kind_find(struct tap_kinds *k, struct tap_made *m, const struct tap_line *l);
/* Add the line's event at @ts_ns. Return: false if the line does not fit its kind. */
bool tap_kind_add(struct tap_kind *k, struct tap_made *m, const struct tap_line *l, uint64_t ts_ns);
/* Count a line that does not fit. After some of them an undecided kind is a text. */
void tap_kind_skip(struct tap_kind *k);
/* Note that events of @cpu were lost in an interval; -1: of an unknown CPU. 0 events: unknown. */
bool tap_kind_add_gap(struct tap_made *m, int cpu, uint64_t count, uint64_t first_ns,
		      uint64_t last_ns);
void tap_kinds_release(struct tap_kinds *k);

#endif
