// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Print formats are C, as the preprocessor left it: a string and its arguments. The parser
 * keeps its first error and then sees the end of the text everywhere, so that nothing has to
 * check after each step.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/print_prog.h"

struct comp {
	const struct tap_format *fmt;
	struct print_prog *prog;
	const char *p, *end;
	unsigned int depth; /* of the parser's recursion */
	int err;
};

/* Value of a conversion's length modifier. */
enum { LEN_CHAR = -2, LEN_SHORT, LEN_INT, LEN_LONG, LEN_LONG_LONG };

static const struct tap_ctype type_int = { 4, true };

static uint32_t fail(struct comp *c, int err)
{
	if (!c->err)
		c->err = err;
	c->p = c->end;
	return 0;
}

/* Makes room for @more elements behind @nr. Return: the array, which may have moved, or NULL. */
static void *grow(struct comp *c, void *v, uint32_t nr, uint32_t more, uint32_t *cap, size_t size)
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
		fail(c, -ENOMEM);
	return v;
}

static void add_text(struct comp *c, const char *s, uint32_t len)
{
	struct print_prog *prog = c->prog;
	char *v = grow(c, prog->texts, prog->texts_len, len + PRINT_SLACK, &prog->cap_texts, 1);

	if (!v)
		return;
	prog->texts = v;
	memcpy(v + prog->texts_len, s, len);
	prog->texts_len += len;
	memset(v + prog->texts_len, 0, PRINT_SLACK);
}

static struct print_node *node(const struct comp *c, uint32_t n)
{
	return &c->prog->nodes[n];
}

/* Adds a node; its class, depth and doubts follow from those that it is made of. */
static uint32_t add_node(struct comp *c, struct print_node n)
{
	struct print_prog *prog = c->prog;
	struct print_node *v = grow(c, prog->nodes, prog->nr_nodes, 1, &prog->cap_nodes, sizeof(n));
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
	if (n.depth > PRINT_MAX_DEPTH)
		return fail(c, -EINVAL);
	v[prog->nr_nodes] = n;
	return prog->nr_nodes++;
}

static uint32_t add_num(struct comp *c, struct tap_ctype type, uint64_t v)
{
	return add_node(
		c, (struct print_node){ .op = P_NUM, .type = type, .num = print_fit(type, v) });
}

static uint32_t add_unknown(struct comp *c)
{
	return add_node(c, (struct print_node){ .op = P_UNKNOWN, .type = { 8 }, .unknown = true });
}

static struct tap_abi abi_of(const struct comp *c)
{
	return (struct tap_abi){ c->fmt->big_endian, c->fmt->long_size };
}

static struct tap_ctype type_ulong(const struct comp *c)
{
	return (struct tap_ctype){ c->fmt->long_size, false };
}

static bool is_const(const struct comp *c, uint32_t n)
{
	return node(c, n)->op == P_NUM;
}

/* An operand has to be a number; what is none has an address, which is no help to anybody. */
static bool is_number(struct comp *c, uint32_t n)
{
	if (!c->err && n && node(c, n)->class == PRINT_NUMBER)
		return true;
	fail(c, -EINVAL);
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
static uint32_t cast_load(struct comp *c, uint32_t n, struct tap_ctype to)
{
	struct print_node cut = *node(c, n);

	if (to.size <= cut.len) {
		if (c->fmt->big_endian)
			cut.at += cut.len - to.size;
		cut.load = load_of(to, cut.swap);
		cut.len = to.size;
		cut.num = print_fit(to, cut.num);
	}
	cut.type = to;
	return add_node(c, cut);
}

static uint32_t cast(struct comp *c, uint32_t n, struct tap_ctype to)
{
	struct tap_ctype from;

	if (!is_number(c, n))
		return 0;
	if (to.is_real)
		return fail(c, -EINVAL);
	from = node(c, n)->type;
	if (from.size == to.size && from.is_signed == to.is_signed)
		return n;
	if (is_const(c, n))
		return add_num(c, to, node(c, n)->num);
	if (node(c, n)->op == P_LOAD && (to.size <= node(c, n)->len || same_bits(from, to)))
		return cast_load(c, n, to);
	return add_node(c, (struct print_node){ .op = P_CAST, .type = to, .a = n });
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

static uint32_t add_logic(struct comp *c, enum print_op op, uint32_t a, uint32_t b)
{
	if (!is_number(c, a) || !is_number(c, b))
		return 0;
	if (is_const(c, a) && is_const(c, b)) {
		bool l = node(c, a)->num, r = node(c, b)->num;

		return add_num(c, type_int, op == P_ANDAND ? l && r : l || r);
	}
	return add_node(c, (struct print_node){ .op = op, .type = type_int, .a = a, .b = b });
}

static uint32_t add_masked_load(struct comp *c, uint32_t n, uint64_t mask, struct tap_ctype type)
{
	struct print_node masked = *node(c, n);

	masked.num &= mask;
	masked.type = type;
	return add_node(c, masked);
}

static uint32_t add_binary(struct comp *c, enum print_op op, uint32_t a, uint32_t b)
{
	bool shift = op == P_SHL || op == P_SHR, compare = op >= P_LT && op <= P_NE;
	struct tap_ctype type;

	if (op == P_ANDAND || op == P_OROR)
		return add_logic(c, op, a, b);
	if (!is_number(c, a) || !is_number(c, b))
		return 0;
	/* C counts in what the pointer points to */
	if (node(c, a)->opaque && (op == P_ADD || op == P_SUB))
		return add_unknown(c);
	type = shift ? promoted(node(c, a)->type) : common_type(node(c, a)->type, node(c, b)->type);
	/* A shift count is not converted; a negative one is above every width. */
	if (!same_bits(node(c, a)->type, type))
		a = cast(c, a, type);
	if (!shift && !same_bits(node(c, b)->type, type))
		b = cast(c, b, type);
	if (c->err)
		return 0;
	if (is_const(c, a) && is_const(c, b))
		return add_num(c, compare ? type_int : type,
			       print_arith(op, type, node(c, a)->num, node(c, b)->num));
	if (op == P_AND && node(c, a)->op == P_LOAD && is_const(c, b))
		return add_masked_load(c, a, node(c, b)->num, type);
	return add_node(c, (struct print_node){ .op = op,
						.type = compare ? type_int : type,
						.arith = type,
						.a = a,
						.b = b });
}

static uint32_t add_unary(struct comp *c, enum print_op op, uint32_t a)
{
	struct tap_ctype type;
	uint64_t v;

	if (!is_number(c, a))
		return 0;
	type = op == P_NOT ? type_int : promoted(node(c, a)->type);
	if (is_const(c, a)) {
		v = node(c, a)->num;
		return add_num(c, type, op == P_NOT ? !v : op == P_INV ? ~v : -v);
	}
	return add_node(c, (struct print_node){ .op = op, .type = type, .a = a });
}

/* The longer text of two; not known where one's is not. */
static uint32_t most_of(const struct print_node *a, const struct print_node *b)
{
	if (!a->most || !b->most)
		return 0;
	return a->most > b->most ? a->most : b->most;
}

static uint32_t add_cond(struct comp *c, uint32_t a, uint32_t b, uint32_t d)
{
	struct print_node n = { .op = P_COND, .class = PRINT_TEXT };

	if (!is_number(c, a) || !b || !d)
		return fail(c, -EINVAL);
	if (node(c, b)->class == PRINT_NUMBER && node(c, d)->class == PRINT_NUMBER) {
		n.class = PRINT_NUMBER;
		n.type = common_type(node(c, b)->type, node(c, d)->type);
		b = cast(c, b, n.type);
		d = cast(c, d, n.type);
	} else if (node(c, b)->class == node(c, d)->class) {
		n.class = node(c, b)->class;
		n.type = node(c, b)->type;
	} else if (node(c, b)->class == PRINT_REAL || node(c, d)->class == PRINT_REAL) {
		return fail(c, -EINVAL);
	}
	if (c->err)
		return 0;
	if (is_const(c, a))
		return node(c, a)->num ? b : d;
	n.most = most_of(node(c, b), node(c, d));
	n.a = a;
	n.b = b;
	n.c = d;
	return add_node(c, n);
}

/* ---- words ---- */

static void skip_blanks(struct comp *c)
{
	while (c->p < c->end && isspace((unsigned char)*c->p))
		c->p++;
}

static char peek(struct comp *c)
{
	skip_blanks(c);
	return c->p < c->end ? *c->p : '\0';
}

static bool accept(struct comp *c, const char *s)
{
	size_t len = strlen(s);

	skip_blanks(c);
	if ((size_t)(c->end - c->p) < len || memcmp(c->p, s, len))
		return false;
	c->p += len;
	return true;
}

static void expect(struct comp *c, const char *s)
{
	if (!accept(c, s))
		fail(c, -EINVAL);
}

struct word {
	const char *s;
	size_t len;
};

static bool word_is(struct word w, const char *s)
{
	return w.len == strlen(s) && !memcmp(w.s, s, w.len);
}

static struct word take_word(struct comp *c)
{
	struct word w;

	skip_blanks(c);
	w = (struct word){ c->p, 0 };
	if (c->p < c->end && isdigit((unsigned char)*c->p))
		return w;
	while (c->p < c->end && (isalnum((unsigned char)*c->p) || *c->p == '_'))
		c->p++;
	w.len = (size_t)(c->p - w.s);
	return w;
}

static unsigned int digit_of(char ch)
{
	return isdigit((unsigned char)ch) ? (unsigned int)(ch - '0')
					  : (unsigned int)((ch | 32) - 'a' + 10);
}

/* One character of a string or character constant, its escapes resolved. */
static char take_char(struct comp *c)
{
	static const char from[] = "ntrabfve", to[] = "\n\t\r\a\b\f\v\033";
	unsigned int v = 0, digits = 0;
	const char *e;
	char ch = *c->p++;

	if (ch != '\\' || c->p == c->end)
		return ch;
	if (*c->p >= '0' && *c->p <= '7') {
		while (c->p < c->end && *c->p >= '0' && *c->p <= '7' && digits++ < 3)
			v = v * 8 + (unsigned int)(*c->p++ - '0');
		return (char)v;
	}
	ch = *c->p++;
	if (ch == 'x') {
		for (; c->p < c->end && isxdigit((unsigned char)*c->p); c->p++)
			v = v * 16 + digit_of(*c->p);
		return (char)v;
	}
	e = strchr(from, ch);
	return e && ch ? to[e - from] : ch;
}

/* Adjacent string constants, as one text up to its first NUL. */
static void take_string(struct comp *c, uint32_t *at, uint32_t *len)
{
	*at = c->prog->texts_len;
	do {
		expect(c, "\"");
		while (c->p < c->end && *c->p != '"') {
			char ch = take_char(c);

			add_text(c, &ch, 1);
		}
		expect(c, "\"");
	} while (peek(c) == '"');
	*len = c->prog->texts_len - *at;
	if (*len)
		*len = (uint32_t)strnlen(c->prog->texts + *at, *len);
}

static uint32_t take_number(struct comp *c)
{
	struct tap_ctype type = type_int;
	unsigned int longs = 0;
	bool decimal = *c->p != '0', overflow = false;
	uint64_t v = 0, base = 10;

	if (!decimal) {
		base = c->end - c->p > 1 && (c->p[1] | 32) == 'x' ? 16 : 8;
		c->p += base == 16 ? 2 : 0;
	}
	for (; c->p < c->end && isxdigit((unsigned char)*c->p); c->p++) {
		uint64_t digit = digit_of(*c->p);

		overflow |= digit >= base || __builtin_mul_overflow(v, base, &v) ||
			    __builtin_add_overflow(v, digit, &v);
	}
	for (; c->p < c->end && strchr("uUlL", *c->p); c->p++) {
		if ((*c->p | 32) == 'u')
			type.is_signed = false;
		else
			longs++;
	}
	if (overflow)
		return fail(c, -EINVAL);
	if (longs)
		type.size = longs > 1 ? 8 : c->fmt->long_size;
	/* C: the first type that holds it; unsigned ones only if it is not decimal */
	if (type.size == 4 && v > INT32_MAX && type.is_signed && !decimal && v <= UINT32_MAX)
		type.is_signed = false;
	else if (type.size == 4 && v > (type.is_signed ? INT32_MAX : UINT32_MAX))
		type.size = 8;
	if (type.size == 8 && v > INT64_MAX)
		type.is_signed = false;
	return add_num(c, type, v);
}

/* ---- expressions ---- */

static uint32_t parse_expr(struct comp *c);

static const struct tap_field *find_field(struct comp *c, struct word w)
{
	for (unsigned int i = 0; i < c->fmt->nr_fields; i++)
		if (word_is(w, c->fmt->fields[i].name))
			return &c->fmt->fields[i];
	fail(c, -EINVAL);
	return NULL;
}

static uint32_t add_bytes(struct comp *c, const struct tap_field *f)
{
	struct print_node n = { .op = P_BYTES, .class = PRINT_BYTES, .field = f };
	bool whole = f->elem_size <= 8 && !(f->elem_size & (f->elem_size - 1));

	n.type = (struct tap_ctype){ whole ? (uint8_t)f->elem_size : 1, f->is_signed, f->is_real };
	return add_node(c, n);
}

static uint32_t add_field(struct comp *c, const struct tap_field *f)
{
	struct print_node n = {
		.op = P_LOAD, .at = f->offset, .len = f->size, .swap = f->swap, .num = UINT64_MAX
	};

	if (f->kind != TAP_FIELD_NUMBER && f->kind != TAP_FIELD_REAL)
		return add_bytes(c, f);
	n.class = f->is_real ? PRINT_REAL : PRINT_NUMBER;
	n.type = (struct tap_ctype){ (uint8_t)f->size, f->is_signed, f->is_real };
	n.load = load_of(n.type, f->swap);
	return add_node(c, n);
}

static uint32_t parse_record(struct comp *c)
{
	const struct tap_field *f;

	expect(c, "->");
	f = find_field(c, take_word(c));
	return f ? add_field(c, f) : 0;
}

struct entries {
	uint32_t at, nr;
	uint64_t bytes; /* of all texts */
	uint32_t longest;
};

/* The bytes of a text, with room for a number in its place and for being copied in pieces. */
static uint32_t most_text(struct comp *c, uint64_t bytes)
{
	if (bytes > 2 * TAP_FORMAT_MAX_BYTES)
		return fail(c, -EINVAL);
	return (uint32_t)bytes + 18 + PRINT_SLACK;
}

static void add_entry(struct comp *c, struct print_entry e)
{
	struct print_prog *prog = c->prog;
	struct print_entry *v =
		grow(c, prog->entries, prog->nr_entries, 1, &prog->cap_entries, sizeof(e));

	if (!v)
		return;
	prog->entries = v;
	v[prog->nr_entries++] = e;
}

/*
 * "{ value, "text" }, ...", up to the call's closing parenthesis. An entry whose value only
 * the kernel knew can match nothing; one without a text is the kernel's own end mark.
 */
static struct entries parse_entries(struct comp *c, struct tap_ctype type)
{
	struct entries es = { .at = c->prog->nr_entries };
	uint32_t nr_nodes = c->prog->nr_nodes;

	while (accept(c, ",") && accept(c, "{") && !accept(c, "}")) {
		uint32_t n = cast(c, parse_expr(c), type);
		struct print_entry e = { 0 };

		expect(c, ",");
		if (peek(c) == '"')
			take_string(c, &e.at, &e.len);
		else
			parse_expr(c);
		expect(c, "}");
		if (c->err)
			break;
		if (is_const(c, n) && e.at) {
			e.value = node(c, n)->num;
			add_entry(c, e);
			es.bytes += e.len;
			es.longest = e.len > es.longest ? e.len : es.longest;
		} else if (!is_const(c, n) && !node(c, n)->unknown) {
			fail(c, -EINVAL);
		}
		c->prog->nr_nodes = nr_nodes;
	}
	es.nr = c->prog->nr_entries - es.at;
	return es;
}

/* By value; the kernel takes the first of equal ones, and texts stand in the order written. */
static int entry_order(const void *a, const void *b)
{
	const struct print_entry *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static uint32_t parse_symbolic(struct comp *c, struct tap_ctype type)
{
	struct print_node n = { .op = P_SYMBOLIC, .class = PRINT_TEXT };
	struct entries es;

	n.a = cast(c, parse_expr(c), type);
	es = parse_entries(c, type);
	expect(c, ")");
	if (c->err)
		return 0;
	if (es.nr)
		qsort(c->prog->entries + es.at, es.nr, sizeof(*c->prog->entries), entry_order);
	n.at = es.at;
	n.len = es.nr;
	n.most = most_text(c, es.longest);
	return add_node(c, n);
}

static uint32_t add_literal(struct comp *c)
{
	struct print_node n = { .op = P_LITERAL, .class = PRINT_TEXT, .type = { 1, true } };

	take_string(c, &n.at, &n.len);
	n.most = most_text(c, n.len);
	return add_node(c, n);
}

static uint32_t parse_flags(struct comp *c, struct tap_ctype type)
{
	struct print_node n = { .op = P_FLAGS, .class = PRINT_TEXT };
	struct entries es;

	n.a = cast(c, parse_expr(c), type);
	expect(c, ",");
	n.b = add_literal(c);
	es = parse_entries(c, type);
	expect(c, ")");
	if (c->err)
		return 0;
	n.at = es.at;
	n.len = es.nr;
	n.most = most_text(c, es.bytes + (es.nr + 1ull) * node(c, n.b)->len);
	return add_node(c, n);
}

static uint32_t parse_bytes(struct comp *c)
{
	uint32_t n = parse_expr(c);

	if (c->err || !n || node(c, n)->class != PRINT_BYTES)
		return fail(c, -EINVAL);
	return n;
}

static uint32_t parse_count(struct comp *c)
{
	expect(c, ",");
	return cast(c, parse_expr(c), type_int);
}

static uint32_t parse_hex(struct comp *c, enum print_op op)
{
	struct print_node n = { .op = op, .class = PRINT_TEXT };

	n.a = parse_bytes(c);
	n.b = parse_count(c);
	if (op == P_ARRAY)
		n.c = parse_count(c);
	expect(c, ")");
	return c->err ? 0 : add_node(c, n);
}

static bool take_const(struct comp *c, uint64_t *v)
{
	uint32_t n;

	expect(c, ",");
	n = parse_expr(c);
	if (!is_number(c, n) || !is_const(c, n)) {
		fail(c, -EINVAL);
		return false;
	}
	*v = node(c, n)->num;
	return true;
}

/* __print_hex_dump(prefix, its type, bytes of a row, of a group, bytes, how many, with text) */
static uint32_t parse_hex_dump(struct comp *c)
{
	struct print_node n = { .op = P_DUMP, .class = PRINT_TEXT };
	uint64_t prefix, row, group, ascii;

	n.c = peek(c) == '"' ? add_literal(c) : fail(c, -EINVAL);
	if (!take_const(c, &prefix) || !take_const(c, &row) || !take_const(c, &group))
		return 0;
	expect(c, ",");
	n.a = parse_bytes(c);
	n.b = parse_count(c);
	if (!take_const(c, &ascii))
		return 0;
	expect(c, ")");
	/* what there is not becomes what hex_dump_to_buffer() makes of it */
	n.dump.prefix = prefix == DUMP_PREFIX_ADDRESS || prefix == DUMP_PREFIX_OFFSET ? (uint8_t)prefix : DUMP_PREFIX_NONE;
	n.dump.row = row == 32 ? 32 : 16;
	n.dump.group = group == 2 || group == 4 || group == 8 ? (uint8_t)group : 1;
	n.dump.ascii = ascii;
	return c->err ? 0 : add_node(c, n);
}

/* __print_dynamic_array(field, bytes of an element) */
static uint32_t parse_dynamic_array(struct comp *c)
{
	const struct tap_field *f = find_field(c, take_word(c));
	struct print_node n = { .op = P_ARRAY, .class = PRINT_TEXT };
	struct print_node len = { .op = P_LEN, .type = type_int, .field = f };

	if (c->err || (f->kind != TAP_FIELD_STRING && f->kind != TAP_FIELD_DYNAMIC))
		return fail(c, -EINVAL);
	n.a = add_bytes(c, f);
	n.c = parse_count(c);
	expect(c, ")");
	if (c->err)
		return 0;
	n.b = cast(c, add_binary(c, P_DIV, add_node(c, len), n.c), type_int);
	return c->err ? 0 : add_node(c, n);
}

enum dynamic {
	DYN_STR,
	DYN_ARRAY,
	DYN_LEN,
	DYN_MASK,
	DYN_CPUS,
};

static uint32_t parse_dynamic(struct comp *c, enum dynamic what)
{
	const struct tap_field *f = find_field(c, take_word(c));
	struct print_node n = { .type = type_int, .field = f };

	expect(c, ")");
	if (c->err || (f->kind != TAP_FIELD_STRING && f->kind != TAP_FIELD_DYNAMIC))
		return fail(c, -EINVAL);
	if (what == DYN_LEN) {
		n.op = P_LEN;
	} else if (what == DYN_MASK || what == DYN_CPUS) {
		n.op = what == DYN_MASK ? P_MASK : P_CPUS;
		n.class = PRINT_TEXT;
		n.a = add_bytes(c, f);
	} else {
		return add_bytes(c, f);
	}
	return add_node(c, n);
}

/* Up to the ')' that closes what is open, which is not taken. */
static struct word take_type(struct comp *c)
{
	struct word w;

	skip_blanks(c);
	w.s = c->p;
	while (c->p < c->end && (isalnum((unsigned char)*c->p) || strchr("_* \t", *c->p)))
		c->p++;
	w.len = (size_t)(c->p - w.s);
	return w;
}

static uint32_t parse_sizeof(struct comp *c)
{
	const char *start = c->p;
	struct word w = take_type(c);
	struct tap_ctype type;
	const struct tap_field *f;

	if (word_is(w, "REC") || word_is(w, "REC ")) {
		expect(c, "->");
		f = find_field(c, take_word(c));
		expect(c, ")");
		return f ? add_num(c, type_ulong(c), f->size) : 0;
	}
	expect(c, ")");
	if (c->p == start || !w.len)
		return fail(c, -EINVAL);
	if (!tap_ctype_find(w.s, w.len, abi_of(c), &type))
		return add_unknown(c);
	return add_num(c, type_ulong(c), type.size);
}

/* Seconds of ns, or what is left of them. */
static uint32_t parse_part_of_ns(struct comp *c, enum print_op op, struct tap_ctype type)
{
	const struct tap_ctype u64 = { 8, false };
	uint32_t n = cast(c, parse_expr(c), u64);

	expect(c, ")");
	return c->err ? 0 : cast(c, add_binary(c, op, n, add_num(c, u64, 1000000000)), type);
}

/* A compiler's hint is worth its first argument. */
static uint32_t parse_likely(struct comp *c)
{
	uint32_t n = parse_expr(c);

	expect(c, ",");
	parse_expr(c);
	expect(c, ")");
	return n;
}

enum call {
	CALL_SYMBOLIC,
	CALL_SYMBOLIC64,
	CALL_FLAGS,
	CALL_FLAGS64,
	CALL_HEX,
	CALL_HEX_STR,
	CALL_HEX_DUMP,
	CALL_ARRAY,
	CALL_DYNAMIC_ARRAY,
	CALL_STR,
	CALL_DYNAMIC,
	CALL_LEN,
	CALL_MASK,
	CALL_CPUS,
	CALL_SECONDS,
	CALL_NANOSECONDS,
	CALL_SIZEOF,
	CALL_EXPECT,
};

static const struct {
	const char *name;
	enum call call;
} calls[] = {
	{ "__print_symbolic", CALL_SYMBOLIC },
	{ "__print_symbolic_u64", CALL_SYMBOLIC64 },
	{ "__print_flags", CALL_FLAGS },
	{ "__print_flags_u64", CALL_FLAGS64 },
	{ "__print_hex", CALL_HEX },
	{ "__print_hex_str", CALL_HEX_STR },
	{ "__print_hex_dump", CALL_HEX_DUMP },
	{ "__print_array", CALL_ARRAY },
	{ "__print_dynamic_array", CALL_DYNAMIC_ARRAY },
	{ "__get_str", CALL_STR },
	{ "__get_rel_str", CALL_STR },
	{ "__get_dynamic_array", CALL_DYNAMIC },
	{ "__get_rel_dynamic_array", CALL_DYNAMIC },
	{ "__get_sockaddr", CALL_DYNAMIC },
	{ "__get_rel_sockaddr", CALL_DYNAMIC },
	{ "__get_dynamic_array_len", CALL_LEN },
	{ "__get_rel_dynamic_array_len", CALL_LEN },
	{ "__get_bitmask", CALL_MASK },
	{ "__get_rel_bitmask", CALL_MASK },
	{ "__get_cpumask", CALL_CPUS },
	{ "__get_rel_cpumask", CALL_CPUS },
	{ "__print_ns_to_secs", CALL_SECONDS },
	{ "__print_ns_without_secs", CALL_NANOSECONDS },
	{ "sizeof", CALL_SIZEOF },
	{ "__builtin_expect", CALL_EXPECT },
};

static uint32_t parse_call(struct comp *c, struct word w)
{
	const struct tap_ctype u64 = { 8, false };
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]) && !word_is(w, calls[i].name); i++)
		;
	if (i == sizeof(calls) / sizeof(calls[0]))
		return fail(c, -EINVAL);
	switch (calls[i].call) {
	case CALL_SYMBOLIC:
		return parse_symbolic(c, type_ulong(c));
	case CALL_SYMBOLIC64:
		return parse_symbolic(c, u64);
	case CALL_FLAGS:
		return parse_flags(c, type_ulong(c));
	case CALL_FLAGS64:
		return parse_flags(c, u64);
	case CALL_HEX:
		return parse_hex(c, P_HEX);
	case CALL_HEX_STR:
		return parse_hex(c, P_HEX_STR);
	case CALL_HEX_DUMP:
		return parse_hex_dump(c);
	case CALL_ARRAY:
		return parse_hex(c, P_ARRAY);
	case CALL_DYNAMIC_ARRAY:
		return parse_dynamic_array(c);
	case CALL_STR:
		return parse_dynamic(c, DYN_STR);
	case CALL_DYNAMIC:
		return parse_dynamic(c, DYN_ARRAY);
	case CALL_LEN:
		return parse_dynamic(c, DYN_LEN);
	case CALL_MASK:
		return parse_dynamic(c, DYN_MASK);
	case CALL_CPUS:
		return parse_dynamic(c, DYN_CPUS);
	case CALL_SECONDS:
		return parse_part_of_ns(c, P_DIV, u64);
	case CALL_NANOSECONDS:
		return parse_part_of_ns(c, P_MOD, (struct tap_ctype){ 4, false });
	case CALL_SIZEOF:
		return parse_sizeof(c);
	default:
		return parse_likely(c);
	}
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

static uint32_t parse_word(struct comp *c)
{
	struct word w = take_word(c);

	if (!w.len)
		return fail(c, -EINVAL);
	if (word_is(w, "REC"))
		return parse_record(c);
	if (accept(c, "("))
		return parse_call(c, w);
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (word_is(w, constants[i].name))
			return add_num(c, type_int, constants[i].value);
	if (word_is(w, "NULL"))
		return add_num(c, type_ulong(c), 0);
	return add_unknown(c);
}

static uint32_t parse_char(struct comp *c)
{
	char ch = 0;

	if (c->p < c->end)
		ch = take_char(c);
	expect(c, "'");
	return add_num(c, type_int, (uint64_t)ch);
}

struct cast {
	struct word name;
	struct tap_ctype type, elem;
	bool known, is_pointer;
};

/* A type's name that C's own do not tell, but a field of it does. */
static bool field_type(const struct comp *c, struct word w, struct tap_ctype *type)
{
	for (unsigned int i = 0; i < c->fmt->nr_fields; i++) {
		const struct tap_field *f = &c->fmt->fields[i];

		if (f->kind != TAP_FIELD_NUMBER || !word_is(w, f->type))
			continue;
		*type = (struct tap_ctype){ (uint8_t)f->size, f->is_signed };
		return true;
	}
	return false;
}

/* After "(": whether a type and ")" follow; they are taken then. */
static bool accept_cast(struct comp *c, struct cast *k)
{
	const char *start = c->p, *star;
	bool tagged;
	char next;

	*k = (struct cast){ .name = take_type(c) };
	while (k->name.len && k->name.s[k->name.len - 1] == ' ')
		k->name.len--;
	if (!k->name.len || isdigit((unsigned char)*k->name.s) || !accept(c, ")"))
		goto no;
	k->known = tap_ctype_find(k->name.s, k->name.len, abi_of(c), &k->type) ||
		   field_type(c, k->name, &k->type);
	star = memchr(k->name.s, '*', k->name.len);
	if (star && k->name.s[k->name.len - 1] != '*')
		goto no;
	if (star) {
		struct word elem = { k->name.s, (size_t)(star - k->name.s) };

		k->is_pointer = true;
		while (elem.len && elem.s[elem.len - 1] == ' ')
			elem.len--;
		if (word_is(elem, "void") || word_is(elem, "const void"))
			k->elem = (struct tap_ctype){ 1, false };
		else if (!tap_ctype_find(elem.s, elem.len, abi_of(c), &k->elem))
			k->elem = (struct tap_ctype){ 0 };
	}
	if (k->known)
		return true;
	/* "(name) x" is a cast to some type, "(name) + x" is not */
	tagged = memchr(k->name.s, ' ', k->name.len);
	next = peek(c);
	if (!word_is(k->name, "REC") &&
	    (tagged || isalnum((unsigned char)next) || next == '_' || next == '('))
		return true;
no:
	c->p = start;
	return false;
}

/* "&REC->name", as %pI4 and the like have it. */
static uint32_t parse_address(struct comp *c)
{
	const struct tap_field *f;

	expect(c, "REC");
	expect(c, "->");
	f = find_field(c, take_word(c));
	return f ? add_bytes(c, f) : 0;
}

static uint32_t parse_unary(struct comp *c);

static uint32_t cast_number(struct comp *c, uint32_t n, const struct cast *k)
{
	struct print_node copy;

	if (k->known)
		n = cast(c, n, k->type);
	if (c->err)
		return 0;
	copy = *node(c, n);
	copy.opaque = k->is_pointer && k->elem.size != 1;
	return copy.opaque == node(c, n)->opaque ? n : add_node(c, copy);
}

static uint32_t parse_cast(struct comp *c, const struct cast *k)
{
	uint32_t n = parse_unary(c);
	struct print_node copy;

	if (c->err || !n)
		return 0;
	if (node(c, n)->class == PRINT_NUMBER)
		return cast_number(c, n, k);
	if (node(c, n)->class == PRINT_REAL) /* to what is no narrower: it stays */
		return !k->known || (k->type.is_real && k->type.size >= node(c, n)->type.size) ? n : fail(c, -EINVAL);
	if (!k->is_pointer)
		return fail(c, -EINVAL);
	if (node(c, n)->class == PRINT_TEXT)
		return n;
	copy = *node(c, n);
	copy.type = k->elem.size ? k->elem : (struct tap_ctype){ 1, false };
	return add_node(c, copy);
}

static uint32_t parse_parens(struct comp *c)
{
	struct cast k;
	uint32_t n;

	if (accept_cast(c, &k))
		return parse_cast(c, &k);
	if (accept(c, "REC)"))
		return parse_record(c);
	n = parse_expr(c);
	expect(c, ")");
	return n;
}

static uint32_t parse_postfix(struct comp *c, uint32_t n)
{
	struct print_node e = { .op = P_ELEM };

	while (accept(c, "[")) {
		e.a = n;
		e.b = parse_expr(c);
		expect(c, "]");
		if (!is_number(c, e.b) || node(c, n)->class != PRINT_BYTES)
			return fail(c, -EINVAL);
		e.type = node(c, n)->type;
		e.class = e.type.is_real ? PRINT_REAL : PRINT_NUMBER;
		n = add_node(c, e);
	}
	return n;
}

static uint32_t parse_primary(struct comp *c)
{
	char ch = peek(c);

	if (isdigit((unsigned char)ch))
		return take_number(c);
	if (ch == '"')
		return add_literal(c);
	if (accept(c, "'"))
		return parse_char(c);
	if (accept(c, "("))
		return parse_postfix(c, parse_parens(c));
	return parse_postfix(c, parse_word(c));
}

static uint32_t parse_unary(struct comp *c)
{
	uint32_t n = 0;

	if (++c->depth > PRINT_MAX_DEPTH)
		return fail(c, -EINVAL);
	if (accept(c, "-"))
		n = add_unary(c, P_NEG, parse_unary(c));
	else if (accept(c, "~"))
		n = add_unary(c, P_INV, parse_unary(c));
	else if (accept(c, "!"))
		n = add_unary(c, P_NOT, parse_unary(c));
	else if (accept(c, "+"))
		n = parse_unary(c);
	else if (accept(c, "&"))
		n = parse_address(c);
	else
		n = parse_primary(c);
	c->depth--;
	return n;
}

/* Longer signs first where one begins another. */
static const struct {
	const char *sign;
	uint8_t op, level;
} binaries[] = {
	{ "||", P_OROR, 1 }, { "&&", P_ANDAND, 2 }, { "|", P_OR, 3 },  { "^", P_XOR, 4 },
	{ "&", P_AND, 5 },   { "==", P_EQ, 6 },	    { "!=", P_NE, 6 }, { "<<", P_SHL, 8 },
	{ ">>", P_SHR, 8 },  { "<=", P_LE, 7 },	    { ">=", P_GE, 7 }, { "<", P_LT, 7 },
	{ ">", P_GT, 7 },    { "+", P_ADD, 9 },	    { "-", P_SUB, 9 }, { "*", P_MUL, 10 },
	{ "/", P_DIV, 10 },  { "%", P_MOD, 10 },
};

static uint32_t parse_binary(struct comp *c, unsigned int level)
{
	const size_t nr = sizeof(binaries) / sizeof(binaries[0]);
	uint32_t n = parse_unary(c);

	for (size_t i = 0; !c->err && i < nr; i++) {
		const char *start = c->p;

		if (!accept(c, binaries[i].sign))
			continue;
		if (binaries[i].level < level) {
			c->p = start;
			break;
		}
		n = add_binary(c, binaries[i].op, n, parse_binary(c, binaries[i].level + 1));
		i = SIZE_MAX; /* from the first sign again */
	}
	return n;
}

static uint32_t parse_expr(struct comp *c)
{
	uint32_t n, b;

	if (++c->depth > PRINT_MAX_DEPTH)
		return fail(c, -EINVAL);
	n = parse_binary(c, 1);
	if (accept(c, "?")) {
		b = parse_expr(c);
		expect(c, ":");
		n = add_cond(c, n, b, parse_expr(c));
	}
	c->depth--;
	return c->err ? 0 : n;
}

/* ---- conversions ---- */

static uint32_t parse_arg(struct comp *c)
{
	expect(c, ",");
	return parse_expr(c);
}

/* A number, or "*" for one more argument. */
static const char *parse_amount(struct comp *c, const char *s, const char *end, int32_t *amount,
				uint32_t *arg)
{
	*amount = 0;
	if (s < end && *s == '*') {
		*arg = cast(c, parse_arg(c), type_int);
		return s + 1;
	}
	for (; s < end && isdigit((unsigned char)*s); s++) {
		*amount = *amount * 10 + (*s - '0');
		if (*amount > PRINT_MAX_WIDTH)
			fail(c, -EINVAL);
		if (c->err)
			return end;
	}
	return s;
}

static const char *parse_flags_of(const char *s, const char *end, struct print_out *o)
{
	for (; s < end; s++) {
		if (*s == '-')
			o->left = true;
		else if (*s == '+')
			o->plus = true;
		else if (*s == ' ')
			o->space = true;
		else if (*s == '#')
			o->special = true;
		else if (*s == '0')
			o->zero = true;
		else
			break;
	}
	return s;
}

static const char *parse_length(const char *s, const char *end, int *length)
{
	*length = LEN_INT;
	for (; s < end; s++) {
		if (*s == 'l')
			*length = *length == LEN_LONG ? LEN_LONG_LONG : LEN_LONG;
		else if (*s == 'h')
			*length = *length == LEN_SHORT ? LEN_CHAR : LEN_SHORT;
		else if (*s == 'L')
			*length = LEN_LONG_LONG;
		else if (*s == 'z' || *s == 't')
			*length = LEN_LONG;
		else
			break;
	}
	return s;
}

static struct tap_ctype arg_type(const struct comp *c, int length, bool is_signed)
{
	switch (length) {
	case LEN_CHAR:
		return (struct tap_ctype){ 1, is_signed };
	case LEN_SHORT:
		return (struct tap_ctype){ 2, is_signed };
	case LEN_LONG:
		return (struct tap_ctype){ c->fmt->long_size, is_signed };
	case LEN_LONG_LONG:
		return (struct tap_ctype){ 8, is_signed };
	default:
		return (struct tap_ctype){ 4, is_signed };
	}
}

/* Where a number comes from: straight from its field, or from its tree. */
static void set_source(struct comp *c, struct print_out *o, uint32_t n)
{
	o->node = n;
	if (c->err || node(c, n)->op != P_LOAD || node(c, n)->num != UINT64_MAX)
		return;
	o->load = node(c, n)->load;
	o->at = node(c, n)->at;
}

static void set_number(struct comp *c, struct print_out *o, char conv, int length)
{
	bool plain = !o->plus && !o->space && !o->special && !o->width && !o->width_node &&
		     o->precision < 0;
	uint32_t n;

	o->is_signed = conv == 'd' || conv == 'i';
	o->upper = conv == 'X';
	o->base = conv == 'o' ? 8 : (conv | 32) == 'x' ? 16 : 10;
	n = parse_arg(c);
	if (is_number(c, n))
		set_source(c, o, cast(c, n, arg_type(c, length, o->is_signed)));
	o->kind = OUT_NUMBER;
	if (plain && o->base == 10)
		o->kind = o->is_signed ? OUT_SIGNED : OUT_UNSIGNED;
	else if (plain && o->base == 16 && !o->upper)
		o->kind = OUT_HEX;
}

static void set_real(struct comp *c, struct print_out *o, char conv)
{
	uint32_t n = parse_arg(c);

	if (!c->err && (node(c, n)->class == PRINT_REAL || node(c, n)->unknown))
		set_source(c, o, n);
	else
		fail(c, -EINVAL);
	o->kind = OUT_REAL;
	o->conv = conv;
}

static void set_text(struct comp *c, struct print_out *o)
{
	const struct tap_field *f;

	o->kind = OUT_TEXT;
	o->node = parse_arg(c);
	if (!c->err && node(c, o->node)->class == PRINT_REAL)
		fail(c, -EINVAL);
	if (c->err || o->width || o->width_node || o->precision >= 0 || o->precision_node)
		return;
	if (node(c, o->node)->most && node(c, o->node)->most <= PRINT_SHORT) {
		o->kind = OUT_SHORT;
		o->len = node(c, o->node)->most;
	}
	if (node(c, o->node)->op != P_BYTES)
		return;
	f = node(c, o->node)->field;
	/* a field without a size lasts to the record's end */
	if ((f->kind != TAP_FIELD_CHARS && f->kind != TAP_FIELD_ARRAY) || !f->size ||
	    f->offset + f->size > c->fmt->min_size)
		return;
	o->kind = f->size == 16 ? OUT_CHARS16 : OUT_CHARS;
	o->at = f->offset;
	o->len = f->size;
}

/* printk's %p: the word behind it says what it points to, and is no part of the text. */
static const char *set_pointer(struct comp *c, struct print_out *o, const char *s, const char *end)
{
	static const struct {
		const char *word;
		uint8_t kind;
		char between;
		bool special; /* IP6, SOCKADDR: shortened; UUID: the first fields little-endian; IP4, MAC: backwards */
		bool upper;   /* IP4, IP6: i for I: with leading zeros, without colons */
		bool plus;
		bool host; /* backwards where the recording's numbers are */
	} words[] = {
		{ "bl", OUT_LIST },
		{ "b", OUT_MASK },
		{ "h", OUT_BYTES, ' ' },
		{ "hC", OUT_BYTES, ':' },
		{ "hD", OUT_BYTES, '-' },
		{ "hN", OUT_BYTES },
		{ "M", OUT_MAC, ':' },
		{ "MF", OUT_MAC, '-' },
		{ "MR", OUT_MAC, ':', .special = true },
		{ "m", OUT_MAC },
		{ "mR", OUT_MAC, .special = true },
		{ "I4", OUT_IP4 },
		{ "I4n", OUT_IP4 },
		{ "I4b", OUT_IP4 },
		{ "I4l", OUT_IP4, .special = true },
		{ "I4h", OUT_IP4, .host = true },
		{ "i4", OUT_IP4, .upper = true },
		{ "I6c", OUT_IP6, .special = true },
		{ "I6", OUT_IP6 },
		{ "i6", OUT_IP6, .upper = true },
		{ "IS", OUT_SOCKADDR },
		{ "ISc", OUT_SOCKADDR, .special = true },
		{ "ISp", OUT_SOCKADDR, .plus = true },
		{ "ISpc", OUT_SOCKADDR, .special = true, .plus = true },
		{ "U", OUT_UUID },
		{ "Ub", OUT_UUID },
		{ "UB", OUT_UUID, .upper = true },
		{ "Ul", OUT_UUID, .special = true },
		{ "UL", OUT_UUID, .special = true, .upper = true },
	};
	size_t len = 0, i, nr = sizeof(words) / sizeof(words[0]);

	while (s + len < end && isalnum((unsigned char)s[len]))
		len++;
	for (i = 0; i < nr; i++)
		if (word_is((struct word){ s, len }, words[i].word))
			break;
	if (i < nr) {
		o->kind = words[i].kind;
		o->between = words[i].between;
		o->special = words[i].special || (words[i].host && !c->fmt->big_endian);
		o->upper = words[i].upper;
		o->plus = words[i].plus;
		o->node = parse_arg(c);
		if (c->err || node(c, o->node)->class != PRINT_BYTES)
			fail(c, -EINVAL);
	} else if (len == 1 && *s == 'e') {
		o->kind = OUT_ERROR;
		set_source(c, o, cast(c, parse_arg(c), (struct tap_ctype){ c->fmt->long_size, true }));
	} else if (!len || strchr("SsFfBxK", *s)) {
		/* %pfw is a firmware node */
		o->kind = len && strchr("SsFfB", *s) && s[1] != 'w' ? OUT_SYMBOL : OUT_NUMBER;
		o->conv = len ? *s : '\0';
		o->base = 16;
		o->special = true;
		set_source(c, o, cast(c, parse_arg(c), type_ulong(c)));
	} else {
		fail(c, -EINVAL);
	}
	return s + len;
}

static const char *parse_conversion(struct comp *c, const char *s, const char *end,
				    struct print_out *o)
{
	int length;

	o->precision = -1;
	s = parse_flags_of(s, end, o);
	s = parse_amount(c, s, end, &o->width, &o->width_node);
	if (s < end && *s == '.')
		s = parse_amount(c, s + 1, end, &o->precision, &o->precision_node);
	s = parse_length(s, end, &length);
	if (c->err || s == end) {
		fail(c, -EINVAL);
		return end;
	}
	switch (*s) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		set_number(c, o, *s, length);
		break;
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		set_real(c, o, *s);
		break;
	case 's':
		set_text(c, o);
		break;
	case 'c':
		o->kind = OUT_CHAR;
		set_source(c, o, cast(c, parse_arg(c), (struct tap_ctype){ 1, false }));
		break;
	case 'p':
		return set_pointer(c, o, s + 1, end);
	default:
		fail(c, -EINVAL);
	}
	return s + 1;
}

static void add_out(struct comp *c, struct print_out o)
{
	struct print_prog *prog = c->prog;
	struct print_out *v = grow(c, prog->outs, prog->nr_outs, 1, &prog->cap_outs, sizeof(o));

	if (!v)
		return;
	if (o.node && !c->err && node(c, o.node)->unknown)
		o.kind = OUT_UNKNOWN;
	prog->outs = v;
	v[prog->nr_outs++] = o;
}

/* The format string's literals become one piece each: "%%" is resolved in a copy. */
static void parse_format(struct comp *c, const char *s, const char *end)
{
	struct print_out o = { .lit = c->prog->texts_len };

	while (s < end && !c->err) {
		if (*s != '%' || (end - s > 1 && s[1] == '%')) {
			add_text(c, s, 1);
			o.lit_len++;
			s += *s == '%' ? 2 : 1;
			continue;
		}
		s = parse_conversion(c, s + 1, end, &o);
		add_out(c, o);
		o = (struct print_out){ .lit = c->prog->texts_len };
	}
	o.kind = OUT_END;
	add_out(c, o);
}

static size_t most_bytes(const struct print_out *o)
{
	size_t width = o->width > o->precision ? (size_t)o->width : (size_t)o->precision;

	switch (o->kind) {
	case OUT_SIGNED:
	case OUT_UNSIGNED:
	case OUT_HEX:
		return 24;
	case OUT_NUMBER:
		if (o->width_node || o->precision_node)
			width = PRINT_MAX_WIDTH;
		return 32 + width;
	case OUT_CHARS16:
	case OUT_CHARS:
	case OUT_SHORT:
		return o->len;
	default:
		return 0;
	}
}

static void set_rests(struct print_prog *prog)
{
	size_t rest = 2 * PRINT_SLACK;

	for (uint32_t i = prog->nr_outs; i-- > 0;) {
		struct print_out *o = &prog->outs[i];

		if (o->kind >= OUT_TEXT)
			rest = 2 * PRINT_SLACK;
		rest += o->lit_len + most_bytes(o);
		o->rest = rest;
	}
}

int tap_print_compile(const struct tap_format *fmt, struct print_prog *prog)
{
	struct comp c = { .fmt = fmt, .prog = prog, .p = fmt->print_fmt };
	uint32_t at = 0, len = 0;
	char *format = NULL;

	*prog = (struct print_prog){ .fmt = fmt };
	c.end = c.p + strlen(c.p);
	add_num(&c, type_int, 0); /* node 0 */
	add_text(&c, "", 1); /* and no text is at 0 */
	prog->entries = grow(&c, NULL, 0, 1, &prog->cap_entries, sizeof(*prog->entries));
	take_string(&c, &at, &len);
	if (!c.err) {
		format = strndup(prog->texts + at, len); /* the texts move as they grow */
		if (format)
			parse_format(&c, format, format + len);
		else
			fail(&c, -ENOMEM);
	}
	free(format);
	if (prog->nr_outs == 1)
		accept(&c, ","); /* the kernel writes it also where no argument follows */
	if (!c.err && peek(&c))
		fail(&c, -EINVAL);
	if (c.err) {
		tap_print_prog_release(prog);
		return c.err;
	}
	set_rests(prog);
	return 0;
}

void tap_print_prog_release(struct print_prog *prog)
{
	free(prog->nodes);
	free(prog->entries);
	free(prog->outs);
	free(prog->texts);
	*prog = (struct print_prog){ 0 };
}
