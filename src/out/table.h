/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Results as tables: one description of the columns, three ways to show them. A row is built
 * cell by cell in the order of the columns, and written in big blocks.
 *
 *   text   aligned columns under a header line; durations in the column's unit, times as
 *          .wall shows them, "-" for what is not known; names escaped
 *   JSON   "key": value, durations and times in ns, null for what is not known. Beside each time
 *          "x_ns", where the wall time is known, "x_wall": ISO 8601, UTC
 *   JSONL  the same, one object a line
 *   CSV    RFC 4180 under a header line of keys; empty for what is not known. x_wall beside x_ns
 *          only where .wall shows the wall time: columns stay where they are
 *
 * In text a table is laid out when it ends: its columns are as wide as what is in them, and its
 * durations have the finest unit in which the greatest of a column is below 100,000. A table of
 * which the rows are printed as they come (tap_table_stream()) has its columns as wide as they say,
 * and durations in ms. Where lines are to fit a terminal, the columns that matter least are left
 * out until they do, and a line says which.
 *
 * A report in JSON is one object: tap_report_open() writes "{", single values and tables follow as
 * its members, tap_report_close() writes "}". In text, what is no table is plain text. In CSV a
 * report prints one table only: the one that it is about.
 */
#ifndef TAP_OUT_TABLE_H
#define TAP_OUT_TABLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/wall.h"

enum tap_style { TAP_STYLE_TEXT, TAP_STYLE_JSON, TAP_STYLE_JSONL, TAP_STYLE_CSV };

enum tap_cell {
	TAP_CELL_TEXT,	/* left-aligned */
	TAP_CELL_LABEL, /* the same, escaped already: for columns of text only */
	TAP_CELL_COUNT, /* uint64_t */
	TAP_CELL_INT,	/* int64_t */
	TAP_CELL_NS,	/* uint64_t, a duration; text: in .unit */
	TAP_CELL_AT,	/* uint64_t ns, a time of the recording's clock; .key ends in "_ns" */
	TAP_CELL_REAL,	/* double; text and CSV: with .places decimals */
};

enum tap_unit { TAP_UNIT_MS, TAP_UNIT_US, TAP_UNIT_S }; /* three decimals each */

/* On a terminal. */
enum tap_tint { TAP_TINT_NONE, TAP_TINT_BOLD, TAP_TINT_RED, TAP_TINT_YELLOW, TAP_TINT_CYAN };

struct tap_column {
	const char *key;   /* of JSON and CSV, with its unit: "run_ns". NULL: text only */
	const char *title; /* of text; a duration's unit is added to it. NULL: not in text */
	enum tap_cell cell;
	unsigned int width; /* of text, in columns, at least. In a table that is printed as it comes
			     * what is wider pushes the rest to the right */
	unsigned int places; /* TAP_CELL_REAL */
	unsigned int rank; /* where lines are too long, columns of the greatest go first; 0 stays */
	enum tap_tint tint; /* of what is not 0, and of texts */
	bool same_unit; /* as the duration before it: they are to be compared */
	/* the table's own */
	enum tap_unit unit; /* TAP_CELL_NS */
	unsigned int limit; /* of text: where it is cut, or for the last column wrapped; 0: nowhere */
};

/* Where a report goes. */
struct tap_report {
	enum tap_style style;
	int fd;
	unsigned int columns; /* text: how long lines may be; 0: as long as they are */
	bool color;	      /* text */
	struct tap_wall *wall; /* borrowed; NULL: times are the recording's clock */
	struct tap_buf buf; /* read and write it for plain text */
	bool comma;	    /* JSON: something stands before in this object or array */
	int err;	    /* 0 or the first -errno: of write, or -ENOMEM */
};

#define TAP_TABLE_COLUMNS 48u /* in text */

struct tap_table {
	struct tap_report *to; /* borrowed */
	const struct tap_column *columns; /* borrowed, or .own; ends with a row of zeros */
	const struct tap_column *at; /* of the next cell */
	size_t pad; /* text: blanks owed before the next cell; CSV: cells before it */
	enum tap_tint tint; /* of the next cell, a text */
	bool held; /* text: cells are kept until the end */
	struct tap_buf cells, texts; /* kept: struct held_cell, and what they refer to */
	struct tap_column own[TAP_TABLE_COLUMNS + 1]; /* text: as laid out */
};

void tap_report_open(struct tap_report *r, enum tap_style style, int fd);
/* Text: what follows is shown so, where .color is; TAP_TINT_NONE: as usual again. */
void tap_report_tint(struct tap_report *r, enum tap_tint tint);
/* Text: a sentence as a line of its own; where .columns is set, as the lines that it takes. */
void tap_report_sentence(struct tap_report *r, const char *s, size_t len);
/* Finishes, writes and releases. Return: 0, or the first error: -errno of write, -ENOMEM. */
int tap_report_close(struct tap_report *r);

/* Members of a JSON report (or of an object in it); nothing in the other styles. */
void tap_report_key(struct tap_report *r, const char *key); /* "key": with its comma */
void tap_report_object(struct tap_report *r, const char *key); /* "key": {; NULL: { */
void tap_report_object_end(struct tap_report *r);
void tap_report_array(struct tap_report *r, const char *key);
void tap_report_array_end(struct tap_report *r);
void tap_report_u64(struct tap_report *r, const char *key, uint64_t v);
void tap_report_id(struct tap_report *r, const char *key, int id); /* null below 0: not known */
void tap_report_text(struct tap_report *r, const char *key, const char *s, size_t len);
void tap_report_null(struct tap_report *r, const char *key);
void tap_report_bool(struct tap_report *r, const char *key, bool v);
void tap_report_at(struct tap_report *r, const char *key, uint64_t ns); /* "x_ns", and "x_wall" */
void tap_report_real(struct tap_report *r, const char *key, double v); /* null if not finite */

/* @key: of the array in JSON. Text and CSV: the header line. */
void tap_table_begin(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
		     const char *key);
/* Rows are printed as they come: for tables that may be long. */
void tap_table_stream(struct tap_table *t, struct tap_report *r, const struct tap_column *columns,
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
/*
 * Passes over the next @nr cells, not the first of a row, if none of them is shown: then nobody needs to
 * find out what stands in them. Return: whether it did.
 */
bool tap_table_skip(struct tap_table *t, unsigned int nr);
void tap_table_tint(struct tap_table *t, enum tap_tint tint); /* of the next cell, a text */
void tap_table_row(struct tap_table *t);

#endif
