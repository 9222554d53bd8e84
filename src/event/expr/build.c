// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr/build.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

uint32_t tap_expr_fail(struct expr_parser *p, int err)
{
	if (!p->err) {
		p->err = err;
		p->bad = p->at;
	}
	p->at = "";
	return 0;
}

bool tap_expr_grow(struct expr_parser *p, void *array, uint32_t nr, uint32_t more, uint32_t *cap,
		   size_t size)
{
	uint64_t want = (uint64_t)nr + more, n = *cap ? *cap : 16;
	void *v;

	if (want <= *cap)
		return true;
	while (n < want)
		n *= 2;
	memcpy(&v, array, sizeof(v)); /* *array may be a pointer of any type */
	v = n <= UINT32_MAX ? reallocarray(v, n, size) : NULL;
	if (!v)
		return tap_expr_fail(p, -ENOMEM);
	memcpy(array, &v, sizeof(v));
	*cap = (uint32_t)n;
	return true;
}

void tap_expr_add_text(struct expr_parser *p, const char *s, uint32_t len)
{
	struct expr_prog *prog = p->prog;

	if (!tap_expr_grow(p, &prog->texts, prog->texts_len, len + EXPR_SLACK, &prog->cap_texts, 1))
		return;
	memcpy(prog->texts + prog->texts_len, s, len);
	prog->texts_len += len;
	memset(prog->texts + prog->texts_len, 0, EXPR_SLACK);
}

static bool is_same_type(struct tap_ctype a, struct tap_ctype b)
{
	return a.size == b.size && a.is_signed == b.is_signed && a.is_real == b.is_real &&
	       a.is_bool == b.is_bool;
}

/* Accessors of kernel structs often repeat an expression: equal nodes are computed only once. */
static bool is_same(const struct expr_node *a, const struct expr_node *b)
{
	return a->op == b->op && a->class == b->class && a->load == b->load &&
	       a->unknown == b->unknown && a->swap == b->swap && a->opaque == b->opaque &&
	       is_same_type(a->type, b->type) && is_same_type(a->arith, b->arith) &&
	       a->depth == b->depth && a->a == b->a && a->b == b->b && a->c == b->c &&
	       a->at == b->at && a->len == b->len && a->max_len == b->max_len &&
	       a->ctype == b->ctype && a->num == b->num;
}

static uint32_t hash_node(const struct expr_node *n)
{
	const uint64_t parts[] = { n->op, n->type.size, n->a, n->b, n->c, n->at, n->ctype, n->num };
	uint64_t hash = 0;

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		hash = (hash ^ parts[i]) * 0x9e3779b97f4a7c15u; /* 2^64 / the golden ratio */
	return (uint32_t)(hash >> 32);
}

uint32_t tap_expr_add(struct expr_parser *p, struct expr_node n)
{
	struct expr_prog *prog = p->prog;
	const uint32_t parts[] = { n.a, n.b, n.c };

	if (p->err ||
	    !tap_expr_grow(p, &prog->nodes, prog->nr_nodes, 1, &prog->cap_nodes, sizeof(n)))
		return 0;
	for (unsigned int i = 0; i < 3; i++) {
		if (!parts[i])
			continue;
		n.unknown |= node_at(p, parts[i])->unknown;
		if (node_at(p, parts[i])->depth >= n.depth)
			n.depth = node_at(p, parts[i])->depth + 1;
	}
	if (n.depth > EXPR_MAX_DEPTH)
		return tap_expr_fail(p, -EINVAL);
	if (p->scope) {
		uint32_t *recent = &p->recent[hash_node(&n) % EXPR_RECENT];

		if (*recent && *recent < prog->nr_nodes && is_same(&prog->nodes[*recent], &n))
			return *recent;
		*recent = prog->nr_nodes;
	}
	prog->nodes[prog->nr_nodes] = n;
	return prog->nr_nodes++;
}

uint32_t tap_expr_num(struct expr_parser *p, struct tap_ctype type, uint64_t v)
{
	return tap_expr_add(
		p, (struct expr_node){ .op = OP_NUM, .type = type, .num = expr_fit(type, v) });
}

uint32_t tap_expr_unknown(struct expr_parser *p)
{
	return tap_expr_add(p,
			    (struct expr_node){ .op = OP_UNKNOWN, .type = { 8 }, .unknown = true });
}

bool tap_expr_is_number(struct expr_parser *p, uint32_t n)
{
	if (!p->err && n && node_at(p, n)->class == EXPR_NUMBER)
		return true;
	tap_expr_fail(p, -EINVAL);
	return false;
}

/* Add an operation on numbers; if all operands are constants, the result is one as well. */
static uint32_t add_op(struct expr_parser *p, struct expr_node n)
{
	const struct expr_run run = { .prog = p->prog };
	uint32_t at = tap_expr_add(p, n);

	if (!at || !expr_is_const(p, n.a) || (n.b && !expr_is_const(p, n.b)))
		return at;
	p->prog->nr_nodes--; /* tap_expr_add() appended it as the last node */
	return tap_expr_num(p, n.type, tap_expr_eval(&run, at));
}

/* Return true if converting a @from number to @to does not change its 64-bit representation. */
static bool same_bits(struct tap_ctype from, struct tap_ctype to)
{
	if (to.size == 8)
		return true;
	if (from.is_signed == to.is_signed)
		return to.size >= from.size;
	return !from.is_signed && to.size > from.size;
}

/*
 * Cast a field's load. A narrower type loads only the bytes that remain; a cast that only widens
 * keeps the load.
 */
static uint32_t cast_load(struct expr_parser *p, uint32_t n, struct tap_ctype to)
{
	struct expr_node cut = *node_at(p, n);

	if (to.size <= cut.len) {
		if (p->fmt->big_endian)
			cut.at += cut.len - to.size;
		cut.load = expr_load_of(to, cut.swap);
		cut.len = to.size;
		cut.num = expr_fit(to, cut.num);
	}
	cut.type = to;
	cut.opaque = false;
	return tap_expr_add(p, cut);
}

/* Change the type of a number whose value both types can represent. */
static uint32_t change_type(struct expr_parser *p, uint32_t n, struct tap_ctype to)
{
	struct expr_node copy;

	if (p->err)
		return 0;
	copy = *node_at(p, n);
	copy.type = to;
	return tap_expr_add(p, copy);
}

static uint32_t cast_to_bool(struct expr_parser *p, uint32_t n, struct tap_ctype to)
{
	return change_type(p, tap_expr_unary(p, OP_NOT, tap_expr_unary(p, OP_NOT, n)), to);
}

uint32_t tap_expr_cast(struct expr_parser *p, uint32_t n, struct tap_ctype to)
{
	struct tap_ctype from;

	if (!tap_expr_is_number(p, n))
		return 0;
	if (to.is_real)
		return tap_expr_fail(p, -EINVAL);
	from = node_at(p, n)->type;
	if (to.is_bool && !from.is_bool)
		return cast_to_bool(p, n, to);
	if (!node_at(p, n)->opaque && from.size == to.size && from.is_signed == to.is_signed)
		return from.is_bool == to.is_bool ? n : change_type(p, n, to);
	if (node_at(p, n)->op == OP_LOAD && (to.size <= node_at(p, n)->len || same_bits(from, to)))
		return cast_load(p, n, to);
	return add_op(p, (struct expr_node){ .op = OP_CAST, .type = to, .a = n });
}

static struct tap_ctype promote_type(struct tap_ctype type)
{
	return type.size < 4 ? EXPR_INT : type;
}

static struct tap_ctype common_type(struct tap_ctype a, struct tap_ctype b)
{
	a = promote_type(a);
	b = promote_type(b);
	if (a.size != b.size)
		return a.size > b.size ? a : b;
	return (struct tap_ctype){ a.size, a.is_signed && b.is_signed };
}

/* Arithmetic on a pointer: C would scale it by the size of the type it points to, or refuse it. */
static uint32_t compute_pointer(struct expr_parser *p)
{
	return p->scope ? tap_expr_fail(p, -EINVAL) : tap_expr_unknown(p);
}

uint32_t tap_expr_binary(struct expr_parser *p, enum expr_op op, uint32_t a, uint32_t b)
{
	bool shift = op == OP_SHL || op == OP_SHR, logic = op == OP_ANDAND || op == OP_OROR;
	bool compare = op >= OP_LT && op <= OP_NE;
	struct tap_ctype type = EXPR_INT;
	struct expr_node masked;

	if (!tap_expr_is_number(p, a) || !tap_expr_is_number(p, b))
		return 0;
	if (!logic && !compare && (node_at(p, a)->opaque || node_at(p, b)->opaque))
		return compute_pointer(p);
	if (shift)
		type = promote_type(node_at(p, a)->type);
	else if (!logic)
		type = common_type(node_at(p, a)->type, node_at(p, b)->type);
	/*
	 * A shift count is not converted to the result's type; a negative count exceeds every
	 * width.
	 */
	if (!logic && !same_bits(node_at(p, a)->type, type))
		a = tap_expr_cast(p, a, type);
	if (!logic && !shift && !same_bits(node_at(p, b)->type, type))
		b = tap_expr_cast(p, b, type);
	if (p->err)
		return 0;
	if (op == OP_AND && node_at(p, a)->op == OP_LOAD && expr_is_const(p, b)) {
		masked = *node_at(p, a);
		masked.num &= node_at(p, b)->num;
		masked.type = type;
		return tap_expr_add(p, masked);
	}
	return add_op(p, (struct expr_node){ .op = op,
					     .type = compare ? EXPR_INT : type,
					     .arith = type,
					     .a = a,
					     .b = b });
}

uint32_t tap_expr_unary(struct expr_parser *p, enum expr_op op, uint32_t a)
{
	struct expr_node n = { .op = op, .type = EXPR_INT, .a = a };

	if (!tap_expr_is_number(p, a))
		return 0;
	if (op != OP_NOT && node_at(p, a)->opaque)
		return compute_pointer(p);
	if (op != OP_NOT)
		n.type = promote_type(node_at(p, a)->type);
	return add_op(p, n);
}

uint32_t tap_expr_cond(struct expr_parser *p, uint32_t a, uint32_t b, uint32_t d)
{
	struct expr_node n = { .op = OP_COND, .class = EXPR_TEXT, .a = a }, yes, no;

	if (!tap_expr_is_number(p, a) || !b || !d)
		return tap_expr_fail(p, -EINVAL);
	if (p->scope && expr_is_const(p, a) && node_at(p, node_at(p, a)->num ? d : b)->unknown)
		return node_at(p, a)->num ? b : d; /* the other operand is unknown on this kernel */
	yes = *node_at(p, b);
	no = *node_at(p, d);
	if (yes.class == no.class) {
		n.class = yes.class;
		n.type = yes.type;
	} else if (yes.class == EXPR_REAL || no.class == EXPR_REAL) {
		return tap_expr_fail(p, -EINVAL);
	}
	if (n.class == EXPR_NUMBER) {
		n.type = common_type(yes.type, no.type);
		n.ctype = yes.ctype ?: no.ctype; /* if one of them is NULL, it has no ctype */
		n.opaque = yes.opaque || no.opaque;
		b = n.opaque ? b : tap_expr_cast(p, b, n.type);
		d = n.opaque ? d : tap_expr_cast(p, d, n.type);
	}
	if (!p->err && expr_is_const(p, a))
		return node_at(p, a)->num ? b : d;
	if (yes.max_len && no.max_len) /* otherwise the length is unknown */
		n.max_len = yes.max_len > no.max_len ? yes.max_len : no.max_len;
	n.b = b;
	n.c = d;
	return tap_expr_add(p, n);
}

uint32_t tap_expr_choose(struct expr_parser *p, uint32_t a, uint32_t b, uint32_t d)
{
	struct expr_node n;

	if (p->err)
		return 0;
	n = *node_at(p, d);
	return tap_expr_add(p, (struct expr_node){ .op = OP_COND,
						   .class = n.class,
						   .type = n.type,
						   .ctype = n.ctype,
						   .opaque = n.opaque,
						   .a = a,
						   .b = b,
						   .c = d });
}

uint32_t tap_expr_bytes(struct expr_parser *p, const struct tap_field *f)
{
	struct expr_node n = { .op = OP_BYTES, .class = EXPR_BYTES, .field = f };

	if (!f)
		return 0;
	n.type = expr_elem_type(f);
	return tap_expr_add(p, n);
}

struct tap_ctype tap_expr_field_type(const struct tap_field *f)
{
	struct tap_ctype type = expr_elem_type(f);

	type.is_bool = type.size == 1 && !strcmp(f->type, "bool");
	return type;
}

uint32_t tap_expr_field(struct expr_parser *p, const struct tap_field *f)
{
	struct expr_node n = { .op = OP_LOAD, .num = UINT64_MAX };

	if (!f || (f->kind != TAP_FIELD_NUMBER && f->kind != TAP_FIELD_REAL))
		return tap_expr_bytes(p, f);
	n.class = f->is_real ? EXPR_REAL : EXPR_NUMBER;
	n.type = tap_expr_field_type(f);
	n.load = expr_load_of(n.type, f->swap);
	n.at = f->offset;
	n.len = f->size;
	n.swap = f->swap;
	return tap_expr_add(p, n);
}

void tap_expr_begin(struct expr_parser *p, const struct tap_format *fmt, const char *text,
		    struct expr_prog *prog)
{
	*prog = (struct expr_prog){ .fmt = fmt };
	*p = (struct expr_parser){ .fmt = fmt, .prog = prog, .at = text };
	tap_expr_num(p, EXPR_INT, 0);
	tap_expr_add_text(p, "", 1);
	tap_expr_grow(p, &prog->entries, 0, 1, &prog->cap_entries, sizeof(*prog->entries));
}

int tap_expr_end(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
	if (!p->err && *p->at)
		tap_expr_fail(p, -EINVAL);
	if (p->err)
		tap_expr_release(p->prog);
	return p->err;
}

void tap_expr_release(struct expr_prog *prog)
{
	free(prog->nodes);
	free(prog->entries);
	free(prog->texts);
	*prog = (struct expr_prog){ 0 };
}
