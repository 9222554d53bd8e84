// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/out/page.h"

#define BLOCK 65536u /* the buffer is written out once it has this many bytes */

/* Write the buffer out. After an error, drop it, so that memory does not grow. */
static void write_out(struct tap_page *p)
{
	if (!p->err)
		p->err = p->buf.err ? p->buf.err : tap_write_all(p->fd, p->buf.data, p->buf.len);
	tap_buf_clear(&p->buf);
}

void tap_page_flush(struct tap_page *p)
{
	if (p->buf.len >= BLOCK || p->buf.err)
		write_out(p);
}

void tap_page_open(struct tap_page *p, const struct tap_style *style, int fd)
{
	*p = (struct tap_page){ .style = style, .fd = fd };
	if (style->open)
		style->open(p);
}

int tap_page_close(struct tap_page *p)
{
	if (p->style->close)
		p->style->close(p);
	write_out(p);
	tap_buf_release(&p->buf);
	return p->err;
}

/* ---- for people ---- */

void tap_tint_add(struct tap_buf *b, enum tap_tint tint)
{
	static const char *const codes[] = {
		[TAP_TINT_NONE] = "\033[m",    [TAP_TINT_BOLD] = "\033[1m",
		[TAP_TINT_RED] = "\033[31m",   [TAP_TINT_YELLOW] = "\033[33m",
		[TAP_TINT_CYAN] = "\033[36m",  [TAP_TINT_MAGENTA] = "\033[35m",
		[TAP_TINT_GREEN] = "\033[32m", [TAP_TINT_BLUE] = "\033[34m",
	};

	tap_buf_puts(b, codes[tint]);
}

void tap_page_tint(struct tap_page *p, enum tap_tint tint)
{
	if (p->color)
		tap_tint_add(&p->buf, tint);
}

void tap_page_wrap(struct tap_buf *b, size_t from, size_t limit, size_t indent, bool below)
{
	struct tap_buf text = { 0 };
	const char *s, *blank;
	size_t n;

	tap_buf_add(&text, b->data + from, b->len - from);
	while (below && from && b->data[from - 1] == ' ') /* remove blanks at the end of the line */
		from--;
	b->len = from;
	for (s = text.data; s < text.data + text.len; s += n) {
		size_t len = (size_t)(text.data + text.len - s);

		if (s > text.data || below) {
			tap_buf_char(b, '\n');
			tap_buf_blanks(b, indent);
		}
		n = tap_text_fit(s, len, limit) ?: len;
		blank = n < len ? memrchr(s, ' ', n + 1) : NULL;
		if (blank && blank > s)
			n = (size_t)(blank - s);
		tap_buf_add(b, s, n);
		n += n < len && s[n] == ' ';
	}
	if (text.err)
		b->err = text.err;
	tap_buf_release(&text);
}

void tap_page_sentence(struct tap_page *p, const char *s, size_t len)
{
	size_t from = p->buf.len;

	tap_buf_add(&p->buf, s, len);
	if (p->columns)
		tap_page_wrap(&p->buf, from, p->columns, 0, false);
	tap_buf_char(&p->buf, '\n');
}

/* ---- for programs ---- */

static void nest_begin(struct tap_page *p, const char *key, bool is_array)
{
	if (p->style->nest)
		p->style->nest(p, key, is_array);
}

static void nest_end(struct tap_page *p, bool is_array)
{
	if (!p->style->nest_end)
		return;
	p->style->nest_end(p, is_array);
	tap_page_flush(p);
}

void tap_page_object(struct tap_page *p, const char *key)
{
	nest_begin(p, key, false);
}

void tap_page_object_end(struct tap_page *p)
{
	nest_end(p, false);
}

void tap_page_array(struct tap_page *p, const char *key)
{
	nest_begin(p, key, true);
}

void tap_page_array_end(struct tap_page *p)
{
	nest_end(p, true);
}

static void put_member(struct tap_page *p, const char *key, struct tap_value v)
{
	if (p->style->member)
		p->style->member(p, key, v);
}

void tap_page_null(struct tap_page *p, const char *key)
{
	put_member(p, key, (struct tap_value){ TAP_VALUE_NULL });
}

void tap_page_bool(struct tap_page *p, const char *key, bool v)
{
	put_member(p, key, (struct tap_value){ TAP_VALUE_BOOL, .yes = v });
}

void tap_page_u64(struct tap_page *p, const char *key, uint64_t v)
{
	put_member(p, key, (struct tap_value){ TAP_VALUE_U64, .u = v });
}

void tap_page_u64_if(struct tap_page *p, const char *key, bool known, uint64_t v)
{
	put_member(p, key, (struct tap_value){ known ? TAP_VALUE_U64 : TAP_VALUE_NULL, .u = v });
}

void tap_page_s64(struct tap_page *p, const char *key, int64_t v)
{
	put_member(p, key, (struct tap_value){ TAP_VALUE_S64, .s = v });
}

void tap_page_id(struct tap_page *p, const char *key, int id)
{
	if (id >= 0)
		tap_page_s64(p, key, id);
	else
		tap_page_null(p, key);
}

void tap_page_real(struct tap_page *p, const char *key, double v)
{
	put_member(p, key, (struct tap_value){ TAP_VALUE_REAL, .real = v });
}

void tap_page_text(struct tap_page *p, const char *key, const char *s, size_t len)
{
	put_member(p, key, (struct tap_value){ TAP_VALUE_TEXT, (unsigned int)len, .text = s });
}

void tap_page_at(struct tap_page *p, const char *key, uint64_t ns)
{
	put_member(p, key, (struct tap_value){ TAP_VALUE_AT, .u = ns });
}

void tap_page_cpus(struct tap_page *p, const char *key, const struct tap_cpus *cpus)
{
	tap_page_array(p, key);
	for (unsigned int cpu = 0; cpu < cpus->nr_words * 64; cpu++)
		if (tap_cpus_has(cpus, cpu))
			tap_page_u64(p, NULL, cpu);
	tap_page_array_end(p);
}

void tap_page_puts(struct tap_page *p, const char *key, const char *s)
{
	if (s)
		tap_page_text(p, key, s, strlen(s));
	else
		tap_page_null(p, key);
}

void tap_page_json(struct tap_page *p, const char *key, const json_t *v)
{
	if (v)
		put_member(p, key, (struct tap_value){ TAP_VALUE_JSON, .json = v });
	else
		tap_page_null(p, key);
}
