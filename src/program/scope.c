// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "program/scope.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "expr/parse.h"

#define MAX_DEPTH 32u /* of accessors in accessors, and of members of members without a name */
#define STRING_MAX 256u /* bytes of a text behind a pointer, as in bpf/schedtap.bpf.c */

struct accessor {
	const char *name, *params, *text, *when;
};

static const struct accessor accessors[] = {
#define TAP_ACCESSOR(name, params, text) { #name, params, text, NULL },
#define TAP_TEXT_ACCESSOR(name, params, text, when)
#include "program/accessors.h"
};

static const struct accessor text_accessors[] = {
#undef TAP_ACCESSOR
#undef TAP_TEXT_ACCESSOR
#define TAP_ACCESSOR(name, params, text)
#define TAP_TEXT_ACCESSOR(name, params, text, when) { #name, params, text, when },
#include "program/accessors.h"
};

static struct tap_scope *names_of(struct expr_parser *p)
{
	return p->names;
}

static TAP_PRINTF(2, 3) void say(struct tap_scope *n, const char *fmt, ...)
{
	va_list ap;

	if (*n->why)
		return;
	va_start(ap, fmt);
	vsnprintf(n->why, sizeof(n->why), fmt, ap);
	va_end(ap);
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Without typedefs, const and the like. Return: NULL: none. */
static const struct btf_type *plain_type(const struct tap_scope *n, uint32_t *id)
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

/* Gives a node the type of a value. Return: whether there can be values of it. */
static bool set_type(const struct tap_scope *n, struct expr_node *node, uint32_t id)
{
	const struct btf_type *t = plain_type(n, &id);

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
	return true;
}

struct member {
	uint32_t bits, nr_bits; /* from the struct's start; 0: no bit field */
	uint32_t type;
};

/* Also one of an anonymous struct or union inside. */
static bool find_member(const struct tap_scope *n, uint32_t id, struct span name,
			unsigned int depth, struct member *m)
{
	const struct btf_type *t = plain_type(n, &id), *inner;

	for (unsigned int i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *bm = btf_members(t) + i;
		const char *found = btf__name_by_offset(n->btf, bm->name_off);
		uint32_t of = bm->type, bits = btf_member_bit_offset(t, i);

		if (found && span_is(name, found)) {
			*m = (struct member){ bits, btf_member_bitfield_size(t, i), bm->type };
			return true;
		}
		inner = found && *found ? NULL : plain_type(n, &of);
		if (inner && btf_is_composite(inner) && depth < MAX_DEPTH &&
		    find_member(n, of, name, depth + 1, m)) {
			m->bits += bits;
			return true;
		}
	}
	return false;
}

static uint32_t find_struct(const struct tap_scope *n, struct span name)
{
	char text[128];
	int id;

	snprintf(text, sizeof(text), "%.*s", name.len < 127 ? (int)name.len : 127, name.s);
	id = btf__find_by_name_kind(n->btf, text, BTF_KIND_STRUCT);
	return id > 0 ? (uint32_t)id : 0;
}

/* ---- what is in memory ----------------------------------------------------------------------- */

/* What lies @bits behind what @of points to, or lies in. */
static uint32_t place(struct expr_parser *p, uint32_t of, const struct member *m)
{
	const struct expr_node base = *node_at(p, of);
	struct expr_node n = { .op = OP_PLACE, .class = EXPR_PLACE, .ctype = m->type, .a = of };

	n.num = m->nr_bits ? m->bits / 64 * 8 : m->bits / 8;
	n.at = m->nr_bits ? m->bits % 64 : 0;
	n.len = m->nr_bits;
	/* but for what lies in front of what the verifier knows */
	if (base.op == OP_PLACE || (base.op == OP_POINTER && (int64_t)base.num >= 0)) {
		n.a = base.a;
		n.num += base.num;
	}
	return tap_expr_add(p, n);
}

static uint32_t value(struct expr_parser *p, uint32_t at)
{
	struct expr_node n = *node_at(p, at);

	if (n.op != OP_PLACE)
		return at;
	n.op = OP_MEMBER;
	return set_type(names_of(p), &n, n.ctype) ? tap_expr_add(p, n) : at;
}

/* What the kernel lacks is unknown: only who needs it fails. */
static uint32_t member(struct expr_parser *p, uint32_t of, struct span name, bool arrow)
{
	struct tap_scope *n = names_of(p);
	struct member m;
	const char *found;

	if (p->err)
		return 0;
	if (arrow)
		of = value(p, of);
	if (node_at(p, of)->unknown)
		return of;
	if (arrow ? !node_at(p, of)->ctype || node_at(p, of)->op == OP_PLACE
		  : node_at(p, of)->op != OP_PLACE) {
		say(n, "'%.*s': what is in front of it is no %s", (int)name.len, name.s,
		    arrow ? "pointer" : "struct");
		return tap_expr_unknown(p);
	}
	if (find_member(n, node_at(p, of)->ctype, name, 0, &m))
		return place(p, of, &m);
	found = btf__name_by_offset(n->btf,
				    btf__type_by_id(n->btf, node_at(p, of)->ctype)->name_off);
	say(n, "this kernel has no '%.*s' in struct %s", (int)name.len, name.s,
	    found && *found ? found : "(no name)");
	return tap_expr_unknown(p);
}

static uint32_t element(struct expr_parser *p, uint32_t of, uint32_t index)
{
	const struct tap_scope *n = names_of(p);
	const struct expr_node *array = node_at(p, of);
	uint32_t id = array->ctype;
	const struct btf_type *t = array->op == OP_PLACE ? plain_type(n, &id) : NULL;
	long long size;

	if (array->unknown)
		return of;
	if (!t || !btf_is_array(t) || !expr_is_const(p, index) ||
	    node_at(p, index)->num >= btf_array(t)->nelems)
		return tap_expr_fail(p, -EINVAL);
	size = btf__resolve_size(n->btf, btf_array(t)->type);
	if (size <= 0)
		return tap_expr_fail(p, -EINVAL);
	return place(
		p, of,
		&(struct member){ .bits = (uint32_t)(node_at(p, index)->num * (uint64_t)size * 8),
				  .type = btf_array(t)->type });
}

static uint32_t address(struct expr_parser *p, uint32_t at)
{
	struct expr_node n = *node_at(p, at);

	if (p->err || n.unknown)
		return at;
	if (n.op != OP_PLACE || n.len)
		return tap_expr_fail(p, -EINVAL);
	n.op = OP_POINTER;
	n.class = EXPR_NUMBER;
	n.type = (struct tap_ctype){ 8, false };
	n.opaque = true;
	return tap_expr_add(p, n);
}

/* ---- names and accessors --------------------------------------------------------------------- */

static uint32_t read_text(struct tap_scope *n, const char *text);

static uint32_t name(struct expr_parser *p, struct span w)
{
	static const struct {
		const char *name;
		uint64_t value;
	} constants[] = { { "TP_UCLAMP_MIN", 0 }, { "TP_UCLAMP_MAX", 1 } };
	struct tap_scope *n = names_of(p);
	struct expr_node arg = { .op = OP_ARG };
	char field[128];

	for (unsigned int i = n->nr_bound; i-- > n->scope_at;)
		if (w.len == n->bound[i].name.len && !memcmp(w.s, n->bound[i].name.s, w.len))
			return n->bound[i].node;
	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
		if (span_is(w, constants[i].name))
			return tap_expr_num(p, EXPR_INT, constants[i].value);
	if (span_is(w, "REC")) {
		tap_expr_expect(p, "->");
		w = tap_expr_word(p);
		snprintf(field, sizeof(field), "%.*s", w.len < 127 ? (int)w.len : 127, w.s);
		return tap_scope_number(n, field) ?: tap_expr_fail(p, -EINVAL);
	}
	for (unsigned int i = 0; !n->scope_at && i < n->nr_args; i++) {
		if (w.len != n->args[i].len || memcmp(w.s, n->args[i].s, w.len))
			continue;
		arg.num = i;
		if (set_type(n, &arg, n->arg_types[i]))
			return tap_expr_add(p, arg);
	}
	say(n, "'%.*s' is no argument of the tracepoint", (int)w.len, w.s);
	return tap_expr_fail(p, -EINVAL);
}

/* exists(x) */
static uint32_t exists(struct expr_parser *p)
{
	struct tap_scope *n = names_of(p);
	char why[sizeof(n->why)];
	uint32_t x;

	memcpy(why, n->why, sizeof(why));
	x = tap_expr_parse(p);
	tap_expr_expect(p, ")");
	memcpy(n->why, why, sizeof(why));
	return p->err ? 0 : tap_expr_num(p, EXPR_INT, !node_at(p, x)->unknown);
}

/* container(pointer, struct's name, member) */
static uint32_t container(struct expr_parser *p)
{
	struct tap_scope *n = names_of(p);
	uint32_t x = tap_expr_parse(p), id;
	struct span type, of;
	struct expr_node v = { .op = OP_POINTER, .type = { 8, false }, .opaque = true };
	struct member m;

	tap_expr_expect(p, ",");
	type = tap_expr_word(p);
	tap_expr_expect(p, ",");
	of = tap_expr_word(p);
	tap_expr_expect(p, ")");
	id = find_struct(n, type);
	if (p->err || !id || !find_member(n, id, of, 0, &m))
		return tap_expr_fail(p, -EINVAL);
	v.a = x;
	v.num = -(uint64_t)(m.bits / 8);
	v.ctype = id;
	return tap_expr_add(p, v);
}

static uint32_t current(struct expr_parser *p)
{
	struct expr_node n = { .op = OP_CURRENT, .type = { 8, false }, .opaque = true };

	tap_expr_expect(p, ")");
	n.ctype = find_struct(names_of(p), (struct span){ "task_struct", 11 });
	return tap_expr_add(p, n);
}

/* Binds an accessor's arguments, which are behind its "(", to its parameters. Return: where they begin. */
static unsigned int bind(struct expr_parser *p, const struct accessor *w)
{
	struct tap_scope *n = names_of(p);
	uint32_t values[8];
	unsigned int nr = 0, from;

	do
		values[nr++] = tap_expr_parse(p);
	while (!p->err && nr < 8 && tap_expr_accept(p, ","));
	tap_expr_expect(p, ")");
	from = n->nr_bound;
	for (const char *s = w->params; !p->err && *s && nr; s += strspn(s, ", ")) {
		struct span param = { s, strcspn(s, ",") };

		if (n->nr_bound == TAP_SCOPE_MAX_BOUND || n->nr_bound - from == nr) {
			tap_expr_fail(p, -EINVAL);
			break;
		}
		n->bound[n->nr_bound].name = param;
		n->bound[n->nr_bound].node = values[n->nr_bound - from];
		n->nr_bound++;
		s += param.len;
	}
	return from;
}

/* With the names that are bound from @from on, and no others. */
static uint32_t read_bound(struct tap_scope *n, unsigned int from, const char *text)
{
	unsigned int outer = n->scope_at;
	uint32_t node;

	n->scope_at = from;
	node = read_text(n, text);
	n->scope_at = outer;
	return node;
}

static uint32_t call(struct expr_parser *p, struct span w)
{
	struct tap_scope *n = names_of(p);
	unsigned int from;
	uint32_t node;

	if (span_is(w, "exists"))
		return exists(p);
	if (span_is(w, "container"))
		return container(p);
	if (span_is(w, "tp_current"))
		return current(p);
	for (size_t i = 0; i < sizeof(accessors) / sizeof(*accessors); i++) {
		if (!span_is(w, accessors[i].name))
			continue;
		from = bind(p, &accessors[i]);
		node = p->err ? 0 : read_bound(n, from, accessors[i].text);
		n->nr_bound = from;
		return node;
	}
	say(n, "'%.*s()' is not known", (int)w.len, w.s);
	return tap_expr_fail(p, -EINVAL);
}

/* "struct rq *", "u32"; a name behind "___" is the same struct. */
static bool cast(struct expr_parser *p, struct span type,
		 uint32_t (*operand)(struct expr_parser *p), uint32_t *node)
{
	const struct tap_scope *n = names_of(p);
	const char *flavor = memmem(type.s, type.len, "___", 3);
	struct tap_ctype to;
	struct expr_node copy;
	uint32_t id = 0;

	if (type.len > 7 && !strncmp(type.s, "struct ", 7) && type.s[type.len - 1] == '*') {
		id = find_struct(
			n, trim((struct span){ type.s + 7, flavor ? (size_t)(flavor - type.s) - 7
								  : type.len - 8 }));
		if (!id)
			return false;
		to = (struct tap_ctype){ 8, false };
	} else if (!tap_ctype_find(type.s, type.len, expr_abi(p), &to)) {
		return false;
	}
	*node = operand(p);
	if (p->err)
		return true;
	*node = tap_expr_cast(p, *node, to);
	copy = *node_at(p, *node);
	copy.ctype = id;
	copy.opaque = id;
	*node = copy.ctype == node_at(p, *node)->ctype ? *node : tap_expr_add(p, copy);
	return true;
}

static const struct expr_scope kernel_scope = {
	.name = name,
	.call = call,
	.member = member,
	.element = element,
	.address = address,
	.value = value,
	.cast = cast,
};

/* ---- assignments ----------------------------------------------------------------------------- */

/* Return: the expression's node; 0: there was an error. */
static uint32_t read_text(struct tap_scope *n, const char *text)
{
	struct expr_parser *p = &n->p;
	const char *outer = p->at;
	uint32_t node;

	if (++n->depth > MAX_DEPTH)
		return tap_expr_fail(p, -EINVAL);
	p->at = text;
	node = tap_expr_parse(p);
	n->depth--;
	if (!p->err)
		p->at = outer;
	return node;
}

/* Behind "REC->field =", or NULL. */
static const char *find_assignment(const char *assign, const char *field)
{
	size_t len = strlen(field);

	for (const char *s = assign; (s = strstr(s, "REC->")); s++)
		if (!strncmp(s + 5, field, len) && !strncmp(s + 5 + len, " = ", 3))
			return s + 5 + len + 3;
	return NULL;
}

/* An error of one field is none of the next one's. */
static void begin(struct tap_scope *n)
{
	if (n->depth)
		return;
	n->p.err = n->p.err == -ENOMEM ? -ENOMEM : 0;
	n->nr_bound = n->scope_at = 0;
	*n->why = '\0';
}

uint32_t tap_scope_number(struct tap_scope *n, const char *field)
{
	const char *text = find_assignment(n->def->assign, field);
	unsigned int outer = n->scope_at, nr_bound = n->nr_bound;
	uint32_t node;

	begin(n);
	if (!text) {
		say(n, "what '%s' is assigned is not known", field);
		return 0;
	}
	n->scope_at = 0;
	n->nr_bound = 0;
	node = read_text(n, text);
	n->scope_at = outer;
	n->nr_bound = nr_bound;
	if (n->p.err || node_at(&n->p, node)->class != EXPR_NUMBER ||
	    node_at(&n->p, node)->unknown) {
		say(n, "what '%s' is assigned is no number", field);
		return 0;
	}
	return node;
}

/* A char array, or a pointer to text. */
static int set_source(struct tap_scope *n, uint32_t node, struct tap_scope_text *text)
{
	const struct expr_node *v = node_at(&n->p, node);
	uint32_t id = v->ctype;
	const struct btf_type *t = plain_type(n, &id);

	if (v->op == OP_PLACE && t && btf_is_array(t)) {
		text->place = node;
		text->size = btf_array(t)->nelems < STRING_MAX ? btf_array(t)->nelems : STRING_MAX;
		return 0;
	}
	if (v->class != EXPR_NUMBER || !v->ctype)
		return -EINVAL;
	text->pointer = node;
	text->size = STRING_MAX;
	return 0;
}

int tap_scope_text(struct tap_scope *n, const char *field, struct tap_scope_text *text)
{
	const char *s;
	char begins[160];
	uint32_t node;

	begin(n);
	*text = (struct tap_scope_text){ 0 };
	snprintf(begins, sizeof(begins), "__assign_str(%s, ", field);
	s = strstr(n->def->assign, begins);
	if (s) {
		node = read_text(n, s + strlen(begins));
		return n->p.err || node_at(&n->p, node)->unknown ? -EINVAL
								 : set_source(n, node, text);
	}
	for (size_t i = 0; i < sizeof(text_accessors) / sizeof(*text_accessors); i++) {
		const struct accessor *w = &text_accessors[i];

		snprintf(begins, sizeof(begins), "%s(REC->%s, ", w->name, field);
		s = strstr(n->def->assign, begins);
		if (!s || (s > n->def->assign && is_word(s[-1])))
			continue;
		n->p.at = s + strlen(begins);
		bind(&n->p, w);
		node = n->p.err ? 0 : read_bound(n, 0, w->text);
		text->when = node && w->when ? read_bound(n, 0, w->when) : 0;
		return n->p.err || node_at(&n->p, node)->unknown ? -EINVAL
								 : set_source(n, node, text);
	}
	say(n, "what '%s' is assigned is not known", field);
	return -EINVAL;
}

/* ---- the tracepoint -------------------------------------------------------------------------- */

static int find_args(struct tap_scope *n, const char *tracepoint)
{
	const struct btf_type *t;
	char name[160];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(n->btf, name, BTF_KIND_TYPEDEF);
	t = id > 0 ? btf__type_by_id(n->btf, (uint32_t)id) : NULL;
	t = t ? btf__type_by_id(n->btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(n->btf, t->type) : NULL;
	if (!t || !btf_is_func_proto(t))
		return -ENOENT;
	n->tracepoint = (uint32_t)id;
	/* the first one is the probe's own */
	for (unsigned int i = 1; i < btf_vlen(t) && i <= TAP_SCOPE_MAX_ARGS; i++)
		n->arg_types[n->nr_args++] = btf_params(t)[i].type;
	return 0;
}

/* "struct task_struct *p, int dest_cpu": their last words. */
static void name_args(struct tap_scope *n)
{
	const char *s = n->def->params;
	unsigned int nr = 0;

	for (; *s && nr < n->nr_args; s += *s == ',') {
		struct span param = trim((struct span){ s, strcspn(s, ",") });
		size_t from = param.len;

		while (from && is_word(param.s[from - 1]))
			from--;
		n->args[nr++] = (struct span){ param.s + from, param.len - from };
		s += strcspn(s, ",");
	}
	n->nr_args = nr;
}

int tap_scope_init(struct tap_scope *n, const struct btf *btf, const struct tap_def *def,
		   const char *tracepoint)
{
	int ret;

	*n = (struct tap_scope){ .btf = btf, .def = def, .abi = { .long_size = 8 } };
	tap_expr_begin(&n->p, &n->abi, "", &n->prog);
	n->p.scope = &kernel_scope;
	n->p.names = n;
	ret = find_args(n, tracepoint);
	name_args(n);
	return n->p.err ?: ret;
}

void tap_scope_release(struct tap_scope *n)
{
	tap_expr_release(&n->prog);
}
