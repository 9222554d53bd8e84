// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/constant.h"

#include "base/text.h"

#define MAX_DEPTH 100u

struct parser {
	const struct tap_token *v;
	unsigned int nr, at, depth;
	bool words_are_zero;
	struct tap_constant result;
};

static int64_t set_error(struct parser *p, const char *what)
{
	if (!p->result.error) {
		p->result.error = what;
		p->result.at = p->at;
	}
	p->at = p->nr;
	return 0;
}

static bool accept_sign(struct parser *p, const char *sign)
{
	if (p->at == p->nr || !token_is(&p->v[p->at], sign))
		return false;
	p->at++;
	return true;
}

static int64_t take_number(struct parser *p)
{
	const char *s = p->v[p->at].text.s, *end = s + p->v[p->at].text.len;
	unsigned int base = *s != '0' ? 10 : end - s > 1 && (s[1] | 32) == 'x' ? 16 : 8;
	uint64_t v;

	s += base == 16 ? 2 : 0;
	if (tap_text_take_digits(&s, end, base, &v))
		return set_error(p, "not a number");
	while (s < end && strchr("uUlL", *s))
		s++;
	if (s < end)
		return set_error(p, "not a whole number");
	p->at++;
	return (int64_t)v;
}

static int64_t parse_cond(struct parser *p);

static int64_t parse_unary(struct parser *p)
{
	int64_t v;

	if (p->at == p->nr)
		return set_error(p, "a number is missing");
	if (p->depth++ == MAX_DEPTH)
		return set_error(p, "nested too deep");
	if (accept_sign(p, "-")) {
		v = (int64_t)(-(uint64_t)parse_unary(p));
	} else if (accept_sign(p, "+")) {
		v = parse_unary(p);
	} else if (accept_sign(p, "~")) {
		v = ~parse_unary(p);
	} else if (accept_sign(p, "!")) {
		v = !parse_unary(p);
	} else if (accept_sign(p, "(")) {
		v = parse_cond(p);
		if (!accept_sign(p, ")"))
			set_error(p, "')' is missing");
	} else if (p->v[p->at].kind == TOKEN_NUMBER) {
		v = take_number(p);
	} else if (p->v[p->at].kind == TOKEN_WORD && p->words_are_zero) {
		v = 0;
		p->at++;
	} else {
		v = set_error(p, p->v[p->at].kind == TOKEN_WORD
					 ? "not a constant that the header defines"
					 : "a number is missing");
	}
	p->depth--;
	return v;
}

/* Lower ranks bind less tightly. */
static const struct {
	const char *sign;
	unsigned int rank;
} operators[] = {
	{ "||", 1 }, { "&&", 2 }, { "|", 3 }, { "^", 4 },  { "&", 5 },	{ "==", 6 },
	{ "!=", 6 }, { "<", 7 },  { ">", 7 }, { "<=", 7 }, { ">=", 7 }, { "<<", 8 },
	{ ">>", 8 }, { "+", 9 },  { "-", 9 }, { "*", 10 }, { "/", 10 }, { "%", 10 },
};

static int64_t divide_numbers(struct parser *p, char sign, int64_t a, int64_t b)
{
	if (!b)
		return set_error(p, "division by zero");
	if (b == -1)
		return sign == '/' ? (int64_t)(-(uint64_t)a) : 0;
	return sign == '/' ? a / b : a % b;
}

static int64_t shift_number(bool left, int64_t a, int64_t b)
{
	if (b < 0 || b > 63)
		return left || a >= 0 ? 0 : -1;
	return left ? (int64_t)((uint64_t)a << b) : a >> b;
}

static int64_t compute_binary(struct parser *p, struct span op, int64_t a, int64_t b)
{
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

	if (op.len == 2 && op.s[1] == '=')
		return *op.s == '='   ? a == b
		       : *op.s == '!' ? a != b
		       : *op.s == '<' ? a <= b
				      : a >= b;
	if (op.len == 2)
		return *op.s == '|'   ? a || b
		       : *op.s == '&' ? a && b
				      : shift_number(*op.s == '<', a, b);
	switch (*op.s) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '<':
		return a < b;
	case '>':
		return a > b;
	case '+':
		return (int64_t)(ua + ub);
	case '-':
		return (int64_t)(ua - ub);
	case '*':
		return (int64_t)(ua * ub);
	default:
		return divide_numbers(p, *op.s, a, b);
	}
}

static unsigned int rank_of(const struct parser *p)
{
	for (size_t i = 0; p->at < p->nr && i < sizeof(operators) / sizeof(*operators); i++)
		if (token_is(&p->v[p->at], operators[i].sign))
			return operators[i].rank;
	return 0;
}

static int64_t parse_binary(struct parser *p, unsigned int min)
{
	int64_t a = parse_unary(p), b;
	unsigned int rank;

	while ((rank = rank_of(p)) >= min) {
		struct span op = p->v[p->at++].text;

		b = parse_binary(p, rank + 1);
		a = p->result.error ? 0 : compute_binary(p, op, a, b);
	}
	return a;
}

static int64_t parse_cond(struct parser *p)
{
	int64_t a = p->depth++ == MAX_DEPTH ? set_error(p, "nested too deep") : parse_binary(p, 1);

	if (accept_sign(p, "?")) {
		int64_t b = parse_cond(p), c;

		if (!accept_sign(p, ":"))
			return set_error(p, "':' is missing");
		c = parse_cond(p);
		a = a ? b : c;
	}
	p->depth--;
	return a;
}

struct tap_constant tap_constant_of(const struct tap_token *v, unsigned int nr, bool words_are_zero)
{
	struct parser p = { .v = v, .nr = nr, .words_are_zero = words_are_zero };

	p.result.value = parse_cond(&p);
	if (p.at < nr)
		set_error(&p, "an operator is missing");
	return p.result;
}
