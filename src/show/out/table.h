/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables: one description of the columns, and one formatter per style. A row is built cell by cell
 * in the order of the columns, and written in big blocks.
 *
 *   text   aligned columns under a header line; durations in the column's unit, times as
 *          .wall shows them, "-" for unknown values; names escaped
 *   JSON   "key": value, durations and times in ns, null for unknown values. After each time
 *          "x_ns", if the wall time is known, "x_wall": ISO 8601, UTC
 *   JSONL  as JSON, one object per line
 *   CSV    RFC 4180 under a header line of keys; empty for unknown values. x_wall after x_ns
 *          only if .wall shows the wall time, so that column numbers stay stable
 *
 * Text tables are laid out when they end: columns are as wide as their content, and a column of
 * durations has the finest unit in which its greatest value is below 100,000. A table whose rows
 * are printed at once (tap_table_stream()) has the widths that its columns state, and durations in
 * ms. If lines must fit a terminal, the least important columns are left out until they do, and a
 * line names the columns left out.
 *
 * A report in JSON is one object, whose members are single values and tables (page.h). In text,
 * everything else is plain text. In CSV a report prints only its main table.
 */
#ifndef TAP_OUT_TABLE_H
#define TAP_OUT_TABLE_H

#include <assert.h>

#include "show/out/page.h"

enum tap_cell {
	TAP_CELL_TEXT, /* left-aligned */
	/*
	 * left-aligned text that is escaped already and may contain attributes; all cells must be
	 * texts
	 */
	TAP_CELL_LABEL,
	TAP_CELL_COUNT, /* uint64_t */
	TAP_CELL_INT, /* int64_t */
	TAP_CELL_NS, /* uint64_t ns, a duration; text shows it in .unit */
	TAP_CELL_AT, /* uint64_t ns, a time on the recording's clock; .key ends in "_ns" */
	TAP_CELL_REAL, /* double; text and CSV show .places decimals */
};

enum tap_unit { TAP_UNIT_MS, TAP_UNIT_US, TAP_UNIT_S }; /* each shown with three decimals */

struct tap_column {
	const char *key; /* name in JSON and CSV, with its unit: "run_ns". NULL: text only */
	/* header in text; the unit of durations is appended. NULL: not shown in text */
	const char *title;
	enum tap_cell cell;
	/*
	 * Minimum width in text, in columns. In a streamed table a wider cell pushes the rest of
	 * its row to the right.
	 */
	unsigned int width;
	unsigned int places; /* decimals of TAP_CELL_REAL */
	/*
	 * if lines are too long, the column with the greatest rank is hidden first; 0: never hidden
	 */
	unsigned int rank;
	enum tap_tint tint; /* color of texts, and of numbers other than 0 */
	/* use the unit of the duration column before this one, so that both can be compared */
	bool same_unit;
	/* set by the table's code */
	enum tap_unit unit; /* unit in which a TAP_CELL_NS column is shown */
	/*
	 * Text only: the width at which cells are cut, or in the last column wrapped; 0: no limit.
	 */
	unsigned int limit;
};

#define TAP_TABLE_COLUMNS 48u /* most columns that a text table may have */

struct tap_table {
	const struct tap_table_ops *ops;
	struct tap_page *page; /* borrowed */
	const struct tap_column *columns; /* borrowed, or .own; ends with a row of zeros */
	const struct tap_column *at; /* the next cell's column */
	const char *key; /* name of the array or object, for programs */
	bool is_object; /* a single row, written as an object without an array around it */
	/* state of the style's formatter */
	size_t pad; /* text: blanks still to be written before the next cell */
	enum tap_tint tint; /* attribute of the next cell, if that is a text */
	/* Text tables laid out at the end: the cells (struct held_cell) and their texts. */
	struct tap_buf cells, texts;
	struct tap_column own[TAP_TABLE_COLUMNS + 1]; /* text: the columns as laid out */
};

/* A style's table formatter. */
struct tap_table_ops {
	void (*begin)(struct tap_table *t); /* or NULL */
	void (*end)(struct tap_table *t); /* or NULL */
	/* @v: of the kind that the cell's function below passes. */
	void (*cell)(struct tap_table *t, const struct tap_column *c, struct tap_value v);
	void (*row)(struct tap_table *t); /* or NULL */
};

/* Text tables: laid out when they end, and printed row by row. */
extern const struct tap_table_ops tap_table_text_held, tap_table_text_stream;

/* Percentage of @part in @whole; 0 if @whole is 0. */
static inline double tap_pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static inline bool tap_column_is_end(const struct tap_column *c)
{
	return !c->key && !c->title;
}

/* Begin a table. @key: name of the array, for programs. Text and CSV get a header line. */
void tap_table_begin(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		     const char *key);
/* Begin a table whose rows are printed as they are added; for tables that may be long. */
void tap_table_stream(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		      const char *key);
/* For programs: begin a single row outside of a table, "key": {...}. */
void tap_table_object(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		      const char *key);
void tap_table_end(struct tap_table *t);

/* Add the next cell. The first cell begins a row, and tap_table_row() ends it. */
static inline void tap_table_cell(struct tap_table *t, struct tap_value v)
{
	assert(!tap_column_is_end(t->at));
	t->ops->cell(t, t->at++, v);
	t->tint = TAP_TINT_NONE;
}

/* for TEXT and LABEL */
static inline void tap_table_text(struct tap_table *t, const char *s, size_t len)
{
	tap_table_cell(t, (struct tap_value){ TAP_VALUE_TEXT, (unsigned int)len, .text = s });
}

static inline void tap_table_u64(struct tap_table *t, uint64_t v) /* for COUNT, NS and AT */
{
	tap_table_cell(t, (struct tap_value){ TAP_VALUE_U64, .u = v });
}

static inline void tap_table_s64(struct tap_table *t, int64_t v) /* for INT */
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

/* For people: set the attribute of the next cell, a text. */
static inline void tap_table_tint(struct tap_table *t, enum tap_tint tint)
{
	t->tint = tint;
}

/* End the row. For programs, callers may have written members (page.h) after its last cell. */
static inline void tap_table_row(struct tap_table *t)
{
	assert(tap_column_is_end(t->at));
	t->at = t->columns;
	if (t->ops->row)
		t->ops->row(t);
}

/* Add @nr cells with unknown values. */
static inline void tap_table_nones(struct tap_table *t, unsigned int nr)
{
	while (nr--)
		tap_table_none(t);
}

static inline void tap_table_puts(struct tap_table *t, const char *s) /* NULL: unknown */
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

static inline void tap_table_id(struct tap_table *t, int id) /* below 0: unknown */
{
	if (id >= 0)
		tap_table_s64(t, id);
	else
		tap_table_none(t);
}

#endif
