/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Report output: sentences, single values and tables (table.h), which a style formats. A style is
 * one file with one struct tap_style, and its line in styles.h; its name is the option that chooses
 * it. Callers decide by the style's audience, not by the style.
 */
#ifndef TAP_OUT_PAGE_H
#define TAP_OUT_PAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/wall.h"

/* Intended readers of a style. */
enum tap_audience {
	TAP_FOR_PEOPLE = 1, /* sentences, and tables of what matters most */
	TAP_FOR_PROGRAMS = 2, /* all data, nested */
	TAP_FOR_SHEETS = 4, /* one table: the report's main table */
	TAP_FOR_ALL = 7,
};

/* Text attributes on a terminal. */
enum tap_tint {
	TAP_TINT_NONE,
	TAP_TINT_BOLD,
	TAP_TINT_RED,
	TAP_TINT_YELLOW,
	TAP_TINT_CYAN,
	TAP_TINT_MAGENTA,
	TAP_TINT_GREEN,
	TAP_TINT_BLUE,
};

/* Output of a report. */
struct tap_page {
	const struct tap_style *style;
	int fd;
	unsigned int columns; /* the terminal's width, which lines must not exceed; 0: no limit */
	bool color; /* use colors; only in styles for people */
	bool utf8; /* block and line drawing characters may be used */
	struct tap_wall *wall; /* borrowed; NULL: times are shown on the recording's clock */
	/* pending output; in styles for people, callers may append plain text */
	struct tap_buf buf;
	bool comma; /* nested styles: the current object or array has a member already */
	int err; /* 0 or the first error: -errno of write, or -ENOMEM */
};

/* The value of an object's member or of a cell. 16 bytes, so that it is passed in two registers. */
struct tap_value {
	enum tap_value_kind {
		TAP_VALUE_NULL, /* unknown */
		TAP_VALUE_BOOL,
		TAP_VALUE_U64,
		TAP_VALUE_S64,
		TAP_VALUE_REAL, /* written as null if not finite */
		TAP_VALUE_TEXT,
		TAP_VALUE_AT, /* ns, a time on the recording's clock; the key ends in "_ns" */
		TAP_VALUE_JSON,
	} kind;
	unsigned int len; /* bytes in .text; base/buf.h limits buffers to less than 4 GiB */
	union {
		bool yes;
		uint64_t u;
		int64_t s;
		double real;
		const char *text;
		const json_t *json;
	};
};

struct tap_table_ops;
struct tap_out_ops;
struct tap_sheet;

struct tap_style {
	enum tap_audience audience;
	/*
	 * Variant of this style for reports that print rows as they are read; NULL: use this style.
	 */
	const struct tap_style *in_lines;
	void (*open)(struct tap_page *p); /* or NULL */
	/* called after the report's head (its common first lines); or NULL */
	void (*end_head)(struct tap_page *p);
	void (*close)(struct tap_page *p); /* or NULL */
	/*
	 * Nested styles only; in other styles NULL, and members are not written. @key: NULL in an
	 * array.
	 */
	void (*member)(struct tap_page *p, const char *key, struct tap_value v);
	void (*nest)(struct tap_page *p, const char *key, bool is_array);
	void (*nest_end)(struct tap_page *p, bool is_array);
	/* for tap_table_begin(); for tap_table_stream() */
	const struct tap_table_ops *table, *stream;
	const struct tap_out_ops *events; /* how `dump` prints events (out.h) */
	/* separator and quoting, if .table and .events are those of sheet.h */
	const struct tap_sheet *sheet;
};

extern const struct tap_style tap_style_text;
#define TAP_STYLE(name, help) extern const struct tap_style tap_style_##name;
#include "show/out/styles.h"
#undef TAP_STYLE

/* Rows for a command's table of options: one per style that an option chooses. */
#define TAP_STYLE_OPTION(T, m, name_, help_)                                                       \
	{ .name = #name_,                                                                          \
	  .help = help_,                                                                           \
	  .type = TAP_OPT_CHOICE,                                                                  \
	  .offset = offsetof(T, m),                                                                \
	  .choice = &tap_style_##name_ },

static inline bool tap_page_is_for(const struct tap_page *p, unsigned int audiences)
{
	return p->style->audience & audiences;
}

void tap_page_open(struct tap_page *p, const struct tap_style *style, int fd);
/*
 * Finish the report, write it out and release the buffer. Return: 0, or the first error: -errno of
 * write, -ENOMEM.
 */
int tap_page_close(struct tap_page *p);
/* Write the buffer out if it has grown beyond one block. */
void tap_page_flush(struct tap_page *p);

/* Append a terminal attribute that applies to the text after it; TAP_TINT_NONE resets it. */
void tap_tint_add(struct tap_buf *b, enum tap_tint tint);
/* Append the attribute to the page, if .color is set. */
void tap_page_tint(struct tap_page *p, enum tap_tint tint);
/* For people: append a sentence on its own line, wrapped at .columns if that is set. */
void tap_page_sentence(struct tap_page *p, const char *s, size_t len);
/*
 * Break the text from @from to the end of @b into lines of @limit columns, at blanks if possible,
 * each continuation line indented by @indent. With @below the first line begins on a new line, too.
 */
void tap_page_wrap(struct tap_buf *b, size_t from, size_t limit, size_t indent, bool below);

/*
 * Write a member of the report, or of the object or array that is open. Only nested styles (for
 * programs) write it.
 */
void tap_page_object(struct tap_page *p, const char *key);
void tap_page_object_end(struct tap_page *p);
void tap_page_array(struct tap_page *p, const char *key);
void tap_page_array_end(struct tap_page *p);
void tap_page_null(struct tap_page *p, const char *key);
void tap_page_bool(struct tap_page *p, const char *key, bool v);
void tap_page_u64(struct tap_page *p, const char *key, uint64_t v);
/* null if not @known */
void tap_page_u64_if(struct tap_page *p, const char *key, bool known, uint64_t v);
void tap_page_s64(struct tap_page *p, const char *key, int64_t v);
/* null if below 0, which means unknown */
void tap_page_id(struct tap_page *p, const char *key, int id);
void tap_page_real(struct tap_page *p, const char *key, double v); /* null if not finite */
void tap_page_text(struct tap_page *p, const char *key, const char *s, size_t len);
void tap_page_puts(struct tap_page *p, const char *key, const char *s); /* NULL: null */
/* "x_ns", and "x_wall" if the wall time is known */
void tap_page_at(struct tap_page *p, const char *key, uint64_t ns);
/* an array of CPU numbers */
void tap_page_cpus(struct tap_page *p, const char *key, const struct tap_cpus *cpus);
void tap_page_json(struct tap_page *p, const char *key, const json_t *v); /* NULL: null */

#endif
