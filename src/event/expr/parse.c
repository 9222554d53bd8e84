// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr/parse.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "event/span.h"

#define VALUE_U64 0x100u /* flag in a call's .how: values have 8 bytes instead of a long's size */

/* ---- words ---- */

static void skip_blanks(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static char peek_char(struct expr_parser *p)
{
	skip_blanks(p);
	return *p->at;
}

bool tap_expr_accept(struct expr_parser *p, const char *s)
{
	size_t len = strlen(s);

	skip_blanks(p);
	if (strncmp(p->at, s, len))
		return false;
	p->at += len;
	return true;
}

void tap_expr_expect(struct expr_parser *p, const char *s)
{
	if (!tap_expr_accept(p, s))
		tap_expr_fail(p, -EINVAL);
}

struct span tap_expr_word(struct expr_parser *p)
{
	struct span w;

	skip_blanks(p);
	w = (struct span){ p->at, 0 };
	while (is_word(w.s[w.len]) && !isdigit((unsigned char)*w.s))
		w.len++;
	p->at += w.len;
	return w;
}

/* Take one character of a string or character constant, and resolve escapes. */
static char take_char(struct expr_parser *p)
{
	static const char from[] = "ntrabfve", to[] = "\n\t\r\a\b\f\v\033";
	const char *e;
	uint64_t v;
	char ch = *p->at++;

	if (ch != '\\' || !*p->at)
		return ch;
	if (*p->at >= '0' && *p->at <= '7') {
		tap_text_take_digits(&p->at, p->at + strnlen(p->at, 3), 8, &v);
		return (char)v;
	}
	ch = *p->at++;
	if (ch == 'x') {
		tap_text_take_digits(&p->at, NULL, 16, &v);
		return (char)v;
	}
	e = strchr(from, ch);
	return e ? to[e - from] : ch;
}

void tap_expr_string(struct expr_parser *p, uint32_t *at, uint32_t *len)
{
	*at = p->prog->texts_len;
	do {
		tap_expr_expect(p, "\"");
		while (*p->at && *p->at != '"') {
			char ch = take_char(p);

			tap_expr_add_text(p, &ch, 1);
		}
		tap_expr_expect(p, "\"");
	} while (peek_char(p) == '"');
	*len = p->prog->texts_len - *at;
	if (*len)
		*len = (uint32_t)strnlen(p->prog->texts + *at, *len);
}

static uint32_t take_number(struct expr_parser *p)
{
	struct tap_ctype type = EXPR_INT;
	bool decimal = *p->at != '0';
	unsigned int longs = 0, base = 10;
	uint64_t v;

	if (!decimal) {
		base = (p->at[1] | 32) == 'x' ? 16 : 8;
		p->at += base == 16 ? 2 : 0;
	}
	/* the "8" of "08" remains and causes an error later */
	if (tap_text_take_digits(&p->at, NULL, base, &v))
		return tap_expr_fail(p, -EINVAL);
	for (; *p->at && strchr("uUlL", *p->at); p->at++) {
		if ((*p->at | 32) == 'u')
			type.is_signed = false;
		else
			longs++;
	}
	if (longs)
		type.size = longs > 1 ? 8 : p->fmt->long_size;
	/* C: the first type that can represent it; unsigned ones only if it is not decimal */
	if (type.size == 4 && v > INT32_MAX && type.is_signed && !decimal && v <= UINT32_MAX)
		type.is_signed = false;
	else if (type.size == 4 && v > (type.is_signed ? INT32_MAX : UINT32_MAX))
		type.size = 8;
	if (type.size == 8 && v > INT64_MAX)
		type.is_signed = false;
	return tap_expr_num(p, type, v);
}

/* ---- expressions ---- */

static const struct tap_field *take_field(struct expr_parser *p)
{
	struct span w = tap_expr_word(p);

	for (unsigned int i = 0; i < p->fmt->nr_fields; i++)
		if (span_is(w, p->fmt->fields[i].name))
			return &p->fmt->fields[i];
	tap_expr_fail(p, -EINVAL);
	return NULL;
}

/* Parse what follows "REC": "->name". */
static uint32_t parse_record(struct expr_parser *p)
{
	tap_expr_expect(p, "->");
	return tap_expr_field(p, take_field(p));
}

/*
 * Return the maximum length of a text: a number may be printed instead, and texts are copied in
 * blocks.
 */
static uint32_t max_len_of(struct expr_parser *p, uint64_t bytes)
{
	if (bytes > 2 * TAP_FORMAT_MAX_BYTES)
		return tap_expr_fail(p, -EINVAL);
	return (uint32_t)bytes + 18 + EXPR_SLACK;
}

static void add_entry(struct expr_parser *p, struct expr_entry e)
{
	struct expr_prog *prog = p->prog;

	if (tap_expr_grow(p, &prog->entries, prog->nr_entries, 1, &prog->cap_entries, sizeof(e)))
		prog->entries[prog->nr_entries++] = e;
}

/*
 * Sort by value. Of equal values the kernel takes the first; texts are stored in the order of the
 * source.
 */
static int entry_order(const void *a, const void *b)
{
	const struct expr_entry *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * Parse "{ value, "text" }, ..." up to the call's closing parenthesis. An entry whose value only
 * the kernel knows never matches; an entry without a text is the kernel's own end mark.
 */
static uint32_t parse_entries(struct expr_parser *p, struct expr_node n, struct tap_ctype type)
{
	uint32_t nr_nodes = p->prog->nr_nodes;
	uint64_t bytes = 0, longest = 0; /* length of all texts, and of the longest one */

	n.at = p->prog->nr_entries;
	while (tap_expr_accept(p, ",") && tap_expr_accept(p, "{") && !tap_expr_accept(p, "}")) {
		uint32_t v = tap_expr_cast(p, tap_expr_parse(p), type);
		struct expr_entry e = { 0 };

		tap_expr_expect(p, ",");
		if (peek_char(p) == '"')
			tap_expr_string(p, &e.at, &e.len);
		else
			tap_expr_parse(p);
		tap_expr_expect(p, "}");
		if (p->err)
			return 0;
		if (expr_is_const(p, v) && e.at) {
			e.value = node_at(p, v)->num;
			add_entry(p, e);
			bytes += e.len;
			longest = e.len > longest ? e.len : longest;
		} else if (!expr_is_const(p, v) && !node_at(p, v)->unknown) {
			return tap_expr_fail(p, -EINVAL);
		}
		p->prog->nr_nodes = nr_nodes;
	}
	tap_expr_expect(p, ")");
	if (p->err)
		return 0;
	n.len = p->prog->nr_entries - n.at;
	if (n.op == OP_FLAGS)
		longest = bytes + (n.len + 1ull) * node_at(p, n.b)->len;
	else if (n.len)
		qsort(p->prog->entries + n.at, n.len, sizeof(*p->prog->entries), entry_order);
	n.max_len = max_len_of(p, longest);
	return tap_expr_add(p, n);
}

static uint32_t add_literal(struct expr_parser *p)
{
	struct expr_node n = { .op = OP_LITERAL, .class = EXPR_TEXT, .type = { 1, true } };

	tap_expr_string(p, &n.at, &n.len);
	n.max_len = max_len_of(p, n.len);
	return tap_expr_add(p, n);
}

/* __print_symbolic(value, entries), __print_flags(value, delimiter, entries) */
static uint32_t parse_names(struct expr_parser *p, unsigned int how)
{
	const struct tap_ctype type = { how & VALUE_U64 ? 8 : p->fmt->long_size, false };
	struct expr_node n = { .op = how & ~VALUE_U64, .class = EXPR_TEXT };

	n.a = tap_expr_cast(p, tap_expr_parse(p), type);
	if (n.op == OP_FLAGS) {
		tap_expr_expect(p, ",");
		n.b = add_literal(p);
	}
	return parse_entries(p, n, type);
}

static uint32_t parse_bytes(struct expr_parser *p)
{
	uint32_t n = tap_expr_parse(p);

	if (p->err || !n || node_at(p, n)->class != EXPR_BYTES)
		return tap_expr_fail(p, -EINVAL);
	return n;
}

static uint32_t parse_count(struct expr_parser *p)
{
	return tap_expr_cast(p, tap_expr_arg(p), EXPR_INT);
}

static uint32_t parse_hex(struct expr_parser *p, unsigned int op)
{
	struct expr_node n = { .op = (uint8_t)op, .class = EXPR_TEXT };

	n.a = parse_bytes(p);
	n.b = parse_count(p);
	if (op == OP_ARRAY)
		n.c = parse_count(p);
	tap_expr_expect(p, ")");
	return tap_expr_add(p, n);
}

static uint64_t take_const(struct expr_parser *p)
{
	uint32_t n = tap_expr_arg(p);

	if (tap_expr_is_number(p, n) && expr_is_const(p, n))
		return node_at(p, n)->num;
	return tap_expr_fail(p, -EINVAL);
}

/*
 * __print_hex_dump(prefix, its type, bytes per row, bytes per group, bytes, number of bytes, ascii)
 */
static uint32_t parse_hex_dump(struct expr_parser *p, unsigned int how)
{
	struct expr_node n = { .op = OP_DUMP, .class = EXPR_TEXT };
	uint64_t prefix, row, group;

	(void)how;
	n.c = add_literal(p);
	prefix = take_const(p);
	row = take_const(p);
	group = take_const(p);
	tap_expr_expect(p, ",");
	n.a = parse_bytes(p);
	n.b = parse_count(p);
	/* invalid values are replaced as in hex_dump_to_buffer() */
	n.dump.prefix = prefix <= DUMP_PREFIX_OFFSET ? (uint8_t)prefix : DUMP_PREFIX_NONE;
	n.dump.row = row == 32 ? 32 : 16;
	n.dump.group = group == 2 || group == 4 || group == 8 ? (uint8_t)group : 1;
	n.dump.ascii = take_const(p);
	tap_expr_expect(p, ")");
	return tap_expr_add(p, n);
}

/* Take the name of a field whose bytes are elsewhere in the record. */
static const struct tap_field *take_dynamic(struct expr_parser *p)
{
	const struct tap_field *f = take_field(p);

	if (f && f->kind != TAP_FIELD_STRING && f->kind != TAP_FIELD_DYNAMIC)
		tap_expr_fail(p, -EINVAL);
	return p->err ? NULL : f;
}

static uint32_t add_len(struct expr_parser *p, const struct tap_field *f)
{
	return tap_expr_add(p, (struct expr_node){ .op = OP_LEN, .type = EXPR_INT, .field = f });
}

/* __print_dynamic_array(field, bytes of an element) */
static uint32_t parse_dynamic_array(struct expr_parser *p, unsigned int how)
{
	const struct tap_field *f = take_dynamic(p);
	struct expr_node n = { .op = OP_ARRAY, .class = EXPR_TEXT };

	(void)how;
	n.a = tap_expr_bytes(p, f);
	n.c = parse_count(p);
	tap_expr_expect(p, ")");
	n.b = tap_expr_cast(p, tap_expr_binary(p, OP_DIV, add_len(p, f), n.c), EXPR_INT);
	return tap_expr_add(p, n);
}

/* __get_str(field), __get_bitmask(field) and similar functions */
static uint32_t parse_dynamic(struct expr_parser *p, unsigned int op)
{
	const struct tap_field *f = take_dynamic(p);

	tap_expr_expect(p, ")");
	if (op == OP_BYTES)
		return tap_expr_bytes(p, f);
	if (op == OP_LEN)
		return add_len(p, f);
	return tap_expr_add(
		p, (struct expr_node){ .op = op, .class = EXPR_TEXT, .a = tap_expr_bytes(p, f) });
}

/* Take a type up to the ')' that ends it; the ')' is not taken. */
static struct span take_type(struct expr_parser *p)
{
	struct span w;

	skip_blanks(p);
	w = (struct span){ p->at, 0 };
	while (is_word(w.s[w.len]) || (w.s[w.len] && strchr("* \t", w.s[w.len])))
		w.len++;
	p->at += w.len;
	return trim(w);
}

static uint32_t parse_sizeof(struct expr_parser *p, unsigned int how)
{
	struct span w = take_type(p);
	struct tap_ctype type;
	const struct tap_field *f;

	(void)how;
	if (span_is(w, "REC")) {
		tap_expr_expect(p, "->");
		f = take_field(p);
		tap_expr_expect(p, ")");
		return f ? tap_expr_num(p, expr_ulong(p), f->size) : 0;
	}
	tap_expr_expect(p, ")");
	if (!w.len)
		return tap_expr_fail(p, -EINVAL);
	if (!tap_ctype_find(w.s, w.len, expr_abi(p), &type))
		return tap_expr_unknown(p);
	return tap_expr_num(p, expr_ulong(p), type.size);
}

/* __print_ns_to_secs() if op is OP_DIV, __print_ns_without_secs() if it is OP_MOD */
static uint32_t parse_part_of_ns(struct expr_parser *p, unsigned int op)
{
	const struct tap_ctype u64 = { 8, false }, type = { op == OP_DIV ? 8 : 4, false };
	uint32_t n = tap_expr_cast(p, tap_expr_parse(p), u64);

	tap_expr_expect(p, ")");
	return tap_expr_cast(p, tap_expr_binary(p, op, n, tap_expr_num(p, u64, 1000000000)), type);
}

/* __builtin_expect() has the value of its first argument. */
static uint32_t parse_likely(struct expr_parser *p, unsigned int how)
{
	uint32_t n = tap_expr_parse(p);

	(void)how;
	tap_expr_arg(p);
	tap_expr_expect(p, ")");
	return n;
}

static const struct {
	const char *name;
	uint32_t (*parse)(struct expr_parser *p, unsigned int how);
	unsigned int how;
} calls[] = {
	{ "__print_symbolic", parse_names, OP_SYMBOLIC },
	{ "__print_symbolic_u64", parse_names, OP_SYMBOLIC | VALUE_U64 },
	{ "__print_flags", parse_names, OP_FLAGS },
	{ "__print_flags_u64", parse_names, OP_FLAGS | VALUE_U64 },
	{ "__print_hex", parse_hex, OP_HEX },
	{ "__print_hex_str", parse_hex, OP_HEX_STR },
	{ "__print_hex_dump", parse_hex_dump },
	{ "__print_array", parse_hex, OP_ARRAY },
	{ "__print_dynamic_array", parse_dynamic_array },
	{ "__get_str", parse_dynamic, OP_BYTES },
	{ "__get_rel_str", parse_dynamic, OP_BYTES },
	{ "__get_dynamic_array", parse_dynamic, OP_BYTES },
	{ "__get_rel_dynamic_array", parse_dynamic, OP_BYTES },
	{ "__get_sockaddr", parse_dynamic, OP_BYTES },
	{ "__get_rel_sockaddr", parse_dynamic, OP_BYTES },
	{ "__get_dynamic_array_len", parse_dynamic, OP_LEN },
	{ "__get_rel_dynamic_array_len", parse_dynamic, OP_LEN },
	{ "__get_bitmask", parse_dynamic, OP_MASK },
	{ "__get_rel_bitmask", parse_dynamic, OP_MASK },
	{ "__get_cpumask", parse_dynamic, OP_CPUS },
	{ "__get_rel_cpumask", parse_dynamic, OP_CPUS },
	{ "__print_ns_to_secs", parse_part_of_ns, OP_DIV },
	{ "__print_ns_without_secs", parse_part_of_ns, OP_MOD },
	{ "sizeof", parse_sizeof },
	{ "__builtin_expect", parse_likely },
};

static uint32_t parse_call(struct expr_parser *p, struct span w)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (span_is(w, calls[i].name))
			return calls[i].parse(p, calls[i].how);
	return tap_expr_fail(p, -EINVAL);
}

/* Names that have the same value in every kernel. */
static const struct {
	const char *name;
	uint8_t value;
} constants[] = {
	{ "true", true },
	{ "false", false },
	{ "DUMP_PREFIX_NONE", DUMP_PREFIX_NONE },
	{ "DUMP_PREFIX_ADDRESS", DUMP_PREFIX_ADDRESS },
	{ "DUMP_PREFIX_OFFSET", DUMP_PREFIX_OFFSET },
};

static uint32_t parse_word(struct expr_parser *p)
{
	struct span w = tap_expr_word(p);

	if (!w.len)
		return tap_expr_fail(p, -EINVAL);
	if (!p->scope && span_is(w, "REC"))
		return parse_record(p);
	if (tap_expr_accept(p, "("))
		return p->scope ? p->scope->call(p, w) : parse_call(p, w);
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (span_is(w, constants[i].name))
			return tap_expr_num(p, EXPR_INT, constants[i].value);
	if (span_is(w, "NULL"))
		return tap_expr_num(p, expr_ulong(p), 0);
	return p->scope ? p->scope->name(p, w) : tap_expr_unknown(p);
}

static uint32_t parse_char(struct expr_parser *p)
{
	char ch = *p->at ? take_char(p) : '\0';

	tap_expr_expect(p, "'");
	return tap_expr_num(p, EXPR_INT, (uint64_t)ch);
}

struct cast {
	struct tap_ctype type, elem;
	bool known, is_pointer;
};

/* Find a type that is not a C type, but the type of a field. */
static bool field_type(const struct expr_parser *p, struct span w, struct tap_ctype *type)
{
	for (unsigned int i = 0; i < p->fmt->nr_fields; i++) {
		const struct tap_field *f = &p->fmt->fields[i];

		if (f->kind != TAP_FIELD_NUMBER || !span_is(w, f->type))
			continue;
		*type = (struct tap_ctype){ (uint8_t)f->size, f->is_signed };
		return true;
	}
	return false;
}

/* "a * b" looks like a type, but a pointer's "*" would be at the end. */
static bool is_product(struct span name)
{
	return memchr(name.s, '*', name.len) && name.s[name.len - 1] != '*';
}

/* After "(": take a type and ")" if they come next, and return true. */
static bool accept_cast(struct expr_parser *p, struct cast *k)
{
	const char *start = p->at, *star;
	struct span name = take_type(p);
	char next;

	*k = (struct cast){ 0 };
	if (!name.len || isdigit((unsigned char)*name.s) || !tap_expr_accept(p, ")"))
		goto none;
	k->known = tap_ctype_find(name.s, name.len, expr_abi(p), &k->type) ||
		   field_type(p, name, &k->type);
	star = memchr(name.s, '*', name.len);
	if (is_product(name))
		goto none;
	if (star) {
		struct span elem = trim((struct span){ name.s, (size_t)(star - name.s) });

		k->is_pointer = true;
		if (span_is(elem, "void") || span_is(elem, "const void"))
			k->elem = (struct tap_ctype){ 1, false };
		else if (!tap_ctype_find(elem.s, elem.len, expr_abi(p), &k->elem))
			k->elem = (struct tap_ctype){ 0 };
	}
	if (k->known)
		return true;
	/* "(name) x" is a cast to an unknown type, "(name) + x" is not */
	next = peek_char(p);
	if (!span_is(name, "REC") &&
	    (memchr(name.s, ' ', name.len) || is_word(next) || next == '('))
		return true;
none:
	p->at = start;
	return false;
}

/* Parse the rest of "&REC->name", an argument of %pI4 and similar conversions. */
static uint32_t parse_address(struct expr_parser *p)
{
	tap_expr_expect(p, "REC");
	tap_expr_expect(p, "->");
	return tap_expr_bytes(p, take_field(p));
}

static uint32_t parse_unary(struct expr_parser *p);

static uint32_t cast_number(struct expr_parser *p, uint32_t n, const struct cast *k)
{
	struct expr_node copy;

	if (k->known)
		n = tap_expr_cast(p, n, k->type);
	if (p->err)
		return 0;
	copy = *node_at(p, n);
	copy.opaque = k->is_pointer && k->elem.size != 1;
	return copy.opaque == node_at(p, n)->opaque ? n : tap_expr_add(p, copy);
}

static uint32_t parse_cast(struct expr_parser *p, const struct cast *k)
{
	uint32_t n = parse_unary(p);
	struct expr_node copy;

	if (p->err || !n)
		return 0;
	if (node_at(p, n)->class == EXPR_NUMBER)
		return cast_number(p, n, k);
	/* a cast to a type that is not narrower does not change it */
	if (node_at(p, n)->class == EXPR_REAL)
		return !k->known || (k->type.is_real && k->type.size >= node_at(p, n)->type.size)
			       ? n
			       : tap_expr_fail(p, -EINVAL);
	if (!k->is_pointer)
		return tap_expr_fail(p, -EINVAL);
	if (node_at(p, n)->class == EXPR_TEXT)
		return n;
	copy = *node_at(p, n);
	copy.type = k->elem.size ? k->elem : (struct tap_ctype){ 1, false };
	return tap_expr_add(p, copy);
}

/* After "(", if names come from a scope: parse a cast if a type comes next, and return true. */
static bool accept_scope_cast(struct expr_parser *p, uint32_t *node)
{
	const char *start = p->at;
	struct span name = trim(take_type(p));

	if (name.len && !isdigit((unsigned char)*name.s) && !is_product(name) &&
	    tap_expr_accept(p, ")") && p->scope->cast(p, name, parse_unary, node))
		return true;
	if (!p->err)
		p->at = start;
	return false;
}

static uint32_t parse_parens(struct expr_parser *p)
{
	struct cast k;
	uint32_t n;

	if (p->scope && accept_scope_cast(p, &n))
		return n;
	if (!p->scope && accept_cast(p, &k))
		return parse_cast(p, &k);
	if (tap_expr_accept(p, "REC)"))
		return parse_record(p);
	n = tap_expr_parse(p);
	tap_expr_expect(p, ")");
	return n;
}

static uint32_t parse_postfix(struct expr_parser *p, uint32_t n)
{
	struct expr_node e = { .op = OP_ELEM };

	for (;;) {
		bool arrow = p->scope && tap_expr_accept(p, "->");

		if (arrow || (p->scope && tap_expr_accept(p, "."))) {
			n = p->scope->member(p, n, tap_expr_word(p), arrow);
			continue;
		}
		if (!tap_expr_accept(p, "["))
			return n;
		e.a = n;
		e.b = tap_expr_parse(p);
		tap_expr_expect(p, "]");
		if (p->scope) {
			n = p->err ? 0 : p->scope->element(p, n, e.b);
			continue;
		}
		if (!tap_expr_is_number(p, e.b) || node_at(p, n)->class != EXPR_BYTES)
			return tap_expr_fail(p, -EINVAL);
		e.type = node_at(p, n)->type;
		e.class = e.type.is_real ? EXPR_REAL : EXPR_NUMBER;
		n = tap_expr_add(p, e);
	}
}

static uint32_t parse_primary(struct expr_parser *p)
{
	char ch = peek_char(p);

	if (isdigit((unsigned char)ch))
		return take_number(p);
	if (ch == '"')
		return add_literal(p);
	if (tap_expr_accept(p, "'"))
		return parse_char(p);
	if (tap_expr_accept(p, "("))
		return parse_postfix(p, parse_parens(p));
	return parse_postfix(p, parse_word(p));
}

static uint32_t parse_unary(struct expr_parser *p)
{
	uint32_t n = 0;

	if (++p->depth > EXPR_MAX_DEPTH)
		return tap_expr_fail(p, -EINVAL);
	if (tap_expr_accept(p, "-"))
		n = tap_expr_unary(p, OP_NEG, parse_unary(p));
	else if (tap_expr_accept(p, "~"))
		n = tap_expr_unary(p, OP_INV, parse_unary(p));
	else if (tap_expr_accept(p, "!"))
		n = tap_expr_unary(p, OP_NOT, parse_unary(p));
	else if (tap_expr_accept(p, "+"))
		n = parse_unary(p);
	else if (tap_expr_accept(p, "&"))
		n = p->scope ? p->scope->address(p, parse_primary(p)) : parse_address(p);
	else
		n = parse_primary(p);
	p->depth--;
	return p->scope && !p->err ? p->scope->value(p, n) : n;
}

/* Longer signs come before the signs that they start with. */
static const struct {
	const char *sign;
	uint8_t op, level;
} operators[] = {
	{ "||", OP_OROR, 1 }, { "&&", OP_ANDAND, 2 }, { "|", OP_OR, 3 },  { "^", OP_XOR, 4 },
	{ "&", OP_AND, 5 },   { "==", OP_EQ, 6 },     { "!=", OP_NE, 6 }, { "<<", OP_SHL, 8 },
	{ ">>", OP_SHR, 8 },  { "<=", OP_LE, 7 },     { ">=", OP_GE, 7 }, { "<", OP_LT, 7 },
	{ ">", OP_GT, 7 },    { "+", OP_ADD, 9 },     { "-", OP_SUB, 9 }, { "*", OP_MUL, 10 },
	{ "/", OP_DIV, 10 },  { "%", OP_MOD, 10 },
};

static uint32_t parse_binary(struct expr_parser *p, unsigned int level)
{
	const size_t nr = sizeof(operators) / sizeof(operators[0]);
	uint32_t n = parse_unary(p);

	for (size_t i = 0; !p->err && i < nr; i++) {
		const char *start = p->at;

		if (!tap_expr_accept(p, operators[i].sign))
			continue;
		if (operators[i].level < level) {
			p->at = start;
			break;
		}
		n = tap_expr_binary(p, operators[i].op, n, parse_binary(p, operators[i].level + 1));
		i = SIZE_MAX; /* try all signs again, starting with the first */
	}
	return n;
}

uint32_t tap_expr_parse(struct expr_parser *p)
{
	uint32_t n, b;

	if (++p->depth > EXPR_MAX_DEPTH)
		return tap_expr_fail(p, -EINVAL);
	n = parse_binary(p, 1);
	if (tap_expr_accept(p, "?")) {
		b = tap_expr_parse(p);
		tap_expr_expect(p, ":");
		n = tap_expr_cond(p, n, b, tap_expr_parse(p));
	}
	p->depth--;
	return p->err ? 0 : n;
}

uint32_t tap_expr_arg(struct expr_parser *p)
{
	tap_expr_expect(p, ",");
	return tap_expr_parse(p);
}
