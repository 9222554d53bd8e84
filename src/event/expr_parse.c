// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const struct tap_ctype type_int = { 4, true };

uint32_t tap_expr_fail(struct expr_parser *p, int err)
{
	if (!p->err)
		p->err = err;
	p->at = p->end;
	return 0;
}

void *tap_expr_grow(struct expr_parser *p, void *v, uint32_t nr, uint32_t more, uint32_t *cap,
		    size_t size)
{
	uint64_t want = (uint64_t)nr + more, n = *cap ? *cap : 16;

	if (want <= *cap)
		return v;
	while (n < want)
		n *= 2;
	v = n <= UINT32_MAX ? reallocarray(v, n, size) : NULL;
	if (v)
		*cap = (uint32_t)n;
	else
		tap_expr_fail(p, -ENOMEM);
	return v;
}

void tap_expr_add_text(struct expr_parser *p, const char *s, uint32_t len)
{
	struct expr_prog *prog = p->prog;
	char *v = tap_expr_grow(p, prog->texts, prog->texts_len, len + EXPR_SLACK, &prog->cap_texts, 1);

	if (!v)
		return;
	prog->texts = v;
	memcpy(v + prog->texts_len, s, len);
	prog->texts_len += len;
	memset(v + prog->texts_len, 0, EXPR_SLACK);
}

/* Adds a node; its class, depth and whether it is known follow from those that it is made of. */
static uint32_t add_node(struct expr_parser *p, struct expr_node n)
{
	struct expr_prog *prog = p->prog;
	struct expr_node *v =
		tap_expr_grow(p, prog->nodes, prog->nr_nodes, 1, &prog->cap_nodes, sizeof(n));
	const uint32_t parts[] = { n.a, n.b, n.c };

	if (!v)
		return 0;
	prog->nodes = v;
	for (unsigned int i = 0; i < 3; i++) {
		if (!parts[i])
			continue;
		n.unknown |= v[parts[i]].unknown;
		if (v[parts[i]].depth >= n.depth)
			n.depth = v[parts[i]].depth + 1;
	}
	if (n.depth > EXPR_MAX_DEPTH)
		return tap_expr_fail(p, -EINVAL);
	v[prog->nr_nodes] = n;
	return prog->nr_nodes++;
}

static uint32_t add_num(struct expr_parser *p, struct tap_ctype type, uint64_t v)
{
	return add_node(
		p, (struct expr_node){ .op = OP_NUM, .type = type, .num = expr_fit(type, v) });
}

static uint32_t add_unknown(struct expr_parser *p)
{
	return add_node(p, (struct expr_node){ .op = OP_UNKNOWN, .type = { 8 }, .unknown = true });
}

static struct tap_abi abi_of(const struct expr_parser *p)
{
	return (struct tap_abi){ p->fmt->big_endian, p->fmt->long_size };
}

static struct tap_ctype type_ulong(const struct expr_parser *p)
{
	return (struct tap_ctype){ p->fmt->long_size, false };
}

static bool is_const(const struct expr_parser *p, uint32_t n)
{
	return node_at(p, n)->op == OP_NUM;
}

/* An operand has to be a number; what is none has an address, which is no help to anybody. */
static bool is_number(struct expr_parser *p, uint32_t n)
{
	if (!p->err && n && node_at(p, n)->class == EXPR_NUMBER)
		return true;
	tap_expr_fail(p, -EINVAL);
	return false;
}

static uint8_t load_of(struct tap_ctype type, bool swap)
{
	static const uint8_t loads[9][2] = {
		[1] = { LOAD_U8, LOAD_S8 },
		[2] = { LOAD_U16, LOAD_S16 },
		[4] = { LOAD_U32, LOAD_S32 },
		[8] = { LOAD_64, LOAD_64 },
	};
	uint8_t load = type.is_real && type.size == 4 ? LOAD_FLOAT : loads[type.size][type.is_signed];

	return swap && type.size > 1 ? load + (LOAD_U16X - LOAD_U16) : load;
}

/* Whether a number of type @from looks in 64 bits as it does once it is a @to. */
static bool same_bits(struct tap_ctype from, struct tap_ctype to)
{
	if (to.size == 8)
		return true;
	if (from.is_signed == to.is_signed)
		return to.size >= from.size;
	return !from.is_signed && to.size > from.size;
}

/* A cast load loads what is left of the field; one that only widens stays as it is. */
static uint32_t cast_load(struct expr_parser *p, uint32_t n, struct tap_ctype to)
{
	struct expr_node cut = *node_at(p, n);

	if (to.size <= cut.len) {
		if (p->fmt->big_endian)
			cut.at += cut.len - to.size;
		cut.load = load_of(to, cut.swap);
		cut.len = to.size;
		cut.num = expr_fit(to, cut.num);
	}
	cut.type = to;
	return add_node(p, cut);
}

uint32_t tap_expr_cast(struct expr_parser *p, uint32_t n, struct tap_ctype to)
{
	struct tap_ctype from;

	if (!is_number(p, n))
		return 0;
	if (to.is_real)
		return tap_expr_fail(p, -EINVAL);
	from = node_at(p, n)->type;
	if (from.size == to.size && from.is_signed == to.is_signed)
		return n;
	if (is_const(p, n))
		return add_num(p, to, node_at(p, n)->num);
	if (node_at(p, n)->op == OP_LOAD && (to.size <= node_at(p, n)->len || same_bits(from, to)))
		return cast_load(p, n, to);
	return add_node(p, (struct expr_node){ .op = OP_CAST, .type = to, .a = n });
}

static struct tap_ctype promoted(struct tap_ctype type)
{
	return type.size < 4 ? type_int : type;
}

static struct tap_ctype common_type(struct tap_ctype a, struct tap_ctype b)
{
	a = promoted(a);
	b = promoted(b);
	if (a.size != b.size)
		return a.size > b.size ? a : b;
	return (struct tap_ctype){ a.size, a.is_signed && b.is_signed };
}

static uint32_t add_logic(struct expr_parser *p, enum expr_op op, uint32_t a, uint32_t b)
{
	if (!is_number(p, a) || !is_number(p, b))
		return 0;
	if (is_const(p, a) && is_const(p, b)) {
		bool l = node_at(p, a)->num, r = node_at(p, b)->num;

		return add_num(p, type_int, op == OP_ANDAND ? l && r : l || r);
	}
	return add_node(p, (struct expr_node){ .op = op, .type = type_int, .a = a, .b = b });
}

static uint32_t add_masked_load(struct expr_parser *p, uint32_t n, uint64_t mask,
				struct tap_ctype type)
{
	struct expr_node masked = *node_at(p, n);

	masked.num &= mask;
	masked.type = type;
	return add_node(p, masked);
}

static uint32_t add_binary(struct expr_parser *p, enum expr_op op, uint32_t a, uint32_t b)
{
	bool shift = op == OP_SHL || op == OP_SHR, compare = op >= OP_LT && op <= OP_NE;
	struct tap_ctype type;

	if (op == OP_ANDAND || op == OP_OROR)
		return add_logic(p, op, a, b);
	if (!is_number(p, a) || !is_number(p, b))
		return 0;
	/* C counts in what the pointer points to */
	if (node_at(p, a)->opaque && (op == OP_ADD || op == OP_SUB))
		return add_unknown(p);
	type = shift ? promoted(node_at(p, a)->type) :
		       common_type(node_at(p, a)->type, node_at(p, b)->type);
	/* A shift count is not converted; a negative one is above every width. */
	if (!same_bits(node_at(p, a)->type, type))
		a = tap_expr_cast(p, a, type);
	if (!shift && !same_bits(node_at(p, b)->type, type))
		b = tap_expr_cast(p, b, type);
	if (p->err)
		return 0;
	if (is_const(p, a) && is_const(p, b))
		return add_num(p, compare ? type_int : type,
			       expr_arith(op, type, node_at(p, a)->num, node_at(p, b)->num));
	if (op == OP_AND && node_at(p, a)->op == OP_LOAD && is_const(p, b))
		return add_masked_load(p, a, node_at(p, b)->num, type);
	return add_node(p, (struct expr_node){ .op = op,
						.type = compare ? type_int : type,
						.arith = type,
						.a = a,
						.b = b });
}

static uint32_t add_unary(struct expr_parser *p, enum expr_op op, uint32_t a)
{
	struct tap_ctype type;
	uint64_t v;

	if (!is_number(p, a))
		return 0;
	type = op == OP_NOT ? type_int : promoted(node_at(p, a)->type);
	if (is_const(p, a)) {
		v = node_at(p, a)->num;
		return add_num(p, type, op == OP_NOT ? !v : op == OP_INV ? ~v : -v);
	}
	return add_node(p, (struct expr_node){ .op = op, .type = type, .a = a });
}

/* The longer text of two; not known where one's is not. */
static uint32_t longer_of(const struct expr_node *a, const struct expr_node *b)
{
	if (!a->max_len || !b->max_len)
		return 0;
	return a->max_len > b->max_len ? a->max_len : b->max_len;
}

static uint32_t add_cond(struct expr_parser *p, uint32_t a, uint32_t b, uint32_t d)
{
	struct expr_node n = { .op = OP_COND, .class = EXPR_TEXT };

	if (!is_number(p, a) || !b || !d)
		return tap_expr_fail(p, -EINVAL);
	if (node_at(p, b)->class == EXPR_NUMBER && node_at(p, d)->class == EXPR_NUMBER) {
		n.class = EXPR_NUMBER;
		n.type = common_type(node_at(p, b)->type, node_at(p, d)->type);
		b = tap_expr_cast(p, b, n.type);
		d = tap_expr_cast(p, d, n.type);
	} else if (node_at(p, b)->class == node_at(p, d)->class) {
		n.class = node_at(p, b)->class;
		n.type = node_at(p, b)->type;
	} else if (node_at(p, b)->class == EXPR_REAL || node_at(p, d)->class == EXPR_REAL) {
		return tap_expr_fail(p, -EINVAL);
	}
	if (p->err)
		return 0;
	if (is_const(p, a))
		return node_at(p, a)->num ? b : d;
	n.max_len = longer_of(node_at(p, b), node_at(p, d));
	n.a = a;
	n.b = b;
	n.c = d;
	return add_node(p, n);
}

/* ---- words ---- */

static void skip_blanks(struct expr_parser *p)
{
	while (p->at < p->end && isspace((unsigned char)*p->at))
		p->at++;
}

static char peek(struct expr_parser *p)
{
	skip_blanks(p);
	return p->at < p->end ? *p->at : '\0';
}

bool tap_expr_accept(struct expr_parser *p, const char *s)
{
	size_t len = strlen(s);

	skip_blanks(p);
	if ((size_t)(p->end - p->at) < len || memcmp(p->at, s, len))
		return false;
	p->at += len;
	return true;
}

void tap_expr_expect(struct expr_parser *p, const char *s)
{
	if (!tap_expr_accept(p, s))
		tap_expr_fail(p, -EINVAL);
}

struct word {
	const char *s;
	size_t len;
};

static bool word_is(struct word w, const char *s)
{
	return w.len == strlen(s) && !memcmp(w.s, s, w.len);
}

static struct word take_word(struct expr_parser *p)
{
	struct word w;

	skip_blanks(p);
	w = (struct word){ p->at, 0 };
	if (p->at < p->end && isdigit((unsigned char)*p->at))
		return w;
	while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
		p->at++;
	w.len = (size_t)(p->at - w.s);
	return w;
}

/* One character of a string or character constant, its escapes resolved. */
static char take_char(struct expr_parser *p)
{
	static const char from[] = "ntrabfve", to[] = "\n\t\r\a\b\f\v\033";
	const char *e;
	uint64_t v;
	char ch = *p->at++;

	if (ch != '\\' || p->at == p->end)
		return ch;
	if (*p->at >= '0' && *p->at <= '7') {
		e = p->end - p->at > 3 ? p->at + 3 : p->end;
		tap_text_take_digits(&p->at, e, 8, &v);
		return (char)v;
	}
	ch = *p->at++;
	if (ch == 'x') {
		tap_text_take_digits(&p->at, p->end, 16, &v);
		return (char)v;
	}
	e = strchr(from, ch);
	return e && ch ? to[e - from] : ch;
}

void tap_expr_string(struct expr_parser *p, uint32_t *at, uint32_t *len)
{
	*at = p->prog->texts_len;
	do {
		tap_expr_expect(p, "\"");
		while (p->at < p->end && *p->at != '"') {
			char ch = take_char(p);

			tap_expr_add_text(p, &ch, 1);
		}
		tap_expr_expect(p, "\"");
	} while (peek(p) == '"');
	*len = p->prog->texts_len - *at;
	if (*len)
		*len = (uint32_t)strnlen(p->prog->texts + *at, *len);
}

static uint32_t take_number(struct expr_parser *p)
{
	struct tap_ctype type = type_int;
	bool decimal = *p->at != '0';
	unsigned int longs = 0, base = 10;
	uint64_t v;

	if (!decimal) {
		base = p->end - p->at > 1 && (p->at[1] | 32) == 'x' ? 16 : 8;
		p->at += base == 16 ? 2 : 0;
	}
	if (tap_text_take_digits(&p->at, p->end, base, &v)) /* what is left of "08" is no operator */
		return tap_expr_fail(p, -EINVAL);
	for (; p->at < p->end && strchr("uUlL", *p->at); p->at++) {
		if ((*p->at | 32) == 'u')
			type.is_signed = false;
		else
			longs++;
	}
	if (longs)
		type.size = longs > 1 ? 8 : p->fmt->long_size;
	/* C: the first type that holds it; unsigned ones only if it is not decimal */
	if (type.size == 4 && v > INT32_MAX && type.is_signed && !decimal && v <= UINT32_MAX)
		type.is_signed = false;
	else if (type.size == 4 && v > (type.is_signed ? INT32_MAX : UINT32_MAX))
		type.size = 8;
	if (type.size == 8 && v > INT64_MAX)
		type.is_signed = false;
	return add_num(p, type, v);
}

/* ---- expressions ---- */

static const struct tap_field *find_field(struct expr_parser *p, struct word w)
{
	for (unsigned int i = 0; i < p->fmt->nr_fields; i++)
		if (word_is(w, p->fmt->fields[i].name))
			return &p->fmt->fields[i];
	tap_expr_fail(p, -EINVAL);
	return NULL;
}

static uint32_t add_bytes(struct expr_parser *p, const struct tap_field *f)
{
	struct expr_node n = { .op = OP_BYTES, .class = EXPR_BYTES, .field = f };
	bool whole = f->elem_size <= 8 && !(f->elem_size & (f->elem_size - 1));

	n.type = (struct tap_ctype){ whole ? (uint8_t)f->elem_size : 1, f->is_signed, f->is_real };
	return add_node(p, n);
}

static uint32_t add_field(struct expr_parser *p, const struct tap_field *f)
{
	struct expr_node n = {
		.op = OP_LOAD, .at = f->offset, .len = f->size, .swap = f->swap, .num = UINT64_MAX
	};

	if (f->kind != TAP_FIELD_NUMBER && f->kind != TAP_FIELD_REAL)
		return add_bytes(p, f);
	n.class = f->is_real ? EXPR_REAL : EXPR_NUMBER;
	n.type = (struct tap_ctype){ (uint8_t)f->size, f->is_signed, f->is_real };
	n.load = load_of(n.type, f->swap);
	return add_node(p, n);
}

static uint32_t parse_record(struct expr_parser *p)
{
	const struct tap_field *f;

	tap_expr_expect(p, "->");
	f = find_field(p, take_word(p));
	return f ? add_field(p, f) : 0;
}

struct entries {
	uint32_t at, nr;
	uint64_t bytes; /* of all texts */
	uint32_t longest;
};

/* The bytes of a text, with room for a number in its place and for being copied in pieces. */
static uint32_t max_len_of(struct expr_parser *p, uint64_t bytes)
{
	if (bytes > 2 * TAP_FORMAT_MAX_BYTES)
		return tap_expr_fail(p, -EINVAL);
	return (uint32_t)bytes + 18 + EXPR_SLACK;
}

static void add_entry(struct expr_parser *p, struct expr_entry e)
{
	struct expr_prog *prog = p->prog;
	struct expr_entry *v =
		tap_expr_grow(p, prog->entries, prog->nr_entries, 1, &prog->cap_entries, sizeof(e));

	if (!v)
		return;
	prog->entries = v;
	v[prog->nr_entries++] = e;
}

/*
 * "{ value, "text" }, ...", up to the call's closing parenthesis. An entry whose value only
 * the kernel knew can match nothing; one without a text is the kernel's own end mark.
 */
static struct entries parse_entries(struct expr_parser *p, struct tap_ctype type)
{
	struct entries es = { .at = p->prog->nr_entries };
	uint32_t nr_nodes = p->prog->nr_nodes;

	while (tap_expr_accept(p, ",") && tap_expr_accept(p, "{") && !tap_expr_accept(p, "}")) {
		uint32_t n = tap_expr_cast(p, tap_expr_parse(p), type);
		struct expr_entry e = { 0 };

		tap_expr_expect(p, ",");
		if (peek(p) == '"')
			tap_expr_string(p, &e.at, &e.len);
		else
			tap_expr_parse(p);
		tap_expr_expect(p, "}");
		if (p->err)
			break;
		if (is_const(p, n) && e.at) {
			e.value = node_at(p, n)->num;
			add_entry(p, e);
			es.bytes += e.len;
			es.longest = e.len > es.longest ? e.len : es.longest;
		} else if (!is_const(p, n) && !node_at(p, n)->unknown) {
			tap_expr_fail(p, -EINVAL);
		}
		p->prog->nr_nodes = nr_nodes;
	}
	es.nr = p->prog->nr_entries - es.at;
	return es;
}

/* By value; the kernel takes the first of equal ones, and texts stand in the order written. */
static int entry_order(const void *a, const void *b)
{
	const struct expr_entry *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Of values of so many bytes; 0: a long. */
static struct tap_ctype value_type(const struct expr_parser *p, unsigned int bytes)
{
	return bytes ? (struct tap_ctype){ (uint8_t)bytes, false } : type_ulong(p);
}

static uint32_t parse_symbolic(struct expr_parser *p, unsigned int bytes)
{
	const struct tap_ctype type = value_type(p, bytes);
	struct expr_node n = { .op = OP_SYMBOLIC, .class = EXPR_TEXT };
	struct entries es;

	n.a = tap_expr_cast(p, tap_expr_parse(p), type);
	es = parse_entries(p, type);
	tap_expr_expect(p, ")");
	if (p->err)
		return 0;
	if (es.nr)
		qsort(p->prog->entries + es.at, es.nr, sizeof(*p->prog->entries), entry_order);
	n.at = es.at;
	n.len = es.nr;
	n.max_len = max_len_of(p, es.longest);
	return add_node(p, n);
}

static uint32_t add_literal(struct expr_parser *p)
{
	struct expr_node n = { .op = OP_LITERAL, .class = EXPR_TEXT, .type = { 1, true } };

	tap_expr_string(p, &n.at, &n.len);
	n.max_len = max_len_of(p, n.len);
	return add_node(p, n);
}

static uint32_t parse_flags(struct expr_parser *p, unsigned int bytes)
{
	const struct tap_ctype type = value_type(p, bytes);
	struct expr_node n = { .op = OP_FLAGS, .class = EXPR_TEXT };
	struct entries es;

	n.a = tap_expr_cast(p, tap_expr_parse(p), type);
	tap_expr_expect(p, ",");
	n.b = add_literal(p);
	es = parse_entries(p, type);
	tap_expr_expect(p, ")");
	if (p->err)
		return 0;
	n.at = es.at;
	n.len = es.nr;
	n.max_len = max_len_of(p, es.bytes + (es.nr + 1ull) * node_at(p, n.b)->len);
	return add_node(p, n);
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
	tap_expr_expect(p, ",");
	return tap_expr_cast(p, tap_expr_parse(p), type_int);
}

static uint32_t parse_hex(struct expr_parser *p, unsigned int op)
{
	struct expr_node n = { .op = (uint8_t)op, .class = EXPR_TEXT };

	n.a = parse_bytes(p);
	n.b = parse_count(p);
	if (op == OP_ARRAY)
		n.c = parse_count(p);
	tap_expr_expect(p, ")");
	return p->err ? 0 : add_node(p, n);
}

static bool take_const(struct expr_parser *p, uint64_t *v)
{
	uint32_t n;

	tap_expr_expect(p, ",");
	n = tap_expr_parse(p);
	if (!is_number(p, n) || !is_const(p, n)) {
		tap_expr_fail(p, -EINVAL);
		return false;
	}
	*v = node_at(p, n)->num;
	return true;
}

/* __print_hex_dump(prefix, its type, bytes of a row, of a group, bytes, how many, with text) */
static uint32_t parse_hex_dump(struct expr_parser *p, unsigned int how)
{
	struct expr_node n = { .op = OP_DUMP, .class = EXPR_TEXT };
	uint64_t prefix, row, group, ascii;

	(void)how;
	n.c = peek(p) == '"' ? add_literal(p) : tap_expr_fail(p, -EINVAL);
	if (!take_const(p, &prefix) || !take_const(p, &row) || !take_const(p, &group))
		return 0;
	tap_expr_expect(p, ",");
	n.a = parse_bytes(p);
	n.b = parse_count(p);
	if (!take_const(p, &ascii))
		return 0;
	tap_expr_expect(p, ")");
	/* what there is not becomes what hex_dump_to_buffer() makes of it */
	n.dump.prefix = prefix == DUMP_PREFIX_ADDRESS || prefix == DUMP_PREFIX_OFFSET ? (uint8_t)prefix : DUMP_PREFIX_NONE;
	n.dump.row = row == 32 ? 32 : 16;
	n.dump.group = group == 2 || group == 4 || group == 8 ? (uint8_t)group : 1;
	n.dump.ascii = ascii;
	return p->err ? 0 : add_node(p, n);
}

/* __print_dynamic_array(field, bytes of an element) */
static uint32_t parse_dynamic_array(struct expr_parser *p, unsigned int how)
{
	const struct tap_field *f = find_field(p, take_word(p));
	struct expr_node n = { .op = OP_ARRAY, .class = EXPR_TEXT };
	struct expr_node len = { .op = OP_LEN, .type = type_int, .field = f };

	(void)how;
	if (p->err || (f->kind != TAP_FIELD_STRING && f->kind != TAP_FIELD_DYNAMIC))
		return tap_expr_fail(p, -EINVAL);
	n.a = add_bytes(p, f);
	n.c = parse_count(p);
	tap_expr_expect(p, ")");
	if (p->err)
		return 0;
	n.b = tap_expr_cast(p, add_binary(p, OP_DIV, add_node(p, len), n.c), type_int);
	return p->err ? 0 : add_node(p, n);
}

/* __get_str(field) and the like */
static uint32_t parse_dynamic(struct expr_parser *p, unsigned int op)
{
	const struct tap_field *f = find_field(p, take_word(p));
	struct expr_node n = { .op = (uint8_t)op, .type = type_int };

	tap_expr_expect(p, ")");
	if (p->err || (f->kind != TAP_FIELD_STRING && f->kind != TAP_FIELD_DYNAMIC))
		return tap_expr_fail(p, -EINVAL);
	if (op == OP_BYTES)
		return add_bytes(p, f);
	if (op == OP_LEN) {
		n.field = f;
	} else {
		n.class = EXPR_TEXT;
		n.a = add_bytes(p, f);
	}
	return add_node(p, n);
}

/* Up to the ')' that closes what is open, which is not taken. */
static struct word take_type(struct expr_parser *p)
{
	struct word w;

	skip_blanks(p);
	w.s = p->at;
	while (p->at < p->end && (isalnum((unsigned char)*p->at) || strchr("_* \t", *p->at)))
		p->at++;
	w.len = (size_t)(p->at - w.s);
	return w;
}

static uint32_t parse_sizeof(struct expr_parser *p, unsigned int how)
{
	const char *start = p->at;
	struct word w = take_type(p);
	struct tap_ctype type;
	const struct tap_field *f;

	(void)how;
	if (word_is(w, "REC") || word_is(w, "REC ")) {
		tap_expr_expect(p, "->");
		f = find_field(p, take_word(p));
		tap_expr_expect(p, ")");
		return f ? add_num(p, type_ulong(p), f->size) : 0;
	}
	tap_expr_expect(p, ")");
	if (p->at == start || !w.len)
		return tap_expr_fail(p, -EINVAL);
	if (!tap_ctype_find(w.s, w.len, abi_of(p), &type))
		return add_unknown(p);
	return add_num(p, type_ulong(p), type.size);
}

/* Seconds of ns, or what is left of them. */
static uint32_t parse_part_of_ns(struct expr_parser *p, unsigned int op)
{
	const struct tap_ctype u64 = { 8, false }, type = { op == OP_DIV ? 8 : 4, false };
	uint32_t n = tap_expr_cast(p, tap_expr_parse(p), u64);

	tap_expr_expect(p, ")");
	return p->err ? 0 : tap_expr_cast(p, add_binary(p, op, n, add_num(p, u64, 1000000000)), type);
}

/* A compiler's hint is worth its first argument. */
static uint32_t parse_likely(struct expr_parser *p, unsigned int how)
{
	uint32_t n = tap_expr_parse(p);

	(void)how;
	tap_expr_expect(p, ",");
	tap_expr_parse(p);
	tap_expr_expect(p, ")");
	return n;
}

static const struct {
	const char *name;
	uint32_t (*parse)(struct expr_parser *p, unsigned int how);
	unsigned int how;
} calls[] = {
	{ "__print_symbolic", parse_symbolic },
	{ "__print_symbolic_u64", parse_symbolic, 8 },
	{ "__print_flags", parse_flags },
	{ "__print_flags_u64", parse_flags, 8 },
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

static uint32_t parse_call(struct expr_parser *p, struct word w)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (word_is(w, calls[i].name))
			return calls[i].parse(p, calls[i].how);
	return tap_expr_fail(p, -EINVAL);
}

/* Names that are the same in every kernel. */
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
	struct word w = take_word(p);

	if (!w.len)
		return tap_expr_fail(p, -EINVAL);
	if (word_is(w, "REC"))
		return parse_record(p);
	if (tap_expr_accept(p, "("))
		return parse_call(p, w);
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (word_is(w, constants[i].name))
			return add_num(p, type_int, constants[i].value);
	if (word_is(w, "NULL"))
		return add_num(p, type_ulong(p), 0);
	return add_unknown(p);
}

static uint32_t parse_char(struct expr_parser *p)
{
	char ch = 0;

	if (p->at < p->end)
		ch = take_char(p);
	tap_expr_expect(p, "'");
	return add_num(p, type_int, (uint64_t)ch);
}

struct cast {
	struct word name;
	struct tap_ctype type, elem;
	bool known, is_pointer;
};

/* A type's name that C's own do not tell, but a field of it does. */
static bool field_type(const struct expr_parser *p, struct word w, struct tap_ctype *type)
{
	for (unsigned int i = 0; i < p->fmt->nr_fields; i++) {
		const struct tap_field *f = &p->fmt->fields[i];

		if (f->kind != TAP_FIELD_NUMBER || !word_is(w, f->type))
			continue;
		*type = (struct tap_ctype){ (uint8_t)f->size, f->is_signed };
		return true;
	}
	return false;
}

/* After "(": whether a type and ")" follow; they are taken then. */
static bool accept_cast(struct expr_parser *p, struct cast *k)
{
	const char *start = p->at, *star;
	bool tagged;
	char next;

	*k = (struct cast){ .name = take_type(p) };
	while (k->name.len && k->name.s[k->name.len - 1] == ' ')
		k->name.len--;
	if (!k->name.len || isdigit((unsigned char)*k->name.s) || !tap_expr_accept(p, ")"))
		goto none;
	k->known = tap_ctype_find(k->name.s, k->name.len, abi_of(p), &k->type) ||
		   field_type(p, k->name, &k->type);
	star = memchr(k->name.s, '*', k->name.len);
	if (star && k->name.s[k->name.len - 1] != '*')
		goto none;
	if (star) {
		struct word elem = { k->name.s, (size_t)(star - k->name.s) };

		k->is_pointer = true;
		while (elem.len && elem.s[elem.len - 1] == ' ')
			elem.len--;
		if (word_is(elem, "void") || word_is(elem, "const void"))
			k->elem = (struct tap_ctype){ 1, false };
		else if (!tap_ctype_find(elem.s, elem.len, abi_of(p), &k->elem))
			k->elem = (struct tap_ctype){ 0 };
	}
	if (k->known)
		return true;
	/* "(name) x" is a cast to some type, "(name) + x" is not */
	tagged = memchr(k->name.s, ' ', k->name.len);
	next = peek(p);
	if (!word_is(k->name, "REC") &&
	    (tagged || isalnum((unsigned char)next) || next == '_' || next == '('))
		return true;
none:
	p->at = start;
	return false;
}

/* "&REC->name", as %pI4 and the like have it. */
static uint32_t parse_address(struct expr_parser *p)
{
	const struct tap_field *f;

	tap_expr_expect(p, "REC");
	tap_expr_expect(p, "->");
	f = find_field(p, take_word(p));
	return f ? add_bytes(p, f) : 0;
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
	return copy.opaque == node_at(p, n)->opaque ? n : add_node(p, copy);
}

static uint32_t parse_cast(struct expr_parser *p, const struct cast *k)
{
	uint32_t n = parse_unary(p);
	struct expr_node copy;

	if (p->err || !n)
		return 0;
	if (node_at(p, n)->class == EXPR_NUMBER)
		return cast_number(p, n, k);
	if (node_at(p, n)->class == EXPR_REAL) /* to what is no narrower: it stays */
		return !k->known || (k->type.is_real && k->type.size >= node_at(p, n)->type.size) ?
			       n : tap_expr_fail(p, -EINVAL);
	if (!k->is_pointer)
		return tap_expr_fail(p, -EINVAL);
	if (node_at(p, n)->class == EXPR_TEXT)
		return n;
	copy = *node_at(p, n);
	copy.type = k->elem.size ? k->elem : (struct tap_ctype){ 1, false };
	return add_node(p, copy);
}

static uint32_t parse_parens(struct expr_parser *p)
{
	struct cast k;
	uint32_t n;

	if (accept_cast(p, &k))
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

	while (tap_expr_accept(p, "[")) {
		e.a = n;
		e.b = tap_expr_parse(p);
		tap_expr_expect(p, "]");
		if (!is_number(p, e.b) || node_at(p, n)->class != EXPR_BYTES)
			return tap_expr_fail(p, -EINVAL);
		e.type = node_at(p, n)->type;
		e.class = e.type.is_real ? EXPR_REAL : EXPR_NUMBER;
		n = add_node(p, e);
	}
	return n;
}

static uint32_t parse_primary(struct expr_parser *p)
{
	char ch = peek(p);

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
		n = add_unary(p, OP_NEG, parse_unary(p));
	else if (tap_expr_accept(p, "~"))
		n = add_unary(p, OP_INV, parse_unary(p));
	else if (tap_expr_accept(p, "!"))
		n = add_unary(p, OP_NOT, parse_unary(p));
	else if (tap_expr_accept(p, "+"))
		n = parse_unary(p);
	else if (tap_expr_accept(p, "&"))
		n = parse_address(p);
	else
		n = parse_primary(p);
	p->depth--;
	return n;
}

/* Longer signs first where one begins another. */
static const struct {
	const char *sign;
	uint8_t op, level;
} operators[] = {
	{ "||", OP_OROR, 1 }, { "&&", OP_ANDAND, 2 }, { "|", OP_OR, 3 },  { "^", OP_XOR, 4 },
	{ "&", OP_AND, 5 },   { "==", OP_EQ, 6 },	    { "!=", OP_NE, 6 }, { "<<", OP_SHL, 8 },
	{ ">>", OP_SHR, 8 },  { "<=", OP_LE, 7 },	    { ">=", OP_GE, 7 }, { "<", OP_LT, 7 },
	{ ">", OP_GT, 7 },    { "+", OP_ADD, 9 },	    { "-", OP_SUB, 9 }, { "*", OP_MUL, 10 },
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
		n = add_binary(p, operators[i].op, n, parse_binary(p, operators[i].level + 1));
		i = SIZE_MAX; /* from the first sign again */
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
		n = add_cond(p, n, b, tap_expr_parse(p));
	}
	p->depth--;
	return p->err ? 0 : n;
}

void tap_expr_begin(struct expr_parser *p, const struct tap_format *fmt, const char *text,
		    struct expr_prog *prog)
{
	*prog = (struct expr_prog){ .fmt = fmt };
	*p = (struct expr_parser){ .fmt = fmt, .prog = prog, .at = text, .end = text + strlen(text) };
	add_num(p, type_int, 0);
	tap_expr_add_text(p, "", 1);
	prog->entries = tap_expr_grow(p, NULL, 0, 1, &prog->cap_entries, sizeof(*prog->entries));
}

int tap_expr_end(struct expr_parser *p)
{
	if (!p->err && peek(p))
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
