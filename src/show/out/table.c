// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/out/table.h"

static void start_table(struct tap_table *t, const struct tap_table_ops *ops, struct tap_page *p,
			const struct tap_column *columns, const char *key, bool is_object)
{
	t->ops = ops;
	t->page = p;
	t->columns = t->at = columns;
	t->key = key;
	t->is_object = is_object;
	t->pad = 0;
	t->tint = TAP_TINT_NONE;
	t->cells = t->texts = (struct tap_buf){ 0 };
	if (ops->begin)
		ops->begin(t);
}

void tap_table_begin(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		     const char *key)
{
	start_table(t, p->style->table, p, columns, key, false);
}

void tap_table_stream(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		      const char *key)
{
	start_table(t, p->style->stream, p, columns, key, false);
}

void tap_table_object(struct tap_table *t, struct tap_page *p, const struct tap_column *columns,
		      const char *key)
{
	start_table(t, p->style->table, p, columns, key, true);
}

void tap_table_end(struct tap_table *t)
{
	if (t->ops->end)
		t->ops->end(t);
}
