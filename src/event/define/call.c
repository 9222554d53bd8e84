// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/call.h"

/* Split the arguments at commas outside parentheses. */
static bool split_args(struct tap_pp *pp, struct tap_call *c)
{
	unsigned int depth = 0, from = 0;
	const struct tap_token *v = c->all.v;

	c->nr_args = 0;
	for (unsigned int i = 0; i <= c->all.nr; i++) {
		if (i < c->all.nr) {
			depth += token_is(&v[i], "(");
			depth -= token_is(&v[i], ")");
			if (depth || !token_is(&v[i], ","))
				continue;
		}
		if (c->nr_args == TAP_CALL_MAX_ARGS) {
			tap_pp_fail(pp, &v[from], "'%.*s' takes at most %u arguments",
				    (int)c->name.text.len, c->name.text.s, TAP_CALL_MAX_ARGS);
			return false;
		}
		if (c->all.nr)
			c->args[c->nr_args++] = (struct tap_part){ v + from, i - from,
								   i > from ? v[from] : c->name };
		from = i + 1;
	}
	return true;
}

bool tap_call_take(struct tap_pp *pp, const struct tap_part *of, unsigned int *i,
		   struct tap_call *c)
{
	unsigned int depth = 0, at = *i + 1;

	*c = (struct tap_call){ .name = of->v[*i] };
	if (at == of->nr || !token_is(&of->v[at], "(")) {
		tap_pp_fail(pp, &c->name, "'%.*s' has no '('", (int)c->name.text.len,
			    c->name.text.s);
		return false;
	}
	do {
		depth += token_is(&of->v[at], "(");
		depth -= token_is(&of->v[at], ")");
	} while (depth && ++at < of->nr);
	if (depth) {
		tap_pp_fail(pp, &c->name, "'%.*s' has no ')'", (int)c->name.text.len,
			    c->name.text.s);
		return false;
	}
	c->all = (struct tap_part){ of->v + *i + 2, at - *i - 2, c->name };
	*i = at + 1;
	return split_args(pp, c);
}

bool tap_call_only(struct tap_pp *pp, const struct tap_part *part, const char *word,
		   struct tap_call *c)
{
	unsigned int i = 0;

	if (!part->nr || !token_is(part->v, word)) {
		tap_pp_fail(pp, &part->at, "%s() is missing here", word);
		return false;
	}
	if (!tap_call_take(pp, part, &i, c))
		return false;
	if (i < part->nr)
		tap_pp_fail(pp, &part->v[i], "a comma is missing after %s()", word);
	return i == part->nr;
}

/* C keywords cannot be names. */
static bool is_keyword(const struct tap_token *t)
{
	static const char *const words[] = {
		"asm",	    "auto",    "break",	 "case",   "char",     "const",	 "continue",
		"default",  "do",      "double", "else",   "enum",     "extern", "float",
		"for",	    "goto",    "if",	 "inline", "int",      "long",	 "register",
		"restrict", "return",  "short",	 "signed", "sizeof",   "static", "struct",
		"switch",   "typedef", "typeof", "union",  "unsigned", "void",	 "volatile",
		"while",    "_Bool",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (token_is(t, words[i]))
			return true;
	return false;
}

bool tap_call_name(struct tap_pp *pp, const struct tap_part *part, const char *what,
		   struct span *name)
{
	const struct tap_token *t = part->v;

	if (part->nr != 1 || t->kind != TOKEN_WORD || t->text.len > 100) {
		tap_pp_fail(pp, &part->at,
			    part->nr ? "not a name: %s is a word of up to 100 letters, digits and _"
				     : "%s is missing",
			    what);
		return false;
	}
	if (is_keyword(t)) {
		tap_pp_fail(pp, t, "'%.*s' is a C keyword, so it cannot be %s", (int)t->text.len,
			    t->text.s, what);
		return false;
	}
	*name = t->text;
	return true;
}

bool tap_call_has(struct tap_pp *pp, const struct tap_call *c, unsigned int nr_args,
		  const char *form)
{
	if (c->nr_args != nr_args)
		tap_pp_fail(pp, &c->name, "%.*s(%s) has %u arguments, not %u",
			    (int)c->name.text.len, c->name.text.s, form, nr_args, c->nr_args);
	return c->nr_args == nr_args;
}
