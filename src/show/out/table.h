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
 * A report in JSON is one object, of which single values and tables are the members (page.h). In
 * text, what is no table is plain text. In CSV a report prints one table only: the one that it is
 * about.
 */
#ifndef TAP_OUT_TABLE_H
#define TAP_OUT_TABLE_H

#include <assert.h>

#include "show/out/page.h"

enum tap_cell {
	TAP_CELL_TEXT, /* left-aligned */
	TAP_CELL_LABEL, /* the same, escaped already, may have tints: for columns of text only */
	TAP_CELL_COUNT, /* uint64_t */
	TAP_CELL_INT, /* int64_t */
	TAP_CELL_NS, /* uint64_t, a duration; text: in .unit */
	TAP_CELL_AT, /* uint64_t ns, a time of the recording's clock; .key ends in "_ns" */
	TAP_CELL_REAL, /* double; text and CSV: with .places decimals */
};

enum tap_unit { TAP_UNIT_MS, TAP_UNIT_US, TAP_UNIT_S }; /* three decimals each */

struct tap_column {
	const char *key; /* of JSON and CSV, with its unit: "run_ns". NULL: text only */
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
	/* of text: where it is cut, or for the last column wrapped; 0: nowhere */
	unsigned int limit;
};

#define TAP_TABLE_COLUMNS 48u /* in text */

struct tap_table {
	const struct tap_table_ops *ops;
	struct tap_page *page; /* borrowed */
	const struct tap_column *columns; /* borrowed, or .own; ends with a row of zeros */
	const struct tap_column *at; /* of the next cell */
	const char *key; /* of the array or object, for programs */
	bool is_object; /* one row, and no array around it */
	/* the style's own */
	size_t pad; /* text: blanks owed before the next cell */
	enum tap_tint tint; /* of the next cell, a text */
	/* of text that is laid out at the end: struct held_cell, and its texts */
	struct tap_buf cells, texts;
	struct tap_column own[TAP_TABLE_COLUMNS + 1]; /* of text, as laid out */
};

/* How a style writes tables. */
struct tap_table_ops {
	void (*begin)(struct tap_table *t); /* or NULL */
	void (*end)(struct tap_table *t); /* or NULL */
	/* @v: of the kind that a cell's function below gives. */
	void (*cell)(struct tap_table *t, const struct tap_column *c, struct tap_value v);
	void (*row)(struct tap_table *t); /* or NULL */
};

/* Of text: laid out when they end; printed as they come. */
extern const struct tap_table_ops tap_table_text_held, tap_table_text_stream;

/* 0 of nothing. */
static inline double tap_pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static inline bool tap_column_is_end(const struct tap_column *c)
{
	return !c->key && !c->title;
}

/* @key: of the array, for programs. For people and sheets: the header line. */
void tap_table_begin(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		     const char *key);
/* Rows are printed as they come: for tables that may be long. */
void tap_table_stream(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		      const char *key);
/* For programs: one row outside of a table, "key": {...}. */
void tap_table_object(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		      const char *key);
void tap_table_end(struct tap_table *t);

/* Cells; the first one begins the row, and tap_table_row() ends it. */
static inline void tap_table_cell(struct tap_table *t, struct tap_value v)
{
	assert(!tap_column_is_end(t->at));
	t->ops->cell(t, t->at++, v);
	t->tint = TAP_TINT_NONE;
}

static inline void tap_table_text(struct tap_table *t, const char *s, size_t len) /* TEXT, LABEL */
{
	tap_table_cell(t, (struct tap_value){ TAP_VALUE_TEXT, (unsigned int)len, .text = s });
}

static inline void tap_table_u64(struct tap_table *t, uint64_t v) /* COUNT, NS, AT */
{
	tap_table_cell(t, (struct tap_value){ TAP_VALUE_U64, .u = v });
}

static inline void tap_table_s64(struct tap_table *t, int64_t v) /* INT */
{
	tap_table_cell(t, (struct tap_value){ TAP_VALUE_S64, .s = v });
}

static inline void tap_table_real(struct tap_table *t, double v)
{
	tap_table_cell(t, (struct tap_value){ TAP_VALUE_REAL, .real = v });
}

static inline void tap_table_none(struct tap_table *t)
{
	tap_table_cell(t, (struct tap_value){ TAP_VALUE_NULL });
}

/* For people: of the next cell, a text. */
static inline void tap_table_tint(struct tap_table *t, enum tap_tint tint)
{
	t->tint = tint;
}

/* For programs members may have been put into the row behind its cells (page.h). */
static inline void tap_table_row(struct tap_table *t)
{
	assert(tap_column_is_end(t->at));
	t->at = t->columns;
	if (t->ops->row)
		t->ops->row(t);
}

/* Cells of what may not be known. */
static inline void tap_table_nones(struct tap_table *t, unsigned int nr)
{
	while (nr--)
		tap_table_none(t);
}

static inline void tap_table_puts(struct tap_table *t, const char *s) /* NULL: not known */
{
	if (s)
		tap_table_text(t, s, strlen(s));
	else
		tap_table_none(t);
}

static inline void tap_table_u64_if(struct tap_table *t, bool known, uint64_t v)
{
	if (known)
		tap_table_u64(t, v);
	else
		tap_table_none(t);
}

static inline void tap_table_id(struct tap_table *t, int id) /* below 0: not known */
{
	if (id >= 0)
		tap_table_s64(t, id);
	else
		tap_table_none(t);
}

#endif
