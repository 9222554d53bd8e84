/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Styles for spreadsheets: a row is a line with separators between its values. An event's fields
 * are one value, their printed text.
 */
#ifndef TAP_OUT_SHEET_H
#define TAP_OUT_SHEET_H

#include "show/out/page.h"

struct tap_sheet {
	char separator;
	/* quotes or escapes the separator in a text */
	void (*add_text)(struct tap_buf *b, const char *s, size_t len);
};

extern const struct tap_table_ops tap_sheet_table;
extern const struct tap_out_ops tap_sheet_events;

#define TAP_SHEET(separator_, add_text_)                                                           \
	{                                                                                          \
		.audience = TAP_FOR_SHEETS,                                                        \
		.sheet = &(const struct tap_sheet){ separator_, add_text_ },                       \
		.table = &tap_sheet_table, .stream = &tap_sheet_table,                             \
		.events = &tap_sheet_events,                                                       \
	}

#endif
