// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/out/markdown.h"

#include "show/out/table.h"

/* Escape Markdown's special characters: those that end a cell, mark up text, or begin HTML. */
static void add_cell(struct tap_buf *b, const char *s, size_t len)
{
	struct tap_buf text = { 0 };

	tap_text_escape(&text, s, len);
	for (size_t i = 0; i < text.len; i++) {
		if (strchr("|<*_`", text.data[i]))
			tap_buf_char(b, '\\');
		tap_buf_char(b, text.data[i]);
	}
	if (text.err)
		b->err = text.err;
	tap_buf_release(&text);
}

static void table_begin(struct tap_table *t)
{
	struct tap_buf *b = &t->page->buf;

	tap_buf_char(b, '|');
	for (const struct tap_column *c = t->columns; !tap_column_is_end(c); c++)
		tap_buf_printf(b, " %s |", c->title);
	tap_buf_puts(b, "\n|");
	for (const struct tap_column *c = t->columns; !tap_column_is_end(c); c++)
		tap_buf_puts(b, "---|");
	tap_buf_puts(b, "\n");
}

static void table_cell(struct tap_table *t, const struct tap_column *c, struct tap_value v)
{
	struct tap_buf *b = &t->page->buf;

	tap_buf_puts(b, c == t->columns ? "| " : " ");
	if (v.kind == TAP_VALUE_TEXT)
		add_cell(b, v.text, v.len);
	else
		tap_buf_char(b, '-');
	tap_buf_puts(b, " |");
}

static void table_row(struct tap_table *t)
{
	tap_buf_char(&t->page->buf, '\n');
	tap_page_flush(t->page);
}

static const struct tap_table_ops table = { .begin = table_begin,
					    .cell = table_cell,
					    .row = table_row };

const struct tap_style tap_style_markdown = { .audience = TAP_FOR_PEOPLE,
					      .table = &table,
					      .stream = &table };
