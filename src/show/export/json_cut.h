/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cuts long lists in a JSON text on its way, which is never there as a whole. */
#ifndef TAP_EXPORT_JSON_CUT_H
#define TAP_EXPORT_JSON_CUT_H

#include "base/buf.h"
#include "base/keyed.h"

#define TAP_JSON_DEPTH 32u
#define TAP_JSON_KEY 40u /* bytes of a key: of longer ones the beginning counts */

struct tap_json_cut {
	struct tap_buf *out;
	uint64_t rows; /* of a list that stay */
	/* inside */
	struct tap_json_list {
		bool is_list;
		uint64_t rows;
		char key[TAP_JSON_KEY]; /* of the list, or of the member that comes */
	} open[TAP_JSON_DEPTH];
	unsigned int depth;
	unsigned int cut_at; /* depth of the list that is being cut; 0: none */
	bool in_text, is_escaped;
	char text[TAP_JSON_KEY]; /* the last one */
	unsigned int text_len;
	struct tap_keyed omitted; /* of key and u64 */
	int err;
};

/* @text: well-formed where all of it is put together, an object. .out and .rows are the caller's,
 * the rest zero. */
void tap_json_cut_add(struct tap_json_cut *c, const char *text, size_t len);
/* Return: 0; -ENOMEM; -EINVAL: it was nested deeper than is read. */
int tap_json_cut_end(struct tap_json_cut *c);

#endif
