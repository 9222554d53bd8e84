// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/scope.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/opt.h"
#include "event/expr/parse.h"

#define MAX_DEPTH 32u /* nesting depth of accessors, and of anonymous members */
#define STRING_MAX                                                                                 \
	256u /* maximum bytes of text read through a pointer, as in bpf/schedtap.bpf.c             \
	      */
#define MAX_NAMES 4096u /* candidates for "did you mean" */

/* Names come from the user's text: print at most 100 characters. */
#define WORD(w) (int)((w).len < 100 ? (w).len : 100), (w).s

struct accessor {
	const char *name, *params, *text, *when;
};

static const struct accessor accessors[] = {
#define TAP_ACCESSOR(name, params, text) { #name, params, text, NULL },
#define TAP_TEXT_ACCESSOR(name, params, text, when)
#include "record/program/accessors.h"
};

static const struct accessor text_accessors[] = {
#undef TAP_ACCESSOR
#undef TAP_TEXT_ACCESSOR
#define TAP_ACCESSOR(name, params, text)
#define TAP_TEXT_ACCESSOR(name, params, text, when) { #name, params, text, when },
#include "record/program/accessors.h"
};

static struct tap_scope *names_of(struct expr_parser *p)
{
	return p->names;
}

/* ---- reasons ---- */

static uint32_t add_reason(struct tap_scope *n, struct span where, char *text)
{
	if (!text ||
	    tap_array_grow(&n->reasons, n->nr_reasons, &n->cap_reasons, sizeof(*n->reasons))) {
		free(text);
		tap_expr_fail(&n->p, -ENOMEM);
		return 0;
	}
	n->reasons[n->nr_reasons] = (struct tap_scope_reason){ text, n->outer_at ?: where.s };
	return ++n->nr_reasons;
}

uint32_t tap_scope_say(struct tap_scope *n, struct span where, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return add_reason(n, where, text);
}

/* Return: 0, so that callers can return it as the node. */
static uint32_t refuse_with(struct expr_parser *p, uint32_t reason)
{
	if (!p->err)
		names_of(p)->failed = reason;
	return tap_expr_fail(p, -EINVAL);
}

uint32_t tap_scope_lacking(struct tap_scope *n, uint32_t reason)
{
	return tap_expr_add(
		&n->p, (struct expr_node){
			       .op = OP_UNKNOWN, .type = { 8 }, .unknown = true, .num = reason });
}

static uint32_t add_lacking(struct expr_parser *p, uint32_t reason)
{
	return tap_scope_lacking(names_of(p), reason);
}

uint32_t tap_scope_why(struct tap_scope *n, uint32_t node)
{
	const struct expr_node *v;

	if (n->p.err && !n->failed)
		return tap_scope_say(n, (struct span){ n->p.bad, 0 }, "cannot parse this");
	if (n->p.err)
		return n->failed;
	for (;;) {
		v = node_at(&n->p, node);
		if (v->op == OP_UNKNOWN)
			return (uint32_t)v->num;
		if (v->a && node_at(&n->p, v->a)->unknown)
			node = v->a;
		else if (v->b && node_at(&n->p, v->b)->unknown)
			node = v->b;
		else if (v->c && node_at(&n->p, v->c)->unknown)
			node = v->c;
		else
			return 0;
	}
}

/* ---- types ---- */

const struct btf_type *tap_scope_plain_type(const struct tap_scope *n, uint32_t *id)
{
	const struct btf_type *t = btf__type_by_id(n->btf, *id);

	for (unsigned int i = 0;
	     t && i < MAX_DEPTH && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t));
	     i++) {
		*id = t->type;
		t = btf__type_by_id(n->btf, *id);
	}
	return t;
}

/* Set the type of a node that is a value. Return: false: the type is not that of a single value. */
static bool set_type(const struct tap_scope *n, struct expr_node *node, uint32_t id)
{
	const struct btf_type *t = tap_scope_plain_type(n, &id);

	node->class = EXPR_NUMBER;
	node->ctype = 0;
	node->opaque = false;
	if (t && btf_is_ptr(t)) {
		node->type = (struct tap_ctype){ 8, false };
		node->ctype = t->type;
		node->opaque = true;
		return true;
	}
	if (!t || !(btf_is_int(t) || btf_is_enum(t) || btf_is_enum64(t)) || t->size > 8 ||
	    (t->size & (t->size - 1)))
		return false;
	node->type = (struct tap_ctype){ (uint8_t)t->size,
					 btf_is_int(t) ? btf_int_encoding(t) & BTF_INT_SIGNED
						       : btf_kflag(t) };
	node->type.is_bool = btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL;
	return true;
}

struct member {
	/* offset from the struct's start, and width; width 0: not a bit field */
	uint32_t bits, nr_bits;
	uint32_t type;
};

/* Find a member, also in anonymous structs and unions. */
static bool find_member(const struct tap_scope *n, uint32_t id, struct span name,
			unsigned int depth, struct member *m)
{
	const struct btf_type *t = tap_scope_plain_type(n, &id), *inner;

	for (unsigned int i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *bm = btf_members(t) + i;
		const char *found = btf__name_by_offset(n->btf, bm->name_off);
		uint32_t of = bm->type, bits = btf_member_bit_offset(t, i);

		if (found && span_is(name, found)) {
			*m = (struct member){ bits, btf_member_bitfield_size(t, i), bm->type };
			return true;
		}
		inner = found && *found ? NULL : tap_scope_plain_type(n, &of);
		if (inner && btf_is_composite(inner) && depth < MAX_DEPTH &&
		    find_member(n, of, name, depth + 1, m)) {
			m->bits += bits;
			return true;
		}
	}
	return false;
}

/* Add the names of a struct's members to @names. Return: the new number of names. */
static unsigned int list_members(const struct tap_scope *n, uint32_t id, const char **names,
				 unsigned int nr, unsigned int depth)
{
	const struct btf_type *t = tap_scope_plain_type(n, &id);

	for (unsigned int i = 0; t && btf_is_composite(t) && i < btf_vlen(t) && nr < MAX_NAMES;
	     i++) {
		const struct btf_member *m = btf_members(t) + i;
		const char *name = btf__name_by_offset(n->btf, m->name_off);

		if (name && *name)
			names[nr++] = name;
		else if (depth < MAX_DEPTH)
			nr = list_members(n, m->type, names, nr, depth + 1);
	}
	return nr;
}

static uint32_t no_member(struct tap_scope *n, uint32_t type, struct span name)
{
	uint32_t id = type;
	const struct btf_type *t = tap_scope_plain_type(n, &id);
	const char *of = t ? btf__name_by_offset(n->btf, t->name_off) : NULL, *near;
	const char **names = calloc(MAX_NAMES, sizeof(*names));
	char word[104];
	uint32_t reason;

	snprintf(word, sizeof(word), "%.*s", WORD(name));
	near = names ? tap_nearest(word, names, list_members(n, type, names, 0, 0)) : NULL;
	reason = tap_scope_say(n, name, "this kernel has no '%s' in struct %s%s%s%s", word,
			       of && *of ? of : "(no name)", near ? ": did you mean '" : "",
			       near ?: "", near ? "'?" : "");
	free(names);
	return reason;
}

static uint32_t find_struct(const struct tap_scope *n, struct span name)
{
	char text[128];
	int id;

	snprintf(text, sizeof(text), "%.*s", name.len < 127 ? (int)name.len : 127, name.s);
	id = btf__find_by_name_kind(n->btf, text, BTF_KIND_STRUCT);
	return id > 0 ? (uint32_t)id : 0;
}

uint32_t tap_scope_arg_struct(const struct tap_scope *n, unsigned int arg)
{
	uint32_t id = n->arg_types[arg], to;
	const struct btf_type *t = tap_scope_plain_type(n, &id);

	if (!t || !btf_is_ptr(t))
		return 0;
	to = t->type;
	t = tap_scope_plain_type(n, &to);
	return t && btf_is_struct(t) ? to : 0;
}

/* ---- places in memory ---- */

/*
 * Return the node of the place that member @m has in the struct that is @of, or that @of points to.
 */
static uint32_t add_place(struct expr_parser *p, uint32_t of, const struct member *m)
{
	const struct expr_node base = *node_at(p, of);
	struct expr_node n = { .op = OP_PLACE, .class = EXPR_PLACE, .ctype = m->type, .a = of };

	n.num = m->nr_bits ? m->bits / 64 * 8 : m->bits / 8;
	n.at = m->nr_bits ? m->bits % 64 : 0;
	n.len = m->nr_bits;
	/* merge offsets, but not one before an object that the verifier knows */
	if (base.op == OP_PLACE || (base.op == OP_POINTER && (int64_t)base.num >= 0)) {
		n.a = base.a;
		n.num += base.num;
	}
	return tap_expr_add(p, n);
}

static uint32_t load_place(struct expr_parser *p, uint32_t at)
{
	struct expr_node n = *node_at(p, at);

	if (n.op != OP_PLACE)
		return at;
	n.op = OP_MEMBER;
	if (!set_type(names_of(p), &n, n.ctype))
		return at;
	n.load = expr_load_of(n.type, false);
	if (n.len && n.len < 32) /* promoted to int, which has all of its values */
		n.type = EXPR_INT;
	return tap_expr_add(p, n);
}

static uint32_t read_member(struct expr_parser *p, uint32_t of, struct span name, bool arrow)
{
	struct tap_scope *n = names_of(p);
	struct member m;

	if (p->err)
		return 0;
	if (!name.len)
		return refuse_with(p, tap_scope_say(n, name, "expected a member's name"));
	if (arrow)
		of = load_place(p, of);
	if (node_at(p, of)->unknown)
		return of;
	if (arrow ? !node_at(p, of)->ctype || node_at(p, of)->op == OP_PLACE
		  : node_at(p, of)->op != OP_PLACE)
		return refuse_with(
			p, tap_scope_say(n, name, "the expression before '%.*s' is not a %s",
					 WORD(name), arrow ? "pointer to a struct" : "struct"));
	if (find_member(n, node_at(p, of)->ctype, name, 0, &m))
		return add_place(p, of, &m);
	return add_lacking(p, no_member(n, node_at(p, of)->ctype, name));
}

static uint32_t read_element(struct expr_parser *p, uint32_t of, uint32_t index)
{
	struct tap_scope *n = names_of(p);
	const struct expr_node *array = node_at(p, of);
	const struct span here = { p->at, 0 };
	uint32_t id = array->ctype;
	const struct btf_type *t;
	long long size;

	if (array->unknown)
		return of;
	t = array->op == OP_PLACE ? tap_scope_plain_type(n, &id) : NULL;
	if (!t || !btf_is_array(t))
		return refuse_with(
			p,
			tap_scope_say(n, here, "the expression before the index is not an array"));
	if (!expr_is_const(p, index))
		return refuse_with(p, tap_scope_say(n, here, "the index must be a constant"));
	if (node_at(p, index)->num >= btf_array(t)->nelems)
		return refuse_with(p, tap_scope_say(n, here, "the array has only %u elements",
						    btf_array(t)->nelems));
	size = btf__resolve_size(n->btf, btf_array(t)->type);
	if (size <= 0)
		return refuse_with(p, tap_scope_say(n, here, "the elements have no size"));
	return add_place(
		p, of,
		&(struct member){ .bits = (uint32_t)(node_at(p, index)->num * (uint64_t)size * 8),
				  .type = btf_array(t)->type });
}

static uint32_t take_address(struct expr_parser *p, uint32_t at)
{
	struct expr_node n = *node_at(p, at);

	if (p->err || n.unknown)
		return at;
	if (n.op != OP_PLACE || n.len)
		return refuse_with(p, tap_scope_say(names_of(p), (struct span){ p->at, 0 },
						    "cannot take the address of this"));
	n.op = OP_POINTER;
	n.class = EXPR_NUMBER;
	n.type = (struct tap_ctype){ 8, false };
	n.opaque = true;
	return tap_expr_add(p, n);
}

int tap_scope_bytes(struct tap_scope *n, struct span where, uint32_t node,
		    struct tap_scope_bytes *bytes)
{
	const struct expr_node *v = node_at(&n->p, node);
	uint32_t id = v->ctype;
	const struct btf_type *t = v->op == OP_PLACE ? tap_scope_plain_type(n, &id) : NULL;
	long long size = t && btf_is_array(t) ? btf__resolve_size(n->btf, id) : 0;

	*bytes = (struct tap_scope_bytes){ .size = STRING_MAX, .user = v->op == OP_USER_TEXT };
	if (size > 0) {
		bytes->place = node;
		bytes->size = size < (long long)STRING_MAX ? (uint32_t)size : STRING_MAX;
	} else if (v->class == EXPR_NUMBER && v->ctype && !t) {
		bytes->pointer = node;
	} else {
		refuse_with(&n->p,
			    tap_scope_say(n, where, "this is neither an array nor a pointer"));
		return -EINVAL;
	}
	return 0;
}

/* ---- names and accessors ---- */

static uint32_t read_text(struct tap_scope *n, const char *text);

void tap_scope_bind(struct tap_scope *n, struct span name, uint32_t node)
{
	if (n->nr_bound == TAP_SCOPE_MAX_BOUND) {
		refuse_with(&n->p, tap_scope_say(n, name, "there are more than %u variables",
						 TAP_SCOPE_MAX_BOUND));
		return;
	}
	n->bound[n->nr_bound].name = name;
	n->bound[n->nr_bound++].node = node;
}

int tap_scope_bound(const struct tap_scope *n, struct span name)
{
	for (unsigned int i = n->nr_bound; i-- > n->scope_at;)
		if (name.len == n->bound[i].name.len &&
		    !memcmp(name.s, n->bound[i].name.s, name.len))
			return (int)i;
	return -1;
}

/* Return the node of an enumerator of the kernel; 0: none of that name. */
static uint32_t find_enumerator(struct expr_parser *p, struct span w)
{
	const struct tap_scope *n = names_of(p);
	unsigned int nr = btf__type_cnt(n->btf);

	for (uint32_t id = 1; id < nr; id++) {
		const struct btf_type *t = btf__type_by_id(n->btf, id);

		for (unsigned int i = 0; btf_is_enum(t) && i < btf_vlen(t); i++)
			if (span_is(w, btf__name_by_offset(n->btf, btf_enum(t)[i].name_off)))
				return tap_expr_num(p, EXPR_INT,
						    (uint64_t)(int64_t)btf_enum(t)[i].val);
		for (unsigned int i = 0; btf_is_enum64(t) && i < btf_vlen(t); i++)
			if (span_is(w, btf__name_by_offset(n->btf, btf_enum64(t)[i].name_off)))
				return tap_expr_num(p, (struct tap_ctype){ 8, true },
						    btf_enum64_value(&btf_enum64(t)[i]));
	}
	return 0;
}

/* ---- a probe's arguments ---- */

#define U64 ((struct tap_ctype){ 8, false })

static uint32_t read_register(struct expr_parser *p, int word, struct tap_ctype type)
{
	return tap_expr_add(
		p, (struct expr_node){ .op = OP_ARG, .type = type, .num = (uint64_t)word });
}

/* Return the node of an argument's address, reg + index * scale + num. */
static uint32_t read_address(struct expr_parser *p, const struct tap_probe_arg *a)
{
	uint32_t at = tap_expr_num(p, U64, a->num), index;

	if (a->reg >= 0)
		at = tap_expr_binary(p, OP_ADD, read_register(p, a->reg, U64), at);
	if (a->index < 0)
		return at;
	index = tap_expr_binary(p, OP_MUL, read_register(p, a->index, U64),
				tap_expr_num(p, U64, a->scale));
	return tap_expr_binary(p, OP_ADD, at, index);
}

static uint32_t read_place(struct expr_parser *p, const struct tap_probe_arg *a)
{
	uint32_t node;

	switch (a->place) {
	case TAP_PROBE_CONSTANT:
		return tap_expr_num(p, a->type, a->num);
	case TAP_PROBE_MEMORY:
		node = read_address(p, a);
		return tap_expr_add(
			p, (struct expr_node){ .op = OP_USER, .type = a->type, .a = node });
	default:
		if (!a->shift)
			return read_register(p, a->reg, a->type);
		node = tap_expr_binary(p, OP_SHR, read_register(p, a->reg, U64),
				       tap_expr_num(p, EXPR_INT, a->shift));
		return tap_expr_cast(p, node, a->type);
	}
}

/* Return true if an argument cannot be read in one of the probe's ways, with the reason. */
static bool cannot_read(struct tap_scope *n, struct span w, unsigned int arg, uint32_t *reason)
{
	for (unsigned int i = 0; i < n->probe->nr_ways; i++) {
		const struct tap_probe_way *way = &n->probe->ways[i];
		const struct tap_probe_arg *a = &way->args[arg];

		if (arg < way->nr_args && !a->why)
			continue;
		*reason = arg >= way->nr_args
				  ? tap_scope_say(
					    n, w,
					    "'%.*s' does not exist at all addresses of the probe",
					    WORD(w))
				  : tap_scope_say(n, w,
						  "'%.*s' ('%.*s' in the file) cannot be read: %s",
						  WORD(w), WORD(a->text), a->why);
		return true;
	}
	return false;
}

/*
 * Return the node of a probe's argument. If places differ in where the argument is, the place's
 * cookie selects the way.
 */
static uint32_t probe_arg(struct expr_parser *p, struct span w, unsigned int arg)
{
	struct tap_scope *n = names_of(p);
	uint32_t reason, cookie, node;

	if (n->arg_nodes[arg])
		return n->arg_nodes[arg];
	if (cannot_read(n, w, arg, &reason))
		return refuse_with(p, reason);
	node = read_place(p, &n->probe->ways[0].args[arg]);
	cookie = n->probe->nr_ways > 1
			 ? tap_expr_add(p, (struct expr_node){ .op = OP_COOKIE, .type = U64 })
			 : 0;
	for (unsigned int i = 1; !p->err && i < n->probe->nr_ways; i++)
		node = tap_expr_cond(p, tap_expr_binary(p, OP_EQ, cookie, tap_expr_num(p, U64, i)),
				     read_place(p, &n->probe->ways[i].args[arg]), node);
	return n->arg_nodes[arg] =
		       p->err ? 0 : tap_expr_cast(p, node, tap_probe_arg_type(n->probe, arg));
}

static uint32_t unknown_name(struct expr_parser *p, struct span w)
{
	struct tap_scope *n = names_of(p);
	struct tap_buf args = { 0 };
	uint32_t reason;

	for (unsigned int i = 0; i < n->nr_args; i++)
		tap_buf_printf(&args, "%s%.*s", i ? ", " : "", WORD(n->args[i]));
	reason = tap_scope_say(
		n, w, "'%.*s' is neither a variable nor an argument of the %s, which has %s",
		WORD(w), n->probe ? "probe" : "tracepoint", args.len ? tap_buf_str(&args) : "none");
	tap_buf_release(&args);
	return refuse_with(p, reason);
}

static uint32_t read_name(struct expr_parser *p, struct span w)
{
	static const struct {
		const char *name;
		uint64_t value;
	} constants[] = { { "TP_UCLAMP_MIN", 0 }, { "TP_UCLAMP_MAX", 1 } };
	struct tap_scope *n = names_of(p);
	struct expr_node arg = { .op = OP_ARG };
	int bound = tap_scope_bound(n, w);
	uint32_t node;

	if (bound >= 0)
		return n->bound[bound].node;
	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
		if (span_is(w, constants[i].name))
			return tap_expr_num(p, EXPR_INT, constants[i].value);
	if (span_is(w, "REC") && n->record) {
		tap_expr_expect(p, "->");
		w = tap_expr_word(p);
		return p->err ? 0 : n->record(n, w);
	}
	if (n->probe && !n->scope_at && span_is(w, "pc"))
		return read_register(p, tap_probe_args_pc(n->probe->machine), U64);
	for (unsigned int i = 0; !n->scope_at && i < n->nr_args; i++) {
		if (w.len != n->args[i].len || memcmp(w.s, n->args[i].s, w.len))
			continue;
		if (n->probe)
			return probe_arg(p, w, i);
		arg.num = i;
		if (set_type(n, &arg, n->arg_types[i]))
			return tap_expr_add(p, arg);
	}
	node = n->scope_at ? 0 : find_enumerator(p, w);
	return node ?: unknown_name(p, w);
}

/* Parse exists(x) after its "(". */
static uint32_t read_exists(struct expr_parser *p)
{
	uint32_t x = tap_expr_parse(p);

	tap_expr_expect(p, ")");
	return p->err ? 0 : tap_expr_num(p, EXPR_INT, !node_at(p, x)->unknown);
}

/*
 * Parse container(pointer, NAME, member), or C's container_of(pointer, struct NAME, member), after
 * the "(".
 */
static uint32_t read_container(struct expr_parser *p)
{
	struct tap_scope *n = names_of(p);
	uint32_t x = tap_expr_parse(p), id;
	struct span type, of;
	struct expr_node v = { .op = OP_POINTER, .type = { 8, false }, .opaque = true };
	struct member m;

	tap_expr_expect(p, ",");
	type = tap_expr_word(p);
	if (span_is(type, "struct"))
		type = tap_expr_word(p);
	tap_expr_expect(p, ",");
	of = tap_expr_word(p);
	tap_expr_expect(p, ")");
	if (p->err || node_at(p, x)->unknown)
		return p->err ? 0 : x;
	id = find_struct(n, type);
	if (!id)
		return add_lacking(
			p, tap_scope_say(n, type, "this kernel has no struct %.*s", WORD(type)));
	if (!find_member(n, id, of, 0, &m))
		return add_lacking(p, no_member(n, id, of));
	v.a = x;
	v.num = -(uint64_t)(m.bits / 8);
	v.ctype = id;
	return tap_expr_add(p, v);
}

static uint32_t read_current(struct expr_parser *p)
{
	struct expr_node n = { .op = OP_CURRENT, .type = { 8, false }, .opaque = true };

	tap_expr_expect(p, ")");
	n.ctype = find_struct(names_of(p), (struct span){ "task_struct", 11 });
	return tap_expr_add(p, n);
}

/* Parse str(address), a string in user memory, after its "(". */
static uint32_t user_text(struct expr_parser *p)
{
	struct expr_node n = { .op = OP_USER_TEXT, .type = U64, .opaque = true };
	const struct span here = { p->at, 0 };
	int id = btf__find_by_name_kind(names_of(p)->btf, "char", BTF_KIND_INT);

	n.a = tap_expr_parse(p);
	tap_expr_expect(p, ")");
	if (p->err || node_at(p, n.a)->unknown)
		return p->err ? 0 : n.a;
	if (id <= 0 || node_at(p, n.a)->class != EXPR_NUMBER)
		return refuse_with(
			p, tap_scope_say(names_of(p), here, "str() needs the address of a string"));
	n.ctype = (uint32_t)id;
	return tap_expr_add(p, n);
}

static uint32_t lacking_in_filter(struct expr_parser *p)
{
	return add_lacking(p, tap_scope_say(names_of(p), (struct span){ p->at, 0 },
					    "the value is looked up while the event is recorded"));
}

static uint32_t nr_cpu_ids(struct expr_parser *p)
{
	tap_expr_expect(p, ")");
	return names_of(p)->nr_cpus ? tap_expr_num(p, EXPR_INT, names_of(p)->nr_cpus)
				    : lacking_in_filter(p);
}

static uint32_t cpu_capacity(struct expr_parser *p)
{
	struct expr_node n = { .op = OP_CAPACITY, .type = { 4, false } };

	n.a = tap_expr_parse(p);
	tap_expr_expect(p, ")");
	return names_of(p)->nr_cpus ? tap_expr_add(p, n) : lacking_in_filter(p);
}

/* Parse the argument of READ_ONCE() and the like. A value is read only once anyway. */
static uint32_t read_once(struct expr_parser *p)
{
	uint32_t x = tap_expr_parse(p);

	tap_expr_expect(p, ")");
	return x;
}

/*
 * Parse an accessor's arguments after its "(" and bind them to its parameters. Return: index of the
 * first.
 */
static unsigned int bind_args(struct expr_parser *p, const struct accessor *w)
{
	struct tap_scope *n = names_of(p);
	uint32_t values[8];
	unsigned int nr = 0, given = 0, from;
	const struct span here = { p->at, 0 };

	do
		values[given++] = tap_expr_parse(p);
	while (!p->err && given < 8 && tap_expr_accept(p, ","));
	tap_expr_expect(p, ")");
	from = n->nr_bound;
	for (const char *s = w->params; !p->err && *s; s += strspn(s, ", ")) {
		struct span param = { s, strcspn(s, ",") };

		if (nr < given)
			tap_scope_bind(n, param, values[nr]);
		nr++;
		s += param.len;
	}
	if (!p->err && nr != given)
		refuse_with(p, tap_scope_say(n, here, "%s() takes %u arguments: (%s)", w->name, nr,
					     w->params));
	return from;
}

/* Parse @text; only names bound at index @from and above are visible. */
static uint32_t read_bound(struct tap_scope *n, unsigned int from, const char *text)
{
	unsigned int outer = n->scope_at;
	uint32_t node;

	n->scope_at = from;
	node = read_text(n, text);
	n->scope_at = outer;
	return node;
}

static uint32_t read_accessor(struct expr_parser *p, struct span w, const struct accessor *a)
{
	struct tap_scope *n = names_of(p);
	const char *outer = n->outer_at;
	unsigned int from = bind_args(p, a);
	uint32_t node;

	n->outer_at = outer ?: w.s;
	node = p->err ? 0 : read_bound(n, from, a->text);
	n->outer_at = outer;
	n->nr_bound = from;
	return node;
}

static uint32_t unknown_call(struct expr_parser *p, struct span w)
{
	const char *names[sizeof(accessors) / sizeof(*accessors)], *near;
	char word[104];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		names[i] = accessors[i].name;
	snprintf(word, sizeof(word), "%.*s", WORD(w));
	near = tap_nearest(word, names, sizeof(names) / sizeof(*names));
	return refuse_with(
		p,
		tap_scope_say(
			names_of(p), w,
			"'%s()' is a function of the kernel, which a BPF program cannot call%s%s%s",
			word, near ? ": did you mean '" : "", near ?: "", near ? "()'?" : ""));
}

static uint32_t read_call(struct expr_parser *p, struct span w)
{
	static const struct {
		const char *name;
		uint32_t (*read)(struct expr_parser *p);
	} words[] = {
		{ "exists", read_exists },
		{ "container", read_container },
		{ "container_of", read_container },
		{ "tp_current", read_current },
		{ "tp_nr_cpu_ids", nr_cpu_ids },
		{ "tap_cpu_capacity", cpu_capacity },
		{ "READ_ONCE", read_once },
		{ "rcu_dereference", read_once },
		{ "str", user_text },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (span_is(w, words[i].name))
			return words[i].read(p);
	for (size_t i = 0; i < sizeof(accessors) / sizeof(*accessors); i++)
		if (span_is(w, accessors[i].name))
			return read_accessor(p, w, &accessors[i]);
	return unknown_call(p, w);
}

static const struct accessor *find_text_accessor(struct span name)
{
	for (size_t i = 0; i < sizeof(text_accessors) / sizeof(*text_accessors); i++)
		if (span_is(name, text_accessors[i].name))
			return &text_accessors[i];
	return NULL;
}

bool tap_scope_is_text_accessor(struct span name)
{
	return find_text_accessor(name);
}

bool tap_scope_text_accessor(struct tap_scope *n, struct span name, uint32_t *text, uint32_t *when)
{
	const struct accessor *a = find_text_accessor(name);
	unsigned int from;

	if (!a)
		return false;
	from = bind_args(&n->p, a);
	n->outer_at = name.s;
	*text = n->p.err ? 0 : read_bound(n, from, a->text);
	*when = !n->p.err && a->when ? read_bound(n, from, a->when) : 0;
	n->outer_at = NULL;
	n->nr_bound = from;
	return true;
}

/* Find a number type. Return: false: it is not one. */
static bool number_type(const struct tap_scope *n, struct span type, struct tap_ctype *to)
{
	struct expr_node v = { 0 };
	char text[128];
	int id;

	if (tap_ctype_find(type.s, type.len, (struct tap_abi){ .long_size = 8 }, to))
		return true;
	snprintf(text, sizeof(text), "%.*s", WORD(type));
	id = btf__find_by_name_kind(n->btf, text, BTF_KIND_TYPEDEF);
	if (id <= 0 || !set_type(n, &v, (uint32_t)id))
		return false;
	*to = v.type;
	return true;
}

/*
 * Return the struct's name in "const struct rq *". A suffix "___..." is removed, as in CO-RE
 * flavors.
 */
static struct span struct_of(struct span type)
{
	const char *flavor;

	if (type.len > 6 && !strncmp(type.s, "const ", 6))
		type = trim((struct span){ type.s + 6, type.len - 6 });
	if (type.len < 9 || strncmp(type.s, "struct ", 7) || type.s[type.len - 1] != '*')
		return (struct span){ 0 };
	type = trim((struct span){ type.s + 7, type.len - 8 });
	flavor = memmem(type.s, type.len, "___", 3);
	return flavor ? (struct span){ type.s, (size_t)(flavor - type.s) } : type;
}

/* A type of a single value. */
struct kind {
	struct tap_ctype type;
	struct span name; /* of the struct that the type points to; empty: none */
	bool is_pointer;
};

static bool read_kind(const struct tap_scope *n, struct span type, struct kind *k)
{
	*k = (struct kind){ { 8, false }, struct_of(type), memchr(type.s, '*', type.len) };
	return k->name.len || number_type(n, type, &k->type);
}

/* Return: the value as a pointer to struct @name. */
static uint32_t point_to(struct expr_parser *p, uint32_t node, struct span name)
{
	struct tap_scope *n = names_of(p);
	uint32_t id = find_struct(n, name);
	struct expr_node copy;

	if (!id)
		return add_lacking(
			p, tap_scope_say(n, name, "this kernel has no struct %.*s", WORD(name)));
	if (!node_at(p, node)->opaque)
		node = tap_expr_cast(p, node, (struct tap_ctype){ 8, false });
	if (p->err)
		return 0;
	copy = *node_at(p, node);
	copy.ctype = id;
	copy.opaque = true;
	return tap_expr_add(p, copy);
}

static uint32_t convert_node(struct expr_parser *p, const struct kind *k, uint32_t node)
{
	if (p->err)
		return 0;
	if (k->name.len && !node_at(p, node)->unknown)
		return point_to(p, load_place(p, node), k->name);
	/* other pointers keep their type */
	return k->name.len || k->is_pointer ? node : tap_expr_cast(p, load_place(p, node), k->type);
}

static bool read_cast(struct expr_parser *p, struct span type,
		      uint32_t (*operand)(struct expr_parser *p), uint32_t *node)
{
	struct kind k;

	if (!read_kind(names_of(p), type, &k)) /* not a type: may be a name in parentheses */
		return false;
	*node = operand(p);
	*node = convert_node(p, &k, *node);
	return true;
}

uint32_t tap_scope_convert(struct tap_scope *n, struct span type, uint32_t node)
{
	struct kind k;

	if (read_kind(n, type, &k))
		return convert_node(&n->p, &k, node);
	refuse_with(&n->p,
		    tap_scope_say(n, type, "'%.*s' is not a type for a variable", WORD(type)));
	return 0;
}

static const struct expr_scope kernel_scope = {
	.name = read_name,
	.call = read_call,
	.member = read_member,
	.element = read_element,
	.address = take_address,
	.value = load_place,
	.cast = read_cast,
};

/* Return: the expression's node; 0: error. */
static uint32_t read_text(struct tap_scope *n, const char *text)
{
	struct expr_parser *p = &n->p;
	const char *outer = p->at;
	uint32_t node;

	p->at = text;
	node = ++n->depth > MAX_DEPTH ? tap_expr_fail(p, -EINVAL) : tap_expr_parse(p);
	n->depth--;
	if (!p->err)
		p->at = outer;
	else if (n->outer_at) /* errors show the definition's text, not an accessor's */
		p->bad = n->outer_at;
	return node;
}

void tap_scope_begin(struct tap_scope *n, const char *text)
{
	n->p.err = n->p.err == -ENOMEM ? -ENOMEM : 0;
	n->p.at = n->p.err ? "" : text;
	n->p.depth = n->depth = 0;
	n->scope_at = 0;
	n->failed = 0;
	n->outer_at = NULL;
}

/* ---- the tracepoint ---- */

static const struct btf_type *find_probe(struct tap_scope *n, const char *tracepoint)
{
	const struct btf_type *t;
	char text[160];
	int id;

	snprintf(text, sizeof(text), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(n->btf, text, BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(n->btf, (uint32_t)id) : NULL;
	t = t ? btf__type_by_id(n->btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(n->btf, t->type) : NULL;
	n->tracepoint = (uint32_t)id;
	return t && btf_is_func_proto(t) ? t : NULL;
}

/*
 * Return the prototype of the function that calls the tracepoint's probes. Its parameters have
 * names, those of the typedef do not.
 */
static const struct btf_type *find_caller(const struct tap_scope *n, const char *tracepoint)
{
	const struct btf_type *t;
	char text[160];
	int id;

	snprintf(text, sizeof(text), "__traceiter_%s", tracepoint);
	id = btf__find_by_name_kind(n->btf, text, BTF_KIND_FUNC);
	t = id > 0 ? btf__type_by_id(n->btf, (uint32_t)id) : NULL;
	return t ? btf__type_by_id(n->btf, t->type) : NULL;
}

static int find_args(struct tap_scope *n, const char *tracepoint)
{
	const struct btf_type *t = find_probe(n, tracepoint);

	if (!t)
		return -ENOENT;
	/* the first parameter is the probe's private data */
	for (unsigned int i = 1; i < btf_vlen(t) && i <= TAP_SCOPE_MAX_ARGS; i++)
		n->arg_types[n->nr_args++] = btf_params(t)[i].type;
	return 0;
}

static void find_probe_args(struct tap_scope *n)
{
	for (unsigned int i = 0; i < n->probe->nr_args && i < TAP_SCOPE_MAX_ARGS; i++) {
		tap_probe_arg_name(n->probe, i, n->arg_names[i]);
		n->args[n->nr_args++] = (struct span){ n->arg_names[i], strlen(n->arg_names[i]) };
	}
}

static void name_args_as_kernel(struct tap_scope *n, const char *tracepoint)
{
	const struct btf_type *t = find_caller(n, tracepoint);

	for (unsigned int i = 0; t && i < n->nr_args && i + 1 < btf_vlen(t); i++) {
		const char *arg = btf__name_by_offset(n->btf, btf_params(t)[i + 1].name_off) ?: "";

		n->args[i] = (struct span){ arg, strlen(arg) };
	}
}

/*
 * Name the arguments by the last word of each parameter in "struct task_struct *p, int dest_cpu".
 */
static void name_args(struct tap_scope *n, const char *params)
{
	unsigned int nr = 0;

	for (const char *s = params; *s && nr < n->nr_args; s += *s == ',') {
		struct span param = trim((struct span){ s, strcspn(s, ",") });
		size_t from = param.len;

		while (from && is_word(param.s[from - 1]))
			from--;
		n->args[nr++] = (struct span){ param.s + from, param.len - from };
		s += strcspn(s, ",");
	}
	n->nr_args = nr;
}

int tap_scope_init(struct tap_scope *n, const struct btf *btf, const struct tap_feed *feed,
		   const char *params, unsigned int nr_cpus)
{
	int ret = 0;

	*n = (struct tap_scope){
		.btf = btf, .nr_cpus = nr_cpus, .abi = { .long_size = 8 }, .probe = feed->probe
	};
	tap_expr_begin(&n->p, &n->abi, "", &n->prog);
	n->p.scope = &kernel_scope;
	n->p.names = n;
	if (feed->probe)
		find_probe_args(n);
	else
		ret = find_args(n, feed->tracepoint);
	if (params)
		name_args(n, params);
	else if (!feed->probe)
		name_args_as_kernel(n, feed->tracepoint);
	return n->p.err ?: ret;
}

void tap_scope_release(struct tap_scope *n)
{
	while (n->nr_reasons)
		free(n->reasons[--n->nr_reasons].text);
	free(n->reasons);
	tap_expr_release(&n->prog);
}
