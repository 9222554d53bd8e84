// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/export/json_cut.h"

#include <errno.h>
#include <inttypes.h>

struct omitted {
	char key[TAP_JSON_KEY];
	uint64_t rows;
};

static struct tap_json_list *top_list(struct tap_json_cut *c)
{
	return &c->open[c->depth - 1];
}

static void put_omitted(struct tap_json_cut *c)
{
	const struct omitted *o = c->omitted.v;

	if (!c->omitted.nr)
		return;
	tap_buf_puts(c->out, ",\"omitted\":{");
	for (unsigned int i = 0; i < c->omitted.nr; i++)
		tap_buf_printf(c->out, "%s\"%.*s\":%" PRIu64, i ? "," : "", (int)TAP_JSON_KEY,
			       o[i].key, o[i].rows);
	tap_buf_char(c->out, '}');
}

static void open_one(struct tap_json_cut *c, bool is_list)
{
	struct tap_json_list *list = &c->open[c->depth];

	if (c->depth == TAP_JSON_DEPTH) {
		c->err = -EINVAL;
		return;
	}
	*list = (struct tap_json_list){ .is_list = is_list };
	if (c->depth)
		memcpy(list->key, top_list(c)->key, sizeof(list->key));
	c->depth++;
}

static void close_one(struct tap_json_cut *c)
{
	if (c->cut_at == c->depth)
		c->cut_at = 0;
	if (c->depth == 1)
		put_omitted(c);
	c->depth -= !!c->depth;
}

static void next_row(struct tap_json_cut *c)
{
	struct tap_json_list *list = top_list(c);
	struct omitted *o;

	if (!list->is_list || (c->cut_at && c->cut_at < c->depth) || ++list->rows < c->rows)
		return;
	c->cut_at = c->depth;
	o = tap_keyed_get(&c->omitted, list->key, sizeof(o->key), sizeof(*o));
	if (o)
		o->rows++;
	else
		c->err = -ENOMEM;
}

static void add_to_text(struct tap_json_cut *c, char ch)
{
	if (c->is_escaped || ch == '\\')
		c->is_escaped = !c->is_escaped;
	else if (ch == '"')
		c->in_text = false;
	if (c->in_text && c->text_len < sizeof(c->text))
		c->text[c->text_len++] = ch;
}

static void begin_text(struct tap_json_cut *c)
{
	c->in_text = true;
	c->text_len = 0;
	memset(c->text, 0, sizeof(c->text));
}

static void add_char(struct tap_json_cut *c, char ch)
{
	if (c->in_text)
		add_to_text(c, ch);
	else if (ch == '"')
		begin_text(c);
	else if (ch == '[' || ch == '{')
		open_one(c, ch == '[');
	else if (ch == ']' || ch == '}')
		close_one(c);
	else if (ch == ':' && c->depth)
		memcpy(top_list(c)->key, c->text, sizeof(c->text));
	else if (ch == ',' && c->depth)
		next_row(c);
	if (!c->cut_at)
		tap_buf_char(c->out, ch);
}

void tap_json_cut_add(struct tap_json_cut *c, const char *text, size_t len)
{
	for (size_t i = 0; !c->err && i < len; i++)
		add_char(c, text[i]);
}

int tap_json_cut_end(struct tap_json_cut *c)
{
	tap_keyed_release(&c->omitted);
	return c->err ?: c->out->err;
}
