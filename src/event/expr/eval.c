// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr/expr.h"

static uint64_t eval_elem(const struct expr_run *r, const struct expr_node *n)
{
	const struct tap_field *f = r->prog->nodes[expr_chosen(r, n->a)].field;
	uint64_t index = tap_expr_eval(r, n->b);
	uint32_t len;
	const unsigned char *p = expr_region(r, f, &len);

	if (index >= len / n->type.size)
		return 0;
	return expr_load_elem(p + index * n->type.size, n->type, f->swap);
}

uint64_t tap_expr_eval(const struct expr_run *r, uint32_t node)
{
	const struct expr_node *n = &r->prog->nodes[node];
	uint32_t len;

	switch (n->op) {
	case OP_NUM:
		return n->num;
	case OP_LOAD:
		return expr_load(n->load, r->rec + n->at) & n->num;
	case OP_ELEM:
		return eval_elem(r, n);
	case OP_LEN:
		expr_region(r, n->field, &len);
		return len;
	case OP_CPU:
		return (uint64_t)r->cpu;
	case OP_CAST:
		return expr_fit(n->type, tap_expr_eval(r, n->a));
	case OP_NEG:
		return expr_fit(n->type, -tap_expr_eval(r, n->a));
	case OP_INV:
		return expr_fit(n->type, ~tap_expr_eval(r, n->a));
	case OP_NOT:
		return !tap_expr_eval(r, n->a);
	case OP_COND:
		return tap_expr_eval(r, tap_expr_eval(r, n->a) ? n->b : n->c);
	case OP_ANDAND:
		return tap_expr_eval(r, n->a) && tap_expr_eval(r, n->b);
	case OP_OROR:
		return tap_expr_eval(r, n->a) || tap_expr_eval(r, n->b);
	default:
		return expr_arith(n->op, n->arith, tap_expr_eval(r, n->a), tap_expr_eval(r, n->b));
	}
}
