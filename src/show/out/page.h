/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A report's results on their way out: sentences, single values and tables (table.h), each of them
 * written as the style has it. A style is one file that ends in one struct tap_style, and its line
 * in styles.h; its name is the option that chooses it. Who has something to show asks for the
 * style's audience, never for the style.
 */
#ifndef TAP_OUT_PAGE_H
#define TAP_OUT_PAGE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/text.h"
#include "base/wall.h"

/* Who reads a style. */
enum tap_audience {
	TAP_FOR_PEOPLE = 1, /* sentences, and tables of what matters most */
	TAP_FOR_PROGRAMS = 2, /* all there is, nested */
	TAP_FOR_SHEETS = 4, /* one table: the one that the report is about */
	TAP_FOR_ALL = 7,
};

/* On a terminal. */
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

/* Where a report goes. */
struct tap_page {
	const struct tap_style *style;
	int fd;
	unsigned int columns; /* of a terminal: how long lines may be; 0: as long as they are */
	bool color; /* for people */
	bool utf8; /* there are blocks and lines to draw with */
	struct tap_wall *wall; /* borrowed; NULL: times are the recording's clock */
	struct tap_buf buf; /* for people, plain text may be added */
	bool comma; /* of nested styles: something stands before in this object or array */
	int err; /* 0 or the first -errno: of write, or -ENOMEM */
};

/* A member of an object, or a cell. Two registers hold it. */
struct tap_value {
	enum tap_value_kind {
		TAP_VALUE_NULL, /* not known */
		TAP_VALUE_BOOL,
		TAP_VALUE_U64,
		TAP_VALUE_S64,
		TAP_VALUE_REAL, /* null if it is not finite */
		TAP_VALUE_TEXT,
		TAP_VALUE_AT, /* ns, a time of the recording's clock; the key ends in "_ns" */
		TAP_VALUE_JSON,
	} kind;
	unsigned int len; /* of .text, which no buffer (base/buf.h) lets grow to 4 GiB */
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
	/* The same for reports of which the rows come as they are read; NULL: this one will do. */
	const struct tap_style *in_lines;
	void (*open)(struct tap_page *p); /* or NULL */
	void (*end_head)(struct tap_page *p); /* behind what every report begins with; or NULL */
	void (*close)(struct tap_page *p); /* or NULL */
	/* Of nested styles; NULL in others: then nothing is written. @key: NULL in an array. */
	void (*member)(struct tap_page *p, const char *key, struct tap_value v);
	void (*nest)(struct tap_page *p, const char *key, bool is_array);
	void (*nest_end)(struct tap_page *p, bool is_array);
	const struct tap_table_ops *table, *stream; /* tap_table_begin(), tap_table_stream() */
	const struct tap_out_ops *events; /* what `dump` prints (out.h) */
	const struct tap_sheet *sheet; /* of .table and .events that are sheet.h's */
};

extern const struct tap_style tap_style_text;
#define TAP_STYLE(name, help) extern const struct tap_style tap_style_##name;
#include "show/out/styles.h"
#undef TAP_STYLE

/* Rows for a command's table of options: one for each style that is chosen. */
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
/* Finishes, writes and releases. Return: 0, or the first error: -errno of write, -ENOMEM. */
int tap_page_close(struct tap_page *p);
/* Writes, if there is much to write. */
void tap_page_flush(struct tap_page *p);

/* For people: what follows is shown so; TAP_TINT_NONE: as usual again. */
void tap_tint_add(struct tap_buf *b, enum tap_tint tint);
/* The same, where .color is. */
void tap_page_tint(struct tap_page *p, enum tap_tint tint);
/* For people: a sentence as a line of its own; where .columns is set, as the lines that it takes.
 */
void tap_page_sentence(struct tap_page *p, const char *s, size_t len);
/*
 * Breaks what stands behind @from into lines of @limit columns, at blanks where there are some.
 * With @below the first one begins on a new line, too.
 */
void tap_page_wrap(struct tap_buf *b, size_t from, size_t limit, size_t indent, bool below);

/* Members of a report, or of an object in it, for programs; in other styles nothing. */
void tap_page_object(struct tap_page *p, const char *key);
void tap_page_object_end(struct tap_page *p);
void tap_page_array(struct tap_page *p, const char *key);
void tap_page_array_end(struct tap_page *p);
void tap_page_null(struct tap_page *p, const char *key);
void tap_page_bool(struct tap_page *p, const char *key, bool v);
void tap_page_u64(struct tap_page *p, const char *key, uint64_t v);
void tap_page_u64_if(struct tap_page *p, const char *key, bool known, uint64_t v); /* else null */
void tap_page_s64(struct tap_page *p, const char *key, int64_t v);
void tap_page_id(struct tap_page *p, const char *key, int id); /* null below 0: not known */
void tap_page_real(struct tap_page *p, const char *key, double v); /* null if not finite */
void tap_page_text(struct tap_page *p, const char *key, const char *s, size_t len);
void tap_page_puts(struct tap_page *p, const char *key, const char *s); /* NULL: null */
void tap_page_at(struct tap_page *p, const char *key, uint64_t ns); /* "x_ns", and "x_wall" */
void tap_page_cpus(struct tap_page *p, const char *key, const struct tap_cpus *cpus); /* an array */
void tap_page_json(struct tap_page *p, const char *key, const json_t *v); /* NULL: null */

#endif
