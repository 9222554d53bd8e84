/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Results as tables: one description of the columns, three ways to show them. A row is built
 * cell by cell in the order of the columns, and written in big blocks.
 *
 *   text   aligned columns under a header line; durations in the column's unit, times as
 *          seconds.nanoseconds, "-" for what is not known; names escaped
 *   JSON   "key": value, durations and times in ns, null for what is not known
 *   JSONL  the same, one object a line
 *   CSV    RFC 4180 under a header line of keys; empty for what is not known
 *
 * A report in JSON is one object: tap_report_open() writes "{", single values and tables follow as
 * its members, tap_report_close() writes "}". In text, what is no table is plain text. In CSV a
 * report prints one table only: the one that it is about.
 */
#ifndef TAP_OUT_TABLE_H
#define TAP_OUT_TABLE_H

#include <stdbool.h>

#include "base/buf.h"

enum tap_style { TAP_STYLE_TEXT, TAP_STYLE_JSON, TAP_STYLE_JSONL, TAP_STYLE_CSV };

enum tap_cell {
	TAP_CELL_TEXT,	/* left-aligned */
	TAP_CELL_LABEL, /* the same, escaped already: for columns of text only */
	TAP_CELL_COUNT, /* uint64_t */
	TAP_CELL_INT,	/* int64_t */
	TAP_CELL_NS,	/* uint64_t, a duration; text: in .unit */
	TAP_CELL_AT,	/* uint64_t ns, a time of the recording's clock */
	TAP_CELL_REAL,	/* double; text and CSV: with .places decimals */
};

enum tap_unit { TAP_UNIT_MS, TAP_UNIT_US, TAP_UNIT_S }; /* three decimals each */

struct tap_column {
	const char *key;   /* of JSON and CSV, with its unit: "run_ns". NULL: text only */
	const char *title; /* of text, with its unit: "run ms". NULL: not in text */
	enum tap_cell cell;
	enum tap_unit unit; /* TAP_CELL_NS */
	unsigned int width; /* of text, in columns; what is wider pushes the rest to the right */
	unsigned int places; /* TAP_CELL_REAL */
};

/* Where a report goes. */
struct tap_report {
	enum tap_style style;
	int fd;
	struct tap_buf buf; /* read and write it for plain text */
	bool comma;	    /* JSON: something stands before in this object or array */
	int err;	    /* 0 or the first -errno: of write, or -ENOMEM */
};

struct tap_table {
	struct tap_report *to; /* borrowed */
	const struct tap_column *columns; /* borrowed; ends with a row of zeros */
	const struct tap_column *at; /* of the next cell */
	size_t pad; /* text: blanks owed before the next cell; CSV: cells before it */
};

void tap_report_open(struct tap_report *r, enum tap_style style, int fd);
/* Finishes, writes and releases. Return: 0, or the first error: -errno of write, -ENOMEM. */
int tap_report_close(struct tap_report *r);

/* Members of a JSON report (or of an object in it); nothing in the other styles. */
void tap_report_key(struct tap_report *r, const char *key); /* "key": with its comma */
void tap_report_object(struct tap_report *r, const char *key); /* "key": {; NULL: { */
void tap_report_object_end(struct tap_report *r);
void tap_report_array(struct tap_report *r, const char *key);
void tap_report_array_end(struct tap_report *r);
void tap_report_u64(struct tap_report *r, const char *key, uint64_t v);
void tap_report_text(struct tap_report *r, const char *key, const char *s, size_t len);
void tap_report_real(struct tap_report *r, const char *key, double v); /* null if not finite */

/* @key: of the array in JSON. Text and CSV: the header line. */
void tap_table_begin(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		     const char *key);
void tap_table_end(struct tap_table *t);
/* JSON: one row outside of a table, "key": {...}; after tap_table_row() nothing is to end. */
void tap_table_object(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		      const char *key);

/* Cells; the first one begins the row, and tap_table_row() ends it. */
void tap_table_text(struct tap_table *t, const char *s, size_t len); /* TEXT, LABEL */
void tap_table_u64(struct tap_table *t, uint64_t v); /* COUNT, NS, AT */
void tap_table_s64(struct tap_table *t, int64_t v);  /* INT */
void tap_table_real(struct tap_table *t, double v);
void tap_table_none(struct tap_table *t); /* not known */
void tap_table_row(struct tap_table *t);

#endif
