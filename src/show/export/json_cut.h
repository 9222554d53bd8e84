/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shorten long lists in JSON text as it streams by, without holding all of it in memory. */
#ifndef TAP_EXPORT_JSON_CUT_H
#define TAP_EXPORT_JSON_CUT_H

#include "base/buf.h"
#include "base/keyed.h"

#define TAP_JSON_DEPTH 32u
#define TAP_JSON_KEY 40u /* bytes kept of a key; longer keys are cut */

struct tap_json_cut {
	struct tap_buf *out;
	uint64_t rows; /* rows to keep per list */
	/* private */
	struct tap_json_list {
		bool is_list;
		uint64_t rows;
		char key[TAP_JSON_KEY]; /* key of the list, or of the next member */
	} open[TAP_JSON_DEPTH];
	unsigned int depth;
	unsigned int cut_at; /* depth of the list being cut; 0: none */
	bool in_text, is_escaped;
	char text[TAP_JSON_KEY]; /* the last string, which may be a key */
	unsigned int text_len;
	struct tap_keyed omitted; /* maps a list's key to a uint64_t, its number of omitted rows */
	int err;
};

/*
 * Add a chunk of text. All chunks together must be a well-formed JSON object. The caller sets .out
 * and .rows, and the rest to zero.
 */
void tap_json_cut_add(struct tap_json_cut *c, const char *text, size_t len);
/* Return: 0; -ENOMEM; -EINVAL: nested deeper than TAP_JSON_DEPTH. */
int tap_json_cut_end(struct tap_json_cut *c);

#endif
