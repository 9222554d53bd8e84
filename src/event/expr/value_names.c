// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr/value_names.h"

#include "event/expr/parse.h"

/* Return true if the node's value is the field or some of its bits. */
static bool is_of(const struct expr_prog *prog, uint32_t node, const struct tap_field *field)
{
	const struct expr_node *n = &prog->nodes[node];

	while (n->op == OP_CAST || n->op == OP_AND)
		n = &prog->nodes[n->a];
	return n->op == OP_LOAD && n->at == field->offset;
}

static bool is_text(const struct expr_prog *prog, uint32_t at, uint32_t len, struct span name)
{
	return len == name.len && !memcmp(prog->texts + at, name.s, len);
}

static bool find_value(const struct expr_prog *prog, const struct tap_field *field,
		       struct span name, uint64_t *value)
{
	for (const struct expr_node *n = prog->nodes; n < prog->nodes + prog->nr_nodes; n++) {
		const struct expr_node *shown = n->op == OP_COND ? &prog->nodes[n->b] : n;
		const struct expr_node *other = &prog->nodes[n->c];

		if ((shown->op != OP_SYMBOLIC && shown->op != OP_FLAGS) ||
		    !is_of(prog, shown->a, field))
			continue;
		for (const struct expr_entry *e = prog->entries + shown->at;
		     e < prog->entries + shown->at + shown->len; e++) {
			*value = e->value;
			if (is_text(prog, e->at, e->len, name))
				return true;
		}
		*value = 0;
		if (n->op == OP_COND && other->op == OP_LITERAL && is_of(prog, n->a, field) &&
		    is_text(prog, other->at, other->len, name))
			return true;
	}
	return false;
}

bool tap_value_name_find(const struct tap_format *fmt, const struct tap_field *field,
			 struct span name, uint64_t *value)
{
	struct expr_parser p;
	struct expr_prog prog;
	uint32_t at, len;
	bool found = false;

	tap_expr_begin(&p, fmt, fmt->print_fmt, &prog);
	tap_expr_string(&p, &at, &len);
	while (!p.err && tap_expr_accept(&p, ","))
		tap_expr_parse(&p);
	found = !p.err && find_value(&prog, field, name, value);
	tap_expr_release(&prog);
	return found;
}
