// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The filter language. What the kernel's language has (predicate_parse() and parse_pred() of v6.18)
 * is accepted as the kernel does, with the same messages and carets; schedtap-filter(5) lists the
 * differences.
 *
 *	or	:= and { "||" and }
 *	and	:= not { "&&" not }
 *	not	:= "!" not | term
 *	term	:= sum [ operator sum ]
 *	sum	:= product { ("+" | "-") product }
 *	product	:= unary { ("*" | "/" | "%") unary }
 *	unary	:= "-" unary | "(" or ")" | number | field | text | cpus | function
 *	cpus	:= "CPUS{" list "}"
 *	function := "sample(" number "/" number ")"
 *		| "changed(" field ")" | "moved(" field "," number ")"
 *
 * Parentheses may contain a condition or a number. Both are parsed by the same rules, and the
 * caller that needs one of them refuses the other.
 */
#include "event/expr/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/opt.h"
#include "event/expr/build.h"
#include "event/expr/kernel_glob.h"
#include "event/expr/value_names.h"
#include "event/span.h"

enum value_kind {
	VALUE_NONE, /* after an error */
	VALUE_TRUTH, /* a condition: one or more terms */
	VALUE_NUMBER,
	VALUE_TEXT, /* a text field, or the running task's name */
	VALUE_MASK, /* a bitmask field */
	VALUE_OTHER, /* a field that cannot be compared */
	VALUE_QUOTED,
	VALUE_CPUS,
};

/*
 * Targets of terms that are not set yet, linked into a list by their index: index * 2 + 1 is a
 * term's .yes, index * 2 + 2 its .no.
 */
struct ends {
	uint32_t first, last; /* 0: the list is empty */
};

struct value {
	enum value_kind kind;
	const char *at; /* the start of its text */
	uint32_t first; /* TRUTH: index of its first term */
	struct ends yes, no;
	uint32_t node; /* NUMBER: the expression's node */
	bool is_signed, is_literal, is_negative;
	const struct tap_field *field; /* NULL: the running task's name, or not a single field */
	struct span quoted;
	struct tap_cpus cpus; /* owned */
};

struct parser {
	struct expr_parser p;
	struct tap_filter *f;
	const char *text;
	struct tap_err *err;
	unsigned int parens;
	bool failed; /* an error was reported in .err */
	bool is_right; /* parsing the right operand of a comparison */
	const struct tap_field *left; /* its left operand if that is a single field; or NULL */
	uint32_t divisors[16]; /* nodes of divisors in the current term */
	unsigned int nr_divisors;
};

static const struct tap_ctype s64_type = { 8, true };

/* ---- errors ---- */

#define SHOWN_BEFORE 60
#define SHOWN 76

static struct value no_value(void)
{
	return (struct value){ 0 };
}

/* Report an error with a caret at @column. Long filters are shown in part. */
static void set_error(struct parser *f, const char *message, const char *near, size_t column)
{
	size_t len = strlen(f->text), from;
	char shown[SHOWN + 1];

	while (len && isspace((unsigned char)f->text[len - 1]))
		len--;
	column = column < len ? column : len;
	from = column > SHOWN_BEFORE ? column - SHOWN_BEFORE : 0;
	snprintf(shown, sizeof(shown), "%s", f->text + from);
	for (char *s = shown; *s; s++)
		*s = iscntrl((unsigned char)*s) ? ' ' : *s;
	tap_err_set(f->err, -EINVAL, "bad filter for '%s:%s': %s%s%s%s\n %s\n %*s^",
		    f->p.fmt->system, f->p.fmt->name, message, near ? ": did you mean '" : "",
		    near ? near : "", near ? "'?" : "", shown, (int)(column - from), "");
}

static struct value fail_near(struct parser *f, const char *message, const char *near,
			      const char *at)
{
	if (!f->p.err && !f->failed)
		set_error(f, message, near, (size_t)(at - f->text));
	f->failed = true;
	tap_expr_fail(&f->p, -EINVAL);
	return no_value();
}

/* Report an error in a filter's structure: the caret points to the start of the wrong part. */
static struct value fail_at(struct parser *f, const char *message, const char *at)
{
	return fail_near(f, message, NULL, at);
}

/* Report an error in a comparison: there the kernel's caret is one column too far to the right. */
static struct value fail_comparison(struct parser *f, const char *message, const char *at)
{
	return fail_near(f, message, NULL, at + 1);
}

static bool is_failed(const struct parser *f)
{
	return f->failed || f->p.err;
}

/* ---- words ---- */

static const char *skip_blanks(struct parser *f)
{
	while (isspace((unsigned char)*f->p.at))
		f->p.at++;
	return f->p.at;
}

static bool accept_sign(struct parser *f, const char *sign)
{
	size_t len = strlen(sign);

	if (strncmp(skip_blanks(f), sign, len))
		return false;
	f->p.at += len;
	return true;
}

static struct span take_word(struct parser *f)
{
	struct span w = { skip_blanks(f), 0 };

	while (is_word(w.s[w.len]))
		w.len++;
	f->p.at += w.len;
	return w;
}

/* ---- terms ---- */

static uint32_t *end_of(struct tap_filter *f, uint32_t end)
{
	struct tap_term *t = &f->terms[(end - 1) / 2];

	return end % 2 ? &t->yes : &t->no;
}

static struct ends join_ends(struct tap_filter *f, struct ends a, struct ends b)
{
	if (!a.first || !b.first)
		return a.first ? a : b;
	*end_of(f, a.last) = b.first;
	return (struct ends){ a.first, b.last };
}

/* Set the target of all these ends to @term. */
static void tie_ends(struct tap_filter *f, struct ends ends, uint32_t term)
{
	for (uint32_t end = ends.first, next; end; end = next) {
		next = end == ends.last ? 0 : *end_of(f, end);
		*end_of(f, end) = term;
	}
}

static struct value add_term(struct parser *f, struct tap_term t, const char *at)
{
	struct tap_filter *filter = f->f;
	uint32_t i = filter->nr_terms;

	if (is_failed(f) ||
	    !tap_expr_grow(&f->p, &filter->terms, i, 1, &filter->cap_terms, sizeof(t))) {
		free((char *)t.text);
		free(t.glob);
		tap_cpus_release(&t.cpus);
		return no_value();
	}
	filter->terms[filter->nr_terms++] = t;
	return (struct value){
		.kind = VALUE_TRUTH,
		.at = at,
		.first = i,
		.yes = { 2 * i + 1, 2 * i + 1 },
		.no = { 2 * i + 2, 2 * i + 2 },
	};
}

static struct value join_and(struct parser *f, struct value a, struct value b)
{
	tie_ends(f->f, a.yes, b.first);
	b.no = join_ends(f->f, a.no, b.no);
	b.first = a.first;
	return b;
}

static struct value join_or(struct parser *f, struct value a, struct value b)
{
	tie_ends(f->f, a.no, b.first);
	b.yes = join_ends(f->f, a.yes, b.yes);
	b.first = a.first;
	return b;
}

/* ---- operands ---- */

static struct value parse_or(struct parser *f);
static struct value parse_sum(struct parser *f);

static struct value make_number(struct value v, uint32_t node, bool is_signed)
{
	v.kind = VALUE_NUMBER;
	v.node = node;
	v.is_signed = is_signed;
	return v;
}

static const struct {
	const char *name;
	uint64_t factor;
} units[] = {
	{ "ns", 1 },	  { "us", 1000 },   { "ms", 1000000 }, { "s", 1000000000 },
	{ "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
};

/*
 * Read a decimal, octal or hexadecimal number with an optional unit. Times are converted to ns,
 * sizes to bytes.
 */
static struct value take_number(struct parser *f)
{
	struct value v = { .at = f->p.at, .is_literal = true };
	unsigned int base = *v.at != '0' ? 10 : (v.at[1] | 32) == 'x' ? 16 : 8;
	struct span unit;
	uint64_t n;
	size_t i = 0;

	f->p.at += base == 16 ? 2 : 0;
	if (tap_text_take_digits(&f->p.at, NULL, base, &n))
		return fail_comparison(f, "Illegal integer value", v.at);
	unit = (struct span){ f->p.at, 0 };
	while (is_word(unit.s[unit.len]))
		unit.len++;
	while (i < sizeof(units) / sizeof(*units) && !span_is(unit, units[i].name))
		i++;
	if (unit.len &&
	    (i == sizeof(units) / sizeof(*units) || __builtin_mul_overflow(n, units[i].factor, &n)))
		return fail_comparison(f, "Illegal integer value", v.at);
	f->p.at += unit.len;
	return make_number(v, tap_expr_num(&f->p, (struct tap_ctype){ 8, n <= INT64_MAX }, n),
			   n <= INT64_MAX);
}

static struct value take_quoted(struct parser *f)
{
	struct value v = { .kind = VALUE_QUOTED, .at = f->p.at };
	const char *end = strchr(v.at + 1, *v.at); /* check_pairs() has made sure that it exists */

	v.quoted = (struct span){ v.at + 1, (size_t)(end - v.at) - 1 };
	f->p.at = end + 1;
	return v;
}

/* Read the list of CPUS{list}, after the word CPUS. */
static struct value take_cpus(struct parser *f, const char *at)
{
	struct value v = { .kind = VALUE_CPUS, .at = at };
	const char *list, *end;
	char *copy;
	int ret;

	if (*f->p.at != '{')
		return fail_comparison(f, "Missing '{'", f->p.at + 1);
	list = ++f->p.at;
	end = strchr(list, '}');
	if (!end)
		return fail_comparison(f, "Missing '}'", list + strlen(list));
	copy = strndup(list, (size_t)(end - list));
	ret = copy ? tap_cpus_parse(&v.cpus, copy) : -ENOMEM;
	if (ret == -EINVAL)
		fail_comparison(f, "Invalid cpulist", end);
	else if (ret)
		tap_expr_fail(&f->p, ret);
	free(copy);
	if (ret)
		return no_value();
	f->p.at = end + 1;
	return v;
}

static bool is_mask(const struct tap_field *f)
{
	return f->kind == TAP_FIELD_DYNAMIC && (strstr(f->type, "cpumask") || f->elem_size == 8);
}

static bool is_text(const struct tap_field *f)
{
	return f && (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING);
}

static struct value take_field(struct parser *f, const struct tap_field *field, const char *at)
{
	struct value v = { .at = at, .field = field };

	switch (field->kind) {
	case TAP_FIELD_NUMBER:
		return make_number(v, tap_expr_field(&f->p, field), field->is_signed);
	case TAP_FIELD_CHARS:
	case TAP_FIELD_STRING:
		v.kind = VALUE_TEXT;
		return v;
	default:
		v.kind = is_mask(field) ? VALUE_MASK : VALUE_OTHER;
		return v;
	}
}

static const struct tap_field *find_field(const struct tap_format *fmt, struct span name)
{
	for (unsigned int i = 0; i < fmt->nr_fields; i++)
		if (span_is(name, fmt->fields[i].name))
			return &fmt->fields[i];
	return NULL;
}

static struct value unknown_field(struct parser *f, struct span w)
{
	const struct tap_format *fmt = f->p.fmt;
	const char **names = calloc(fmt->nr_fields + 1, sizeof(*names));
	char word[64];

	snprintf(word, sizeof(word), "%.*s", w.len < 60 ? (int)w.len : 60, w.s);
	for (unsigned int i = 0; names && i < fmt->nr_fields; i++)
		names[i] = fmt->fields[i].name;
	fail_near(f, "Field not found", names ? tap_nearest(word, names, fmt->nr_fields) : NULL,
		  w.s + w.len + 1);
	free(names);
	return no_value();
}

/* ---- functions ---- */

static bool expect_sign(struct parser *f, const char *sign, const char *message)
{
	if (!is_failed(f) && !accept_sign(f, sign))
		fail_at(f, message, f->p.at);
	return !is_failed(f);
}

/* Read a number above 0. Return: 0 after an error. */
static uint64_t take_count(struct parser *f)
{
	const char *at = skip_blanks(f);
	struct value v = isdigit((unsigned char)*at)
				 ? take_number(f)
				 : fail_comparison(f, "Illegal integer value", at);
	uint64_t n = is_failed(f) ? 0 : f->p.prog->nodes[v.node].num;

	if (!is_failed(f) && !n)
		fail_comparison(f, "Illegal integer value", at);
	return n;
}

static struct value parse_sample(struct parser *f, const char *at)
{
	const struct tap_field *tid = find_field(f->p.fmt, (struct span){ "common_pid", 10 });
	const char *first = f->p.at;
	uint64_t some = take_count(f), of = expect_sign(f, "/", "Missing '/'") ? take_count(f) : 0;

	if (!expect_sign(f, ")", "Missing ')'"))
		return no_value();
	if (some > of || of > UINT32_MAX)
		return fail_comparison(f, "Illegal integer value", first);
	if (!tid || tid->kind != TAP_FIELD_NUMBER)
		return fail_comparison(f, "Field not found", at);
	return add_term(f,
			(struct tap_term){ .kind = TAP_TERM_SAMPLE,
					   .load = expr_load_of(expr_elem_type(tid), tid->swap),
					   .at = tid->offset,
					   .value = ((some << 32) + of - 1) / of },
			at);
}

/* Return the index of the field's entry in the filter's pasts, which is added if needed. */
static uint32_t past_of(struct parser *f, const struct tap_field *field)
{
	struct tap_filter *filter = f->f;
	uint32_t i = 0;

	while (i < filter->nr_pasts && filter->pasts[i].field != field)
		i++;
	if (i == filter->nr_pasts &&
	    tap_expr_grow(&f->p, &filter->pasts, i, 1, &filter->cap_pasts, sizeof(*filter->pasts)))
		filter->pasts[filter->nr_pasts++] = (struct tap_past){
			.field = field,
			.about = tap_past_about(filter->fmt, field),
		};
	return i;
}

/* Read the second argument of moved(): the minimum change. */
static uint64_t take_least(struct parser *f, const struct tap_field *field)
{
	const char *at = expect_sign(f, ",", "Missing ','") ? skip_blanks(f) : NULL;
	uint64_t least = at ? take_count(f) : 0;

	if (!is_failed(f) && tap_fit(least, field->size, false) != least)
		fail_comparison(f, "Illegal integer value", at);
	return least;
}

/* Parse moved(), or changed(), which means moved by at least 1. */
static struct value parse_moved(struct parser *f, const char *at, bool by_one)
{
	const char *first = skip_blanks(f);
	struct span name = take_word(f);
	const struct tap_field *field = find_field(f->p.fmt, name);
	uint64_t least = 1;

	if (!field)
		return unknown_field(f, name);
	if (field->kind != TAP_FIELD_NUMBER)
		return fail_comparison(f, "Expecting numeric field", first);
	if (!by_one)
		least = take_least(f, field);
	if (!expect_sign(f, ")", "Missing ')'"))
		return no_value();
	return add_term(f,
			(struct tap_term){ .kind = TAP_TERM_MOVED,
					   .load = expr_load_of(expr_elem_type(field), field->swap),
					   .is_signed = field->is_signed,
					   .at = field->offset,
					   .a = past_of(f, field),
					   .value = least },
			at);
}

/* Take the "(" of a function call. Return: false if @name is not a function or is not called. */
static bool take_call(struct parser *f, struct span name)
{
	return (span_is(name, "sample") || span_is(name, "changed") || span_is(name, "moved")) &&
	       accept_sign(f, "(");
}

static struct value parse_call(struct parser *f, struct span name)
{
	if (span_is(name, "sample"))
		return parse_sample(f, name.s);
	return parse_moved(f, name.s, span_is(name, "changed"));
}

/* Fields of the event take precedence over CPU, COMM and other names that all events have. */
static struct value take_name(struct parser *f)
{
	struct span w = take_word(f);
	struct value v = { .at = w.s };
	const struct tap_field *field = find_field(f->p.fmt, w);
	uint64_t n;

	if (field)
		return take_field(f, field, w.s);
	if (take_call(f, w))
		return parse_call(f, w);
	if (span_is(w, "CPUS"))
		return take_cpus(f, w.s);
	if (span_is(w, "CPU") || span_is(w, "cpu") || span_is(w, "common_cpu"))
		return make_number(
			v,
			tap_expr_add(&f->p, (struct expr_node){ .op = OP_CPU, .type = EXPR_INT }),
			true);
	if (span_is(w, "COMM") || span_is(w, "comm")) {
		v.kind = VALUE_TEXT;
		return v;
	}
	if (!f->is_right)
		return unknown_field(f, w);
	if (!f->left || f->left->kind != TAP_FIELD_NUMBER ||
	    !tap_value_name_find(f->p.fmt, f->left, w, &n))
		return fail_comparison(f, "Invalid value (did you forget quotes)?", w.s);
	v.is_literal = true;
	v.is_negative = (int64_t)n < 0;
	return make_number(v, tap_expr_num(&f->p, s64_type, n), true);
}

static struct value parse_parens(struct parser *f)
{
	const char *open = f->p.at - 1;
	struct value v;

	if (++f->parens > TAP_FILTER_MAX_PARENS)
		return fail_at(f, "Too many '('", open);
	v = parse_or(f);
	f->parens--;
	if (!is_failed(f) && !accept_sign(f, ")"))
		return v.kind == VALUE_TRUTH
			       ? fail_at(f, "Too many terms in predicate expression", f->p.at)
			       : fail_comparison(f, "Invalid operator", f->p.at);
	v.at = open;
	/* in parentheses it is an expression, not a single field */
	v.field = v.kind == VALUE_NUMBER ? NULL : v.field;
	return v;
}

static struct value parse_unary(struct parser *f)
{
	const char *at = skip_blanks(f);
	struct value v;

	if (is_failed(f))
		return no_value();
	if (accept_sign(f, "("))
		return parse_parens(f);
	if (*at == '-' && isdigit((unsigned char)at[1])) {
		f->p.at++;
		v = take_number(f);
		if (is_failed(f))
			return no_value();
		if (f->p.prog->nodes[v.node].num > (uint64_t)INT64_MAX + 1)
			return fail_comparison(f, "Illegal integer value", at);
		v.at = at;
		v.is_negative = true;
		return make_number(v, tap_expr_num(&f->p, s64_type, -f->p.prog->nodes[v.node].num),
				   true);
	}
	if (isdigit((unsigned char)*at))
		return take_number(f);
	if (*at == '"' || *at == '\'')
		return take_quoted(f);
	if (is_word(*at))
		return take_name(f);
	if (!f->is_right)
		return fail_at(f, "Missing term", at);
	if (*at != '-')
		return fail_comparison(f, "Invalid value (did you forget quotes)?", at);
	return fail_comparison(
		f, is_text(f->left) ? "Expecting string field" : "Illegal integer value", at);
}

static struct value add_arith(struct parser *f, enum expr_op op, struct value a, struct value b)
{
	const struct expr_node *an, *bn;
	uint64_t n;

	tap_cpus_release(&b.cpus); /* set if b is a CPUS{} instead of a number */
	if (is_failed(f))
		return no_value();
	if (b.kind != VALUE_NUMBER)
		return fail_comparison(f, "Expecting numeric field", b.at);
	if (op == OP_DIV || op == OP_MOD) {
		if (b.is_literal && !f->p.prog->nodes[b.node].num)
			return fail_comparison(f, "Division by zero", b.at);
		if (f->nr_divisors == sizeof(f->divisors) / sizeof(*f->divisors))
			return fail_at(f, "Too many terms in predicate expression", b.at);
		if (!b.is_literal)
			f->divisors[f->nr_divisors++] = b.node;
	}
	an = &f->p.prog->nodes[a.node];
	bn = &f->p.prog->nodes[b.node];
	if (an->depth >= EXPR_MAX_DEPTH || bn->depth >= EXPR_MAX_DEPTH)
		return fail_at(f, "Too many terms in predicate expression", a.at);
	a.field = NULL;
	if (a.is_literal && b.is_literal) {
		n = expr_arith(op, s64_type, an->num, bn->num);
		a.is_negative = (int64_t)n < 0;
		return make_number(a, tap_expr_num(&f->p, s64_type, n), true);
	}
	a.is_literal = false;
	return make_number(a,
			   tap_expr_add(&f->p, (struct expr_node){ .op = op,
								   .type = s64_type,
								   .arith = s64_type,
								   .a = a.node,
								   .b = b.node }),
			   true);
}

static struct value parse_product(struct parser *f)
{
	struct value v = parse_unary(f);

	while (v.kind == VALUE_NUMBER) {
		if (accept_sign(f, "*"))
			v = add_arith(f, OP_MUL, v, parse_unary(f));
		else if (accept_sign(f, "/"))
			v = add_arith(f, OP_DIV, v, parse_unary(f));
		else if (accept_sign(f, "%"))
			v = add_arith(f, OP_MOD, v, parse_unary(f));
		else
			break;
	}
	return v;
}

static struct value parse_sum(struct parser *f)
{
	struct value v = parse_product(f);

	while (v.kind == VALUE_NUMBER) {
		if (accept_sign(f, "+"))
			v = add_arith(f, OP_ADD, v, parse_product(f));
		else if (accept_sign(f, "-"))
			v = add_arith(f, OP_SUB, v, parse_product(f));
		else
			break;
	}
	return v;
}

/* ---- comparisons ---- */

#define OP_GLOB_MATCH OP_UNKNOWN /* "~" */

/* Return the comparison operator that comes next; OP_NUM if there is none. */
static enum expr_op take_operator(struct parser *f)
{
	/* longer ones first */
	static const struct {
		const char *sign;
		enum expr_op op;
	} signs[] = {
		{ "==", OP_EQ }, { "!=", OP_NE }, { "<=", OP_LE },	  { ">=", OP_GE },
		{ "<", OP_LT },	 { ">", OP_GT },  { "~", OP_GLOB_MATCH },
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (accept_sign(f, signs[i].sign))
			return signs[i].op;
	if (strncmp(skip_blanks(f), "&&", 2) && accept_sign(f, "&"))
		return OP_AND;
	return OP_NUM;
}

/*
 * Return true if the field can have the value @n. A bit mask may be written as a signed or as an
 * unsigned number.
 */
static bool fits_field(const struct tap_field *field, enum expr_op op, const struct value *v,
		       uint64_t n)
{
	unsigned int size = field->elem_size;
	bool as_signed = tap_fit(n, size, true) == n && (v->is_negative || n <= INT64_MAX);
	bool as_unsigned = !v->is_negative && tap_fit(n, size, false) == n;

	if (op == OP_AND)
		return as_signed || as_unsigned;
	return field->is_signed ? as_signed : as_unsigned;
}

static enum expr_op mirror_op(enum expr_op op)
{
	return op == OP_LT   ? OP_GT
	       : op == OP_GT ? OP_LT
	       : op == OP_LE ? OP_GE
	       : op == OP_GE ? OP_LE
			     : op;
}

static struct value negate_value(struct value v)
{
	struct ends yes = v.yes;

	v.yes = v.no;
	v.no = yes;
	return v;
}

/* Add a term after terms that reject a divisor of 0: no comparison with such a quotient is true. */
static struct value with_divisors(struct parser *f, struct tap_term t, const char *at)
{
	struct value all = no_value(), v;

	for (unsigned int i = 0; i < f->nr_divisors; i++) {
		v = add_term(f,
			     (struct tap_term){ .kind = TAP_TERM_NUMBERS,
						.op = OP_NE,
						.is_signed = true,
						.a = f->divisors[i],
						.b = tap_expr_num(&f->p, s64_type, 0) },
			     at);
		all = is_failed(f) ? no_value() : all.kind ? join_and(f, all, v) : v;
	}
	f->nr_divisors = 0;
	v = add_term(f, t, at);
	return !is_failed(f) && all.kind ? join_and(f, all, v) : v;
}

static struct value compare_numbers(struct parser *f, enum expr_op op, struct value a,
				    struct value b)
{
	struct tap_term t = { .kind = TAP_TERM_NUMBERS };
	const struct expr_node *field, *literal;

	if (op == OP_GLOB_MATCH)
		return fail_comparison(f, "Illegal operation for field type", b.at);
	if (a.is_literal && !b.is_literal) {
		struct value swap = a;

		a = b;
		b = swap;
		op = mirror_op(op);
	}
	field = &f->p.prog->nodes[a.node];
	literal = &f->p.prog->nodes[b.node];
	if (a.field && b.is_literal && !fits_field(a.field, op, &b, literal->num))
		return fail_comparison(f, "Illegal integer value", b.at);
	t.op = op;
	t.a = a.node;
	t.b = b.node;
	t.is_signed = a.is_literal || b.is_literal ? a.is_signed || b.is_negative
						   : a.is_signed || b.is_signed;
	if (a.field && b.is_literal) {
		t.kind = TAP_TERM_FIELD;
		t.field = a.field;
		t.load = field->load;
		t.at = field->at;
		t.value = literal->num;
	}
	return with_divisors(f, t, a.at);
}

static int add_glob(struct tap_glob *to, const char *text)
{
	struct tap_buf glob = { 0 };
	int ret;

	tap_kernel_glob_read(text, &glob);
	ret = glob.err ?: tap_glob_add(to, tap_buf_str(&glob));
	tap_buf_release(&glob);
	return ret;
}

static struct value compare_text(struct parser *f, enum expr_op op, struct value a, struct value b)
{
	struct tap_term t = { .kind = TAP_TERM_TEXT, .op = OP_EQ, .field = a.field };
	struct value v;
	int ret = 0;

	if (b.kind != VALUE_QUOTED)
		return fail_comparison(f,
				       b.kind == VALUE_CPUS ? "Illegal operation for field type"
				       : b.is_literal	    ? "Expecting string field"
						      : "Invalid value (did you forget quotes)?",
				       b.at);
	if (op != OP_EQ && op != OP_NE && op != OP_GLOB_MATCH)
		return fail_comparison(f, "Illegal operation for field type", b.at);
	t.text = strndup(b.quoted.s, b.quoted.len);
	t.text_len = (uint32_t)b.quoted.len;
	if (op == OP_GLOB_MATCH) {
		t.kind = TAP_TERM_GLOB;
		t.glob = calloc(1, sizeof(*t.glob));
		ret = t.text && t.glob ? add_glob(t.glob, t.text) : 0;
		if (ret == -E2BIG)
			fail_comparison(f, "Operand too long", b.at);
		else if (*b.quoted.s == '!')
			fail_comparison(f, "Illegal operation for field type",
					b.at); /* the kernel takes ~ "!x" as !(... ~ "x") */
	}
	if (!t.text || (op == OP_GLOB_MATCH && !t.glob) || ret == -ENOMEM)
		tap_expr_fail(&f->p, -ENOMEM);
	v = add_term(f, t, a.at);
	return op == OP_NE ? negate_value(v) : v;
}

static struct value compare_cpus(struct parser *f, enum expr_op op, struct value a, struct value *b)
{
	struct tap_term t = { .kind = TAP_TERM_CPU,
			      .op = op == OP_AND ? OP_AND : OP_EQ,
			      .a = a.node };
	struct value v;

	if ((a.kind != VALUE_NUMBER && a.kind != VALUE_MASK) ||
	    (op != OP_EQ && op != OP_NE && op != OP_AND))
		return fail_comparison(f, "Illegal operation for field type", b->at);
	if (a.kind == VALUE_MASK) {
		t.kind = TAP_TERM_MASK;
		t.field = a.field;
	}
	t.cpus = b->cpus;
	b->cpus = (struct tap_cpus){ 0 };
	v = add_term(f, t, a.at);
	return op == OP_NE ? negate_value(v) : v;
}

static struct value compare_values(struct parser *f, enum expr_op op, struct value a,
				   struct value *b)
{
	if (b->kind == VALUE_CPUS)
		return compare_cpus(f, op, a, b);
	if (a.kind == VALUE_TEXT)
		return compare_text(f, op, a, *b);
	if (a.kind == VALUE_NUMBER && b->kind == VALUE_NUMBER)
		return compare_numbers(f, op, a, *b);
	if (a.kind == VALUE_NUMBER && b->kind == VALUE_QUOTED &&
	    (op == OP_EQ || op == OP_NE || op == OP_GLOB_MATCH))
		return fail_comparison(f, "Expecting numeric field", b->at);
	return fail_comparison(f, "Illegal operation for field type", b->at);
}

static void mark_place(const struct parser *f, struct tap_term *t, const char *at)
{
	const struct span text = trim((struct span){ at, (size_t)(f->p.at - at) });

	t->from = (uint32_t)(at - f->text);
	t->to = t->from + (uint32_t)text.len;
}

static struct value parse_term(struct parser *f)
{
	struct value a = parse_sum(f), b, v;
	enum expr_op op;

	if (is_failed(f) || a.kind == VALUE_TRUTH)
		return a;
	if (a.kind == VALUE_QUOTED || a.kind == VALUE_CPUS) {
		tap_cpus_release(&a.cpus);
		return fail_comparison(f, "Field not found", a.at);
	}
	op = take_operator(f);
	if (op == OP_NUM)
		return a; /* a caller that needs a condition reports the missing operator */
	if (!*skip_blanks(f))
		return fail_comparison(f, "Invalid value (did you forget quotes)?", f->p.at);
	f->is_right = true;
	f->left = a.field;
	b = parse_sum(f);
	f->is_right = false;
	if (is_failed(f))
		return no_value();
	if (b.kind == VALUE_TRUTH)
		return fail_comparison(f, "Invalid value (did you forget quotes)?", b.at);
	v = compare_values(f, op, a, &b);
	tap_cpus_release(&b.cpus);
	if (!is_failed(f))
		mark_place(f, &f->f->terms[f->f->nr_terms - 1], a.at);
	return v;
}

/* ---- conditions ---- */

static struct value expect_truth(struct parser *f, struct value v)
{
	if (!is_failed(f) && v.kind != VALUE_TRUTH)
		return fail_comparison(f, "Invalid operator", f->p.at);
	return v;
}

static struct value parse_not(struct parser *f)
{
	bool invert = false;

	while (skip_blanks(f)[0] == '!' && f->p.at[1] != '=' && f->p.at[1] != '~') {
		f->p.at++;
		invert = !invert;
		if (!*skip_blanks(f))
			return fail_at(f, "No filter found", f->p.at);
	}
	return invert ? negate_value(expect_truth(f, parse_term(f))) : parse_term(f);
}

static struct value parse_and(struct parser *f)
{
	struct value v = parse_not(f), next;

	while (!is_failed(f) && !strncmp(skip_blanks(f), "&&", 2)) {
		v = expect_truth(f, v);
		accept_sign(f, "&&");
		next = expect_truth(f, parse_not(f));
		v = is_failed(f) ? no_value() : join_and(f, v, next);
	}
	return v;
}

static struct value parse_or(struct parser *f)
{
	struct value v = parse_and(f), next;

	while (!is_failed(f) && !strncmp(skip_blanks(f), "||", 2)) {
		v = expect_truth(f, v);
		accept_sign(f, "||");
		next = expect_truth(f, parse_and(f));
		v = is_failed(f) ? no_value() : join_or(f, v, next);
	}
	return v;
}

/* Return the last '(' before @at that is not closed. */
static const char *last_open(const char *text, const char *at)
{
	int closed = 0;
	char quote = '\0';

	while (at-- > text) {
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '(' && !closed--)
			break;
		else if (*at == ')')
			closed++;
	}
	return at;
}

/* Check quotes and parentheses first, as the kernel does. */
static void check_pairs(struct parser *f)
{
	unsigned int open = 0;
	const char *at, *end;

	for (at = f->text; *at && !is_failed(f); at++) {
		if (*at == '"' || *at == '\'') {
			end = strchr(at + 1, *at);
			if (!end)
				fail_at(f, "Missing matching quote", at);
			at = end ? end : at;
		} else if (*at == ')' && !open--) {
			fail_at(f, "Too few '('", at);
		}
		open += *at == '(';
	}
	if (open && !is_failed(f))
		fail_at(f, "Too many '('", last_open(f->text, at));
}

static int parse_filter(struct parser *f)
{
	struct value v;

	check_pairs(f);
	v = expect_truth(f, parse_or(f));
	if (!is_failed(f) && *f->p.at)
		fail_at(f, "Too many terms in predicate expression", f->p.at);
	if (!is_failed(f)) {
		tie_ends(f->f, v.yes, TAP_TERM_ACCEPT);
		tie_ends(f->f, v.no, TAP_TERM_REJECT);
	}
	if (f->p.err == -ENOMEM)
		return tap_err_nomem(f->err);
	return is_failed(f) ? -EINVAL : 0;
}

int tap_filter_new(const struct tap_format *fmt, const char *text, struct tap_filter **out,
		   struct tap_err *err)
{
	struct parser f = { .text = text, .err = err };
	int ret;

	*out = NULL;
	if (strlen(text) > TAP_FILTER_MAX_BYTES)
		return tap_err_set(err, -EINVAL, "bad filter for '%s:%s': more than %u bytes",
				   fmt->system, fmt->name, TAP_FILTER_MAX_BYTES);
	f.f = calloc(1, sizeof(*f.f));
	if (!f.f)
		return tap_err_nomem(err);
	f.f->fmt = fmt;
	tap_expr_begin(&f.p, fmt, text, &f.f->prog);
	ret = parse_filter(&f);
	if (ret)
		tap_filter_free(f.f);
	else
		*out = f.f;
	return ret;
}

void tap_filter_free(struct tap_filter *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->nr_terms; i++) {
		free((char *)f->terms[i].text);
		free(f->terms[i].glob);
		tap_cpus_release(&f->terms[i].cpus);
	}
	for (uint32_t i = 0; i < f->nr_pasts; i++)
		tap_past_release(&f->pasts[i]);
	free(f->pasts);
	free(f->terms);
	tap_expr_release(&f->prog);
	free(f);
}
