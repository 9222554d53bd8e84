// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/assignments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/opt.h"
#include "event/expr/parse.h"

#define MAX_BLOCKS 64u /* nesting depth */

#define WORD(w) (int)((w).len < 100 ? (w).len : 100), (w).s

static struct expr_parser *parser_of(struct tap_assignments *a)
{
	return &a->scope.p;
}

/* Refuse the statement, or the value that it assigns. */
static void refuse_statement(struct tap_assignments *a, uint32_t reason)
{
	if (!parser_of(a)->err)
		a->scope.failed = reason;
	tap_expr_fail(parser_of(a), -EINVAL);
}

/* ---- fields ---- */

static const struct tap_field *find_field(const struct tap_assignments *a, struct span name)
{
	for (unsigned int i = 0; i < a->def->nr_fields; i++)
		if (span_is(name, a->def->fields[i].name))
			return &a->def->fields[i];
	return NULL;
}

static const struct tap_field *take_field(struct tap_assignments *a, struct span name)
{
	const struct tap_field *f = find_field(a, name);
	const char *names[TAP_FORMAT_MAX_FIELDS], *near;
	unsigned int nr = 0;
	char word[104];

	if (f || parser_of(a)->err)
		return f;
	for (; nr < a->def->nr_fields && nr < TAP_FORMAT_MAX_FIELDS; nr++)
		names[nr] = a->def->fields[nr].name;
	snprintf(word, sizeof(word), "%.*s", WORD(name));
	near = tap_nearest(word, names, nr);
	refuse_statement(a, tap_scope_say(&a->scope, name, "the record has no field '%s'%s%s%s",
					  word, near ? ": did you mean '" : "", near ?: "",
					  near ? "'?" : ""));
	return NULL;
}

/* Parse the field that the statement assigns. */
static const struct tap_field *take_target(struct tap_assignments *a, struct span name)
{
	return a->target = take_field(a, name);
}

static struct tap_assignment *find_assignment(const struct tap_assignments *a,
					      const struct tap_field *f, uint32_t element)
{
	for (unsigned int i = a->nr; i--;)
		if (a->v[i].field == f && a->v[i].element == element)
			return &a->v[i];
	return NULL;
}

static struct tap_assignment *add_assignment(struct tap_assignments *a, const struct tap_field *f,
					     uint32_t element, enum tap_assigned what)
{
	if (tap_array_grow(&a->v, a->nr, &a->cap, sizeof(*a->v))) {
		tap_expr_fail(parser_of(a), -ENOMEM);
		return NULL;
	}
	a->v[a->nr] = (struct tap_assignment){
		.field = f, .element = element, .what = what, .when = a->when
	};
	return &a->v[a->nr++];
}

static uint32_t number_of(struct tap_assignments *a, const struct tap_assignment *before)
{
	return before->reason ? tap_scope_lacking(&a->scope, before->reason) : before->number;
}

/* Resolve REC->field in an expression: the value assigned to it before. */
static uint32_t record_value(struct tap_scope *n, struct span name)
{
	struct tap_assignments *a = (struct tap_assignments *)n; /* the scope is its first member */
	const struct tap_field *f = take_field(a, name);
	const struct tap_assignment *before = f ? find_assignment(a, f, 0) : NULL;

	if (!f)
		return 0;
	if (before && before->what == TAP_ASSIGNED_NUMBER)
		return number_of(a, before);
	refuse_statement(
		a,
		tap_scope_say(n, name, "'%s' is read before a number was assigned to it", f->name));
	return 0;
}

/* ---- assignments ---- */

static const struct assign_op {
	const char *sign;
	int op; /* -1: plain assignment */
} assign_ops[] = {
	{ "<<=", OP_SHL }, { ">>=", OP_SHR }, { "+=", OP_ADD }, { "-=", OP_SUB },
	{ "*=", OP_MUL },  { "/=", OP_DIV },  { "%=", OP_MOD }, { "&=", OP_AND },
	{ "|=", OP_OR },   { "^=", OP_XOR },  { "=", -1 },
};

static const struct assign_op *take_op(struct tap_assignments *a)
{
	for (size_t i = 0; i < sizeof(assign_ops) / sizeof(*assign_ops); i++)
		if (tap_expr_accept(parser_of(a), assign_ops[i].sign))
			return &assign_ops[i];
	refuse_statement(a, tap_scope_say(&a->scope, (struct span){ parser_of(a)->at, 0 },
					  "expected an assignment"));
	return NULL;
}

/*
 * Parse the rest of "old OP= expression" or "old++". Return: the new value, regardless of the
 * enclosing ifs.
 */
static uint32_t take_value(struct tap_assignments *a, uint32_t old)
{
	struct expr_parser *p = parser_of(a);
	bool up = tap_expr_accept(p, "++");
	const struct assign_op *op;
	uint32_t v;

	if (up || tap_expr_accept(p, "--"))
		return tap_expr_binary(p, up ? OP_ADD : OP_SUB, old, tap_expr_num(p, EXPR_INT, 1));
	op = take_op(a);
	v = tap_expr_parse(p);
	if (op && op->op >= 0 && !p->err)
		v = tap_expr_binary(p, (enum expr_op)op->op, old, v);
	return v;
}

/*
 * Return the value to assign, converted to @type, or @old if the conditions of the enclosing ifs
 * are false.
 */
static uint32_t assigned_value(struct tap_assignments *a, uint32_t value, uint32_t old,
			       struct tap_ctype type)
{
	struct expr_parser *p = parser_of(a);

	if (!p->err && !node_at(p, old)->opaque)
		value = tap_expr_cast(p, value, type);
	return a->when && !p->err ? tap_expr_choose(p, a->when, value, old) : value;
}

/* Parse the index after "REC->array". */
static uint32_t take_element(struct tap_assignments *a, const struct tap_field *f)
{
	struct expr_parser *p = parser_of(a);
	const struct span here = { p->at, 0 };
	uint32_t index;

	if (f->kind != TAP_FIELD_ARRAY && f->kind != TAP_FIELD_CHARS)
		return 0;
	if (!tap_expr_accept(p, "[")) {
		refuse_statement(a,
				 tap_scope_say(&a->scope, here,
					       "'%s' is an array: fill it with memcpy()", f->name));
		return 0;
	}
	index = tap_expr_parse(p);
	tap_expr_expect(p, "]");
	if (p->err)
		return 0;
	if (!expr_is_const(p, index) || node_at(p, index)->num >= f->size / f->elem_size) {
		refuse_statement(a, tap_scope_say(&a->scope, here,
						  "the index must be a constant below %u",
						  f->size / f->elem_size));
		return 0;
	}
	return (uint32_t)node_at(p, index)->num;
}

static void assign_number(struct tap_assignments *a, const struct tap_field *f, uint32_t element,
			  struct span where)
{
	struct expr_parser *p = parser_of(a);
	struct tap_assignment *before = find_assignment(a, f, element), *now;
	const struct tap_ctype type = tap_expr_field_type(f);
	uint32_t old = before ? number_of(a, before) : tap_expr_num(p, type, 0);
	uint32_t value = take_value(a, old);

	if (!p->err && node_at(p, value)->op == OP_PLACE) {
		refuse_statement(a, tap_scope_say(&a->scope, where,
						  "the value assigned to '%s' is not a number",
						  f->name));
		return;
	}
	value = assigned_value(a, value, old, type);
	now = before ?: add_assignment(a, f, element, TAP_ASSIGNED_NUMBER);
	if (!now || p->err)
		return;
	now->what = TAP_ASSIGNED_NUMBER;
	now->number = value;
	now->reason = node_at(p, value)->unknown ? tap_scope_why(&a->scope, value) : 0;
}

/* Parse an assignment after "REC". */
static void read_record(struct tap_assignments *a)
{
	struct expr_parser *p = parser_of(a);
	const struct tap_field *f;
	struct span name;
	uint32_t element;

	tap_expr_expect(p, "->");
	name = tap_expr_word(p);
	f = take_target(a, name);
	element = f ? take_element(a, f) : 0;
	if (p->err)
		return;
	if (f->kind == TAP_FIELD_STRING || f->kind == TAP_FIELD_DYNAMIC) {
		refuse_statement(
			a,
			tap_scope_say(&a->scope, name,
				      "'%s' must be filled with __assign_str() or a similar macro",
				      f->name));
		return;
	}
	assign_number(a, f, element, name);
}

/* ---- text and bytes ---- */

/*
 * Parse a macro's first argument: "REC->name", "&REC->name" or, in the kernel's own macros, the
 * bare name.
 */
static const struct tap_field *take_first_arg(struct tap_assignments *a)
{
	struct expr_parser *p = parser_of(a);
	struct span name;

	tap_expr_accept(p, "&");
	name = tap_expr_word(p);
	if (span_is(name, "REC")) {
		tap_expr_expect(p, "->");
		name = tap_expr_word(p);
	}
	return take_target(a, name);
}

/* Parse a size, which must be constant. */
static uint32_t take_count(struct tap_assignments *a)
{
	struct expr_parser *p = parser_of(a);
	const struct span here = { p->at, 0 };
	uint32_t n = tap_expr_arg(p);

	if (!p->err && !expr_is_const(p, n))
		refuse_statement(a, tap_scope_say(&a->scope, here, "the size must be a constant"));
	return p->err ? 0 : (uint32_t)node_at(p, n)->num;
}

/* Add an assignment of text or bytes from @source to a field; at most @max bytes. */
static void assign_bytes(struct tap_assignments *a, const struct tap_field *f,
			 enum tap_assigned what, struct span where, uint32_t source, uint32_t max)
{
	struct expr_parser *p = parser_of(a);
	bool dynamic = f->kind == TAP_FIELD_STRING || f->kind == TAP_FIELD_DYNAMIC;
	struct tap_scope_bytes bytes = { 0 };
	struct tap_assignment *now;
	uint32_t reason = p->err			? 0
			  : node_at(p, source)->unknown ? tap_scope_why(&a->scope, source)
							: 0;

	if (!p->err && !reason && tap_scope_bytes(&a->scope, where, source, &bytes))
		return;
	if (!dynamic && max > f->size) {
		refuse_statement(a, tap_scope_say(&a->scope, where, "'%s' has only %u bytes",
						  f->name, f->size));
		return;
	}
	now = p->err ? NULL : add_assignment(a, f, 0, what);
	if (!now)
		return;
	now->reason = reason;
	now->bytes = bytes;
	if (what == TAP_ASSIGNED_BYTES || max < bytes.size)
		now->bytes.size = max;
}

/* Parse the arguments of memcpy(to, from, bytes) or strscpy(to, from, bytes). */
static void read_copy(struct tap_assignments *a, enum tap_assigned what)
{
	const struct tap_field *f = take_first_arg(a);
	struct span where;
	uint32_t source, max;

	tap_expr_expect(parser_of(a), ",");
	where = (struct span){ parser_of(a)->at, 0 };
	source = tap_expr_parse(parser_of(a));
	max = take_count(a);
	tap_expr_expect(parser_of(a), ")");
	if (f)
		assign_bytes(a, f, what, where, source, max);
}

/* Parse the arguments of __assign_str(field, source). */
static void read_string(struct tap_assignments *a, enum tap_assigned what)
{
	const struct tap_field *f = take_first_arg(a);
	struct span where;
	uint32_t source;

	tap_expr_expect(parser_of(a), ",");
	where = (struct span){ parser_of(a)->at, 0 };
	source = tap_expr_parse(parser_of(a));
	tap_expr_expect(parser_of(a), ")");
	if (f)
		assign_bytes(a, f, what, where, source, UINT32_MAX);
}

#define MASK_MAX_BYTES 128u /* TAP_BITMASK_WORDS of bpf/schedtap.bpf.c */

static uint32_t mask_bytes(uint32_t bits)
{
	uint32_t bytes = (bits + 63) / 64 * 8;

	return bytes < MASK_MAX_BYTES ? bytes : MASK_MAX_BYTES;
}

/* Parse the arguments of __assign_bitmask(field, source, bits). */
static void read_bitmask(struct tap_assignments *a, enum tap_assigned what)
{
	const struct tap_field *f = take_first_arg(a);
	struct span where;
	uint32_t source, bits;

	tap_expr_expect(parser_of(a), ",");
	where = (struct span){ parser_of(a)->at, 0 };
	source = tap_expr_parse(parser_of(a));
	bits = take_count(a);
	tap_expr_expect(parser_of(a), ")");
	if (f)
		assign_bytes(a, f, what, where, source, mask_bytes(bits));
}

/* Parse a text accessor, such as tp_comm(REC->field, task), after its name @name and "(". */
static void read_text_accessor(struct tap_assignments *a, struct span name)
{
	struct expr_parser *p = parser_of(a);
	const struct tap_field *f = take_first_arg(a);
	uint32_t outer = a->when, text = 0, when = 0;

	tap_expr_expect(p, ",");
	if (p->err || !f)
		return;
	tap_scope_text_accessor(&a->scope, name, &text, &when);
	if (when && outer)
		a->when = tap_expr_binary(p, OP_ANDAND, outer, when);
	else if (when)
		a->when = when;
	assign_bytes(a, f, TAP_ASSIGNED_TEXT, name, text, f->size);
	a->when = outer;
}

/* Refuse tp_put_levels(__get_dynamic_array(field), bytes, se): it is a loop, not an expression. */
static void read_levels(struct tap_assignments *a, enum tap_assigned what)
{
	const char *at = parser_of(a)->at;

	(void)what;
	if (span_is(tap_expr_word(parser_of(a)), "__get_dynamic_array"))
		tap_expr_expect(parser_of(a), "(");
	take_first_arg(a);
	refuse_statement(a, tap_scope_say(&a->scope, (struct span){ at, 0 },
					  "only the built-in sched_pick has this array"));
}

static const struct {
	const char *name;
	void (*read)(struct tap_assignments *a, enum tap_assigned what);
	enum tap_assigned what;
} copies[] = {
	{ "memcpy", read_copy, TAP_ASSIGNED_BYTES },
	{ "strscpy", read_copy, TAP_ASSIGNED_TEXT },
	{ "strncpy", read_copy, TAP_ASSIGNED_TEXT },
	{ "__assign_str", read_string, TAP_ASSIGNED_TEXT },
	{ "__assign_bitmask", read_bitmask, TAP_ASSIGNED_BYTES },
	{ "tp_put_levels", read_levels, TAP_ASSIGNED_BYTES },
};

/* Parse a statement that is a call, from its "(" on. */
static void read_call(struct tap_assignments *a, struct span name)
{
	tap_expr_expect(parser_of(a), "(");
	if (tap_scope_is_text_accessor(name)) {
		read_text_accessor(a, name);
		return;
	}
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
		if (span_is(name, copies[i].name)) {
			copies[i].read(a, copies[i].what);
			return;
		}
	}
	refuse_statement(a, tap_scope_say(&a->scope, name,
					  "'%.*s()' cannot fill a field: use memcpy(), strscpy(), "
					  "__assign_str() or tp_comm()",
					  WORD(name)));
}

/* ---- variables ---- */

/* Parse a declaration, such as "struct rq *rq = cfs_rq->rq, *other", which begins at @start. */
static void read_declaration(struct tap_assignments *a, const char *start)
{
	struct expr_parser *p = parser_of(a);
	size_t len = strcspn(start, "=,;[({}");
	struct span all = trim((struct span){ start, len }), type = all, name;
	bool more;

	while (type.len && is_word(type.s[type.len - 1]))
		type.len--;
	name = (struct span){ type.s + type.len, all.len - type.len };
	type = trim(type);
	if (!type.len || !name.len || strchr("[({}", start[len])) {
		refuse_statement(a, tap_scope_say(&a->scope, all,
						  "this is neither an assignment nor a variable"));
		return;
	}
	p->at = start + len;
	do {
		uint32_t v =
			tap_expr_accept(p, "=") ? tap_expr_parse(p) : tap_expr_num(p, EXPR_INT, 0);

		v = p->err ? 0 : tap_scope_convert(&a->scope, type, v);
		if (p->err)
			return;
		tap_scope_bind(&a->scope, name, v);
		more = tap_expr_accept(p, ",");
		if (more) {
			while (tap_expr_accept(p, "*"))
				; /* all variables have the first one's type */
			name = tap_expr_word(p);
		}
	} while (more && !p->err);
}

static void assign_variable(struct tap_assignments *a, int bound)
{
	struct expr_parser *p = parser_of(a);
	uint32_t old = a->scope.bound[bound].node;
	uint32_t value = assigned_value(a, take_value(a, old), old, node_at(p, old)->type);

	if (!p->err)
		a->scope.bound[bound].node = value;
}

/* ---- statements ---- */

static void read_statement(struct tap_assignments *a, unsigned int depth);

/* Parse statements up to the block's "}" or the end of the text, neither of which is consumed. */
static void read_block(struct tap_assignments *a, unsigned int depth)
{
	struct expr_parser *p = parser_of(a);
	unsigned int nr_bound = a->scope.nr_bound;

	for (;;) {
		while (isspace((unsigned char)*p->at))
			p->at++;
		if (p->err || !*p->at || *p->at == '}')
			break;
		read_statement(a, depth);
	}
	a->scope.nr_bound = nr_bound;
}

static uint32_t and_conditions(struct tap_assignments *a, uint32_t outer, uint32_t inner)
{
	return outer && !parser_of(a)->err ? tap_expr_binary(parser_of(a), OP_ANDAND, outer, inner)
					   : inner;
}

/* Refuse a condition that is unavailable or is not a number. */
static void check_condition(struct tap_assignments *a, struct span where, uint32_t condition)
{
	const struct expr_node *n = parser_of(a)->err ? NULL : node_at(parser_of(a), condition);

	if (n && n->unknown)
		refuse_statement(a, tap_scope_why(&a->scope, condition));
	else if (n && n->class != EXPR_NUMBER)
		refuse_statement(a, tap_scope_say(&a->scope, where, "this is not a condition"));
}

/* Parse an if statement after "if". */
static void read_if(struct tap_assignments *a, unsigned int depth)
{
	struct expr_parser *p = parser_of(a);
	const struct span here = { p->at, 0 };
	uint32_t outer = a->when, condition;

	tap_expr_expect(p, "(");
	condition = tap_expr_parse(p);
	tap_expr_expect(p, ")");
	check_condition(a, here, condition);
	if (p->err)
		return;
	a->when = and_conditions(a, outer, condition);
	read_statement(a, depth);
	if (tap_expr_accept(p, "else")) {
		a->when = and_conditions(a, outer, tap_expr_unary(p, OP_NOT, condition));
		read_statement(a, depth);
	}
	a->when = outer;
}

static bool is_control(struct span word)
{
	static const char *const words[] = { "for",  "while",  "do",   "switch",
					     "goto", "return", "else", "break" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (span_is(word, words[i]))
			return true;
	return false;
}

/* Parse a statement that ends with ";" and begins with @word. */
static void read_simple(struct tap_assignments *a, struct span word)
{
	struct expr_parser *p = parser_of(a);
	int bound = tap_scope_bound(&a->scope, word);

	if (!word.len || is_control(word))
		refuse_statement(
			a,
			tap_scope_say(
				&a->scope, word,
				"a definition can have only assignments, variables and if%s%.*s%s",
				word.len ? ", not '" : "", WORD(word), word.len ? "'" : ""));
	else if (span_is(word, "REC"))
		read_record(a);
	else if (bound >= 0)
		assign_variable(a, bound);
	else if (p->at[strspn(p->at, " \t\n")] == '(')
		read_call(a, word);
	else
		read_declaration(a, word.s);
	if (!p->err && !tap_expr_accept(p, ";"))
		refuse_statement(a, tap_scope_say(&a->scope, (struct span){ p->at, 0 },
						  "a ';' is missing before this"));
}

/* Return the end of the statement at @s, which could not be parsed. */
static const char *skip_statement(const char *s)
{
	for (; *s && *s != ';' && *s != '}'; s++)
		;
	return *s == ';' ? s + 1 : s;
}

/*
 * If an assignment cannot be parsed, add it with its reason and go on after it, so that the other
 * assignments remain usable.
 */
static void recover_statement(struct tap_assignments *a, const char *start)
{
	struct expr_parser *p = parser_of(a);
	uint32_t reason = tap_scope_why(&a->scope, 0);
	struct tap_assignment *now;

	if (p->err != -EINVAL || !a->target)
		return;
	now = add_assignment(a, a->target, 0, TAP_ASSIGNED_NUMBER);
	if (!now)
		return;
	now->reason = reason;
	p->err = 0;
	p->depth = 0;
	p->at = skip_statement(start);
	a->scope.failed = 0;
}

static void read_statement(struct tap_assignments *a, unsigned int depth)
{
	struct expr_parser *p = parser_of(a);
	struct span word;

	if (depth > MAX_BLOCKS) {
		refuse_statement(a,
				 tap_scope_say(&a->scope, (struct span){ p->at, 0 },
					       "blocks are nested more than %u deep", MAX_BLOCKS));
		return;
	}
	if (tap_expr_accept(p, "{")) {
		read_block(a, depth + 1);
		tap_expr_expect(p, "}");
		return;
	}
	if (tap_expr_accept(p, ";"))
		return;
	word = tap_expr_word(p);
	if (span_is(word, "if")) {
		read_if(a, depth + 1);
		return;
	}
	a->target = NULL;
	read_simple(a, word);
	if (p->err)
		recover_statement(a, word.s);
}

/* ---- a definition ---- */

static void read_condition(struct tap_assignments *a)
{
	struct expr_parser *p = parser_of(a);

	tap_scope_begin(&a->scope, a->def->condition);
	a->condition = tap_expr_parse(p);
	if (!p->err && *p->at)
		tap_expr_fail(p, -EINVAL);
	check_condition(a, (struct span){ a->def->condition, 0 }, a->condition);
}

static int read_def(struct tap_assignments *a)
{
	struct expr_parser *p = parser_of(a);

	if (a->def->condition)
		read_condition(a);
	if (p->err)
		return p->err;
	tap_scope_begin(&a->scope, a->def->assign);
	read_block(a, 0);
	if (!p->err && *p->at)
		refuse_statement(a, tap_scope_say(&a->scope, (struct span){ p->at, 0 },
						  "expected the end of the definition"));
	return p->err;
}

int tap_assignments_init(struct tap_assignments *a, const struct btf *btf,
			 const struct tap_def *def, const struct tap_feed *feed,
			 unsigned int nr_cpus, uint32_t *reason)
{
	int ret;

	*a = (struct tap_assignments){ .def = def };
	*reason = 0;
	ret = tap_scope_init(&a->scope, btf, feed, def->params, nr_cpus);
	a->scope.record = record_value;
	ret = ret ?: read_def(a);
	if (ret == -EINVAL)
		*reason = tap_scope_why(&a->scope, 0);
	return ret;
}

void tap_assignments_release(struct tap_assignments *a)
{
	tap_scope_release(&a->scope);
	free(a->v);
}

const struct tap_assignment *tap_assignments_find(const struct tap_assignments *a,
						  const char *field, const char **why)
{
	const struct tap_assignment *found = NULL;

	*why = "no value is assigned to the field";
	for (unsigned int i = 0; i < a->nr; i++) {
		if (strcmp(a->v[i].field->name, field))
			continue;
		if (found) {
			*why = "the field is assigned in several places";
			return NULL;
		}
		found = &a->v[i];
	}
	if (found && found->reason) {
		*why = tap_scope_text(&a->scope, found->reason);
		return NULL;
	}
	return found;
}
