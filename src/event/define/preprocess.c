// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Works as compilers do: a stack of token lists that are being read, with the files below them.
 * When a macro's name is read, its expansion is pushed; while the expansion is being read, the
 * macro's name is not expanded again (C11 6.10.3.4).
 */
#include "event/define/preprocess.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/opt.h"
#include "event/define/constant.h"
#include "event/define/macro.h"

#define MAX_TOKENS (1u << 20) /* stored tokens: n nested macros may expand to 2^n */
#define MAX_NESTING 200u /* limit for #if, and for macro calls in arguments */
#define MAX_INCLUDES 64u

/* Tokens that are read before the lists and files below them. */
struct list {
	const struct tap_token *v;
	unsigned int nr, at;
	struct tap_macro *macro; /* the macro that this is the expansion of, or NULL */
	bool is_end; /* reading stops here: lists and files below it are not read */
};

/* An #if up to its #endif. */
struct group {
	struct tap_token at; /* the token of the #if */
	bool is_read; /* the current branch is being read */
	bool was_read; /* a branch was read already, or the enclosing group is not being read */
	bool has_else;
};

struct file {
	const struct tap_source *source;
	uint32_t at;
	unsigned int nr_groups; /* number of groups that were open before this file */
};

struct tap_pp {
	struct tap_err *err;
	int ret;
	struct tap_source **sources;
	struct tap_arena arena;
	struct tap_macros macros;
	struct list *lists;
	unsigned int nr_lists, cap_lists;
	struct file files[16];
	unsigned int nr_files, nr_includes;
	struct group groups[MAX_NESTING];
	unsigned int nr_groups;
	unsigned int nr_tokens, depth;
	unsigned int plain; /* above 0: macros are not expanded */
};

/* ---- errors ---- */

int tap_pp_err(const struct tap_pp *pp)
{
	return pp->ret;
}

int tap_pp_fail(struct tap_pp *pp, const struct tap_token *at, const char *fmt, ...)
{
	va_list ap;

	if (pp->ret)
		return pp->ret;
	va_start(ap, fmt);
	pp->ret = tap_source_fail(at->source, at->at, pp->err, fmt, ap);
	va_end(ap);
	return pp->ret;
}

int tap_pp_no_memory(struct tap_pp *pp)
{
	if (!pp->ret)
		pp->ret = tap_err_nomem(pp->err);
	return pp->ret;
}

/* ---- lists ---- */

void tap_pp_add(struct tap_pp *pp, struct tap_tokens *list, struct tap_token t)
{
	if (++pp->nr_tokens > MAX_TOKENS)
		tap_pp_fail(pp, &t, "more than %u tokens after macro expansion", MAX_TOKENS);
	else if (tap_array_grow(&list->v, list->nr, &list->cap, sizeof(t)))
		tap_pp_no_memory(pp);
	else
		list->v[list->nr++] = t;
}

static const struct tap_token *keep_tokens(struct tap_pp *pp, struct tap_tokens *list)
{
	struct tap_token *v = tap_arena_copy(&pp->arena, list->v, list->nr * sizeof(*v));

	if (!v)
		tap_pp_no_memory(pp);
	free(list->v);
	return v;
}

static void push_list(struct tap_pp *pp, struct list list)
{
	if (tap_array_grow(&pp->lists, pp->nr_lists, &pp->cap_lists, sizeof(list)))
		tap_pp_no_memory(pp);
	else
		pp->lists[pp->nr_lists++] = list;
}

/* Push tokens after which tap_pp_next() returns TOKEN_END until the caller pops the list. */
static void push_all(struct tap_pp *pp, const struct tap_token *v, unsigned int nr)
{
	push_list(pp, (struct list){ .v = v, .nr = nr, .is_end = true });
}

static struct tap_token make_gap(enum tap_space space, const struct tap_token *at)
{
	return (struct tap_token){
		.kind = TOKEN_GAP, .space = space, .source = at->source, .at = at->at
	};
}

static void read_file(struct tap_pp *pp, struct tap_token *t);

/* Take the next token without expanding it. */
static void take_raw(struct tap_pp *pp, struct tap_token *t)
{
	struct list *l = pp->nr_lists ? &pp->lists[pp->nr_lists - 1] : NULL;

	if (pp->ret) {
		*t = (struct tap_token){ 0 };
	} else if (!l) {
		read_file(pp, t);
	} else if (l->at < l->nr) {
		*t = l->v[l->at++];
	} else if (l->is_end) {
		*t = (struct tap_token){ 0 };
	} else {
		if (l->macro)
			l->macro->busy = false;
		*t = make_gap(SPACE_NEXT, l->nr ? &l->v[l->nr - 1] : &(struct tap_token){ 0 });
		pp->nr_lists--;
	}
}

static bool enter_macro(struct tap_pp *pp, struct tap_macro *m, const struct tap_token *name);

/* Take the next token after macro expansion; it may be a gap. */
static void take_token(struct tap_pp *pp, struct tap_token *t)
{
	struct tap_macro *m;

	take_raw(pp, t);
	if (t->kind == TOKEN_OPEN) {
		tap_pp_fail(pp, t,
			    *t->text.s == '/' ? "unterminated comment" : "unterminated quote");
		*t = (struct tap_token){ 0 };
	}
	m = t->kind == TOKEN_WORD && !t->fixed ? tap_macro_find(&pp->macros, t->text) : NULL;
	if (!m)
		return;
	if (m->busy)
		t->fixed = true;
	else if (!pp->plain && enter_macro(pp, m, t))
		*t = make_gap(t->space, t);
	if (pp->ret)
		*t = (struct tap_token){ 0 };
}

/*
 * Return the white space before a token that follows gaps, as gcc's stringify_arg() determines it.
 */
static uint8_t space_after_gaps(uint8_t gaps, uint8_t next)
{
	return gaps == SPACE_NEXT || (gaps == SPACE_NO && next == SPACE_NEXT) ? next : gaps;
}

void tap_pp_next(struct tap_pp *pp, struct tap_token *t)
{
	uint8_t space = SPACE_NEXT;

	for (take_token(pp, t); t->kind == TOKEN_GAP; take_token(pp, t))
		space = space_after_gaps(space, t->space);
	t->space = space == SPACE_NEXT ? t->space : space;
}

/* ---- macro calls ---- */

struct arg {
	/* the argument as written, and with its macros expanded */
	const struct tap_token *v, *full;
	unsigned int nr, nr_full;
};

/* Expand the macros in @nr tokens. Return: the tokens, @nr_out of them. */
static const struct tap_token *expand_tokens(struct tap_pp *pp, const struct tap_token *v,
					     unsigned int nr, unsigned int *nr_out)
{
	struct tap_tokens list = { 0 };
	unsigned int plain = pp->plain;
	struct tap_token t;

	if (pp->depth == MAX_NESTING && nr)
		tap_pp_fail(pp, v, "nested too deep");
	pp->depth++;
	pp->plain = 0;
	push_all(pp, v, nr);
	for (take_token(pp, &t); t.kind != TOKEN_END; take_token(pp, &t))
		tap_pp_add(pp, &list, t);
	if (!pp->ret)
		pp->nr_lists--;
	pp->plain = plain;
	pp->depth--;
	*nr_out = list.nr;
	return keep_tokens(pp, &list);
}

static void fail_args(struct tap_pp *pp, const struct tap_macro *m, const struct tap_token *at)
{
	tap_pp_fail(pp, at, "'%.*s' takes %u argument%s", (int)m->name.len, m->name.s, m->nr_params,
		    m->nr_params == 1 ? "" : "s");
}

/* Add @list as an argument. Return: false after an error. */
static bool add_arg(struct tap_pp *pp, struct arg *args, unsigned int *nr, struct tap_tokens *list,
		    const struct tap_macro *m, const struct tap_token *at)
{
	unsigned int len = list->nr;

	if (*nr == m->nr_params && (*nr || len)) {
		fail_args(pp, m, at);
		return false;
	}
	while (len && list->v[len - 1].kind == TOKEN_GAP)
		len--;
	list->nr = len;
	if (m->nr_params)
		args[(*nr)++] = (struct arg){ .nr = len, .v = keep_tokens(pp, list) };
	else
		free(list->v);
	*list = (struct tap_tokens){ 0 };
	return !pp->ret;
}

/*
 * Take the arguments of a macro call, after its "(". Return: false if they do not match the macro.
 */
static bool take_args(struct tap_pp *pp, const struct tap_macro *m, const struct tap_token *name,
		      struct arg *args)
{
	unsigned int nr = 0, depth = 0;
	struct tap_tokens list = { 0 };
	struct tap_token t;

	for (;;) {
		take_token(pp, &t);
		if (t.kind == TOKEN_END) {
			tap_pp_fail(pp, name, "the call of macro '%.*s' has no ')'",
				    (int)m->name.len, m->name.s);
			break;
		}
		if (!depth && token_is(&t, ")")) {
			if (!add_arg(pp, args, &nr, &list, m, name))
				break;
			if (nr + m->is_variadic < m->nr_params)
				fail_args(pp, m, name);
			break;
		}
		depth += token_is(&t, "(");
		depth -= token_is(&t, ")");
		if (!depth && token_is(&t, ",") && !(m->is_variadic && nr + 1 == m->nr_params)) {
			if (!add_arg(pp, args, &nr, &list, m, name))
				break;
		} else if (t.kind != TOKEN_GAP || list.nr) {
			tap_pp_add(pp, &list, t);
		}
	}
	free(list.v);
	return !pp->ret;
}

/* Apply # to an argument. */
static struct tap_token stringify_arg(struct tap_pp *pp, const struct arg *a, struct tap_token at)
{
	struct tap_buf text = { .max = TAP_SOURCE_MAX_BYTES };
	uint8_t space = SPACE_NEXT;

	tap_buf_char(&text, '"');
	for (unsigned int i = 0; i < a->nr; i++) {
		const struct tap_token *t = &a->v[i];
		bool quoted = t->kind == TOKEN_STRING || t->kind == TOKEN_CHAR;

		if (t->kind == TOKEN_GAP) {
			space = space_after_gaps(space, t->space);
			continue;
		}
		if (text.len > 1 && (space == SPACE_NEXT ? t->space : space) == SPACE_YES)
			tap_buf_char(&text, ' ');
		space = SPACE_NEXT;
		for (size_t c = 0; c < t->text.len; c++) {
			if (quoted && strchr("\"\\", t->text.s[c]))
				tap_buf_char(&text, '\\');
			tap_buf_char(&text, t->text.s[c]);
		}
	}
	tap_buf_char(&text, '"');
	at.kind = TOKEN_STRING;
	at.text = (struct span){ tap_arena_copy(&pp->arena, text.data, text.len), text.len };
	pp->nr_tokens += (unsigned int)text.len / 16;
	if (text.err == -EFBIG)
		tap_pp_fail(pp, &at, "text is longer than %u KiB", TAP_SOURCE_MAX_BYTES >> 10);
	else if (text.err || !at.text.s)
		tap_pp_no_memory(pp);
	tap_buf_release(&text);
	return at;
}

/* Apply ##: append @b to @a. */
static void paste_tokens(struct tap_pp *pp, struct tap_token *a, const struct tap_token *b)
{
	size_t len = a->text.len + b->text.len;
	char *text = tap_arena_get(&pp->arena, len + 1);

	if (!text) {
		tap_pp_no_memory(pp);
		return;
	}
	memcpy(text, a->text.s, a->text.len);
	memcpy(text + a->text.len, b->text.s, b->text.len);
	pp->nr_tokens += (unsigned int)len / 16;
	tap_token_scan(text, a);
	a->fixed = false;
	if (a->text.len != len || a->kind == TOKEN_OPEN || !strncmp(text, "//", 2))
		tap_pp_fail(pp, a, "'%.100s' is not a token", text);
}

/* The expansion of a macro while it is being built. */
struct filling {
	const struct tap_macro *m;
	struct arg *args;
	struct tap_tokens out;
	bool pastes; /* the previous token was ## */
	bool has_left; /* there is a token that ## can append to */
};

static void add_operand(struct tap_pp *pp, struct filling *f, const struct tap_token *v,
			unsigned int nr)
{
	unsigned int i = 0;

	if (f->pastes && f->has_left && nr && f->out.nr)
		paste_tokens(pp, &f->out.v[f->out.nr - 1], &v[i++]);
	f->has_left = nr || (f->pastes && f->has_left);
	f->pastes = false;
	for (; i < nr && !pp->ret; i++)
		tap_pp_add(pp, &f->out, v[i]);
}

static bool is_body(const struct tap_macro *m, unsigned int i, const char *sign)
{
	return i < m->nr_body && token_is(&m->body[i], sign);
}

static void add_param(struct tap_pp *pp, struct filling *f, unsigned int i, unsigned int param)
{
	const struct tap_token *t = &f->m->body[i];
	bool left = f->pastes, right = is_body(f->m, i + 1, "##");
	struct arg *a = &f->args[param];

	if (!left)
		tap_pp_add(pp, &f->out, make_gap(t->space, t));
	if (left || right) {
		add_operand(pp, f, a->v, a->nr);
	} else {
		if (!a->full)
			a->full = expand_tokens(pp, a->v, a->nr, &a->nr_full);
		add_operand(pp, f, a->full, a->nr_full);
	}
	if (!right)
		tap_pp_add(pp, &f->out, make_gap(SPACE_NEXT, t));
}

/* Return true if ", ## args" starts at @i and args are a variadic macro's last parameter. */
static bool is_rest(const struct filling *f, unsigned int i)
{
	const struct tap_macro *m = f->m;

	return m->is_variadic && is_body(m, i, ",") && is_body(m, i + 1, "##") &&
	       i + 2 < m->nr_body && tap_macro_param(m, &m->body[i + 2]) == m->nr_params - 1;
}

/* Add ", ## args"; without such arguments the comma is left out. */
static void add_rest(struct tap_pp *pp, struct filling *f, const struct tap_token *comma)
{
	unsigned int nr_params = f->m->nr_params;
	const struct arg *rest = &f->args[nr_params - 1];

	add_operand(pp, f, comma, rest->v && (rest->nr || nr_params > 1));
	add_operand(pp, f, rest->v, rest->nr);
	tap_pp_add(pp, &f->out, make_gap(SPACE_NEXT, comma));
}

static void fill_body(struct tap_pp *pp, struct filling *f)
{
	const struct tap_macro *m = f->m;

	for (unsigned int i = 0; i < m->nr_body && !pp->ret; i++) {
		unsigned int param = tap_macro_param(m, &m->body[i]);

		if (is_rest(f, i)) {
			add_rest(pp, f, &m->body[i]);
			i += 2;
		} else if (m->is_call && is_body(m, i, "#")) {
			struct tap_token text = m->body[i];

			text = stringify_arg(pp, &f->args[tap_macro_param(m, &m->body[++i])], text);
			add_operand(pp, f, &text, 1);
		} else if (is_body(m, i, "##")) {
			f->pastes = true;
		} else if (param < m->nr_params) {
			add_param(pp, f, i, param);
		} else {
			add_operand(pp, f, &m->body[i], 1);
		}
	}
}

/*
 * Take the "(" of a macro call. Return: false if the next token is something else, which is put
 * back.
 */
static bool take_paren(struct tap_pp *pp)
{
	uint8_t space = SPACE_NEXT;
	struct tap_token t[2], *kept;

	pp->plain++;
	for (take_token(pp, &t[1]); t[1].kind == TOKEN_GAP; take_token(pp, &t[1]))
		space = space_after_gaps(space, t[1].space);
	pp->plain--;
	if (token_is(&t[1], "("))
		return true;
	if (t[1].kind == TOKEN_END)
		return false;
	t[0] = make_gap(space, &t[1]);
	kept = tap_arena_copy(&pp->arena, t, sizeof(t));
	if (kept)
		push_list(pp, (struct list){ .v = kept, .nr = 2 });
	else
		tap_pp_no_memory(pp);
	return false;
}

/* Expand a macro. Return: true if its expansion was pushed; false if its name remains as it is. */
static bool enter_macro(struct tap_pp *pp, struct tap_macro *m, const struct tap_token *name)
{
	/* a #define between the arguments may change *m */
	const struct tap_macro as_it_is = *m;
	struct filling f = { .m = &as_it_is };
	unsigned int nr;
	bool ok = true;

	if (m->is_call && !take_paren(pp))
		return false;
	f.args = tap_arena_get(&pp->arena, (f.m->nr_params + 1) * sizeof(*f.args));
	if (!f.args)
		tap_pp_no_memory(pp);
	if (f.m->is_call && f.args) {
		pp->plain++;
		ok = take_args(pp, f.m, name, f.args);
		pp->plain--;
	}
	if (ok && !pp->ret)
		fill_body(pp, &f);
	nr = f.out.nr;
	m->busy = true;
	push_list(pp, (struct list){ .v = keep_tokens(pp, &f.out), .nr = nr, .macro = m });
	return true;
}

bool tap_pp_value(struct tap_pp *pp, const char *name, struct tap_tokens *out)
{
	struct span word = { name, strlen(name) };
	const struct tap_macro *m = tap_macro_find(&pp->macros, word);
	const struct tap_token *v;
	unsigned int nr;

	if (!m || m->is_call)
		return false;
	v = expand_tokens(pp, m->body, m->nr_body, &nr);
	for (unsigned int i = 0; i < nr && !pp->ret; i++)
		if (v[i].kind != TOKEN_GAP)
			tap_pp_add(pp, out, v[i]);
	return true;
}

/* ---- directives ---- */

static struct file *this_file(struct tap_pp *pp)
{
	return &pp->files[pp->nr_files - 1];
}

/* Take the next token of a directive's line. Return: false at the end of the line. */
static bool take_line(struct tap_pp *pp, struct tap_token *t)
{
	struct file *f = this_file(pp);

	tap_token_next(f->source, &f->at, true, t);
	if (t->kind == TOKEN_OPEN && *t->text.s == '/')
		tap_pp_fail(pp, t, "unterminated comment");
	return t->kind != TOKEN_END && t->kind != TOKEN_LINE_END && !pp->ret;
}

static void skip_line(struct tap_pp *pp)
{
	struct tap_token t;

	while (take_line(pp, &t))
		;
}

static bool is_reading(const struct tap_pp *pp)
{
	return !pp->nr_groups || pp->groups[pp->nr_groups - 1].is_read;
}

/* Read macro parameters, after the "(": a, b, rest... ) */
static void take_params(struct tap_pp *pp, struct tap_macro *m)
{
	struct tap_tokens list = { 0 };
	struct tap_token t;
	bool more = take_line(pp, &t) && !token_is(&t, ")");

	while (more) {
		m->is_variadic = token_is(&t, "...");
		if (m->is_variadic)
			t.text = (struct span){ "__VA_ARGS__", strlen("__VA_ARGS__") };
		else if (t.kind != TOKEN_WORD)
			break;
		t.kind = TOKEN_WORD;
		tap_pp_add(pp, &list, t);
		if (!take_line(pp, &t))
			break;
		if (!m->is_variadic && token_is(&t, "...")) {
			m->is_variadic = true;
			take_line(pp, &t);
		}
		more = !m->is_variadic && token_is(&t, ",") && take_line(pp, &t);
	}
	if (more || !token_is(&t, ")"))
		tap_pp_fail(pp, &t,
			    "expected macro parameters: names separated by commas, then ')'");
	m->nr_params = list.nr;
	m->params = keep_tokens(pp, &list);
}

/* Check that # and ## have the operands that they need. */
static void check_body(struct tap_pp *pp, const struct tap_macro *m)
{
	for (unsigned int i = 0; i < m->nr_body; i++) {
		const struct tap_token *t = &m->body[i];

		if (t->kind == TOKEN_OPEN)
			tap_pp_fail(pp, t, "unterminated quote");
		if (token_is(t, "##") && (!i || i + 1 == m->nr_body || is_body(m, i + 1, "##")))
			tap_pp_fail(pp, t, "'##' must be between two tokens");
		if (m->is_call && token_is(t, "#") &&
		    (i + 1 == m->nr_body || tap_macro_param(m, t + 1) == m->nr_params))
			tap_pp_fail(pp, t, "'#' must be before a parameter");
	}
}

static void read_define(struct tap_pp *pp)
{
	struct tap_macro *m = NULL, made = { .is_defined = true };
	struct tap_tokens list = { 0 };
	struct tap_token t;

	if (!take_line(pp, &t) || t.kind != TOKEN_WORD || token_is(&t, "defined")) {
		tap_pp_fail(pp, &t, "#define has no name");
		return;
	}
	made.name = t.text;
	made.is_call = this_file(pp)->source->text[this_file(pp)->at] == '(';
	if (made.is_call) {
		take_line(pp, &t);
		take_params(pp, &made);
	}
	while (take_line(pp, &t))
		tap_pp_add(pp, &list, t);
	made.nr_body = list.nr;
	made.body = keep_tokens(pp, &list);
	if (!pp->ret)
		check_body(pp, &made);
	m = tap_macro_get(&pp->macros, made.name);
	if (!m) {
		tap_pp_no_memory(pp);
		return;
	}
	made.next = m->next;
	made.busy = m->busy;
	*m = made;
}

static void read_undef(struct tap_pp *pp)
{
	struct tap_macro *m;
	struct tap_token t;

	if (!take_line(pp, &t) || t.kind != TOKEN_WORD) {
		tap_pp_fail(pp, &t, "#undef has no name");
		return;
	}
	m = tap_macro_find(&pp->macros, t.text);
	if (m)
		m->is_defined = false;
}

static struct tap_token make_number(bool is, struct tap_token at)
{
	at.kind = TOKEN_NUMBER;
	at.text = (struct span){ is ? "1" : "0", 1 };
	return at;
}

/* Evaluate "defined", whose name or "(" comes next. */
static struct tap_token take_defined(struct tap_pp *pp, struct tap_token at)
{
	struct tap_token t = { 0 };
	bool paren = take_line(pp, &t) && token_is(&t, "("), is;

	if (paren)
		take_line(pp, &t);
	is = t.kind == TOKEN_WORD;
	if (!is)
		tap_pp_fail(pp, &at, "'defined' has no name");
	is = is && tap_macro_find(&pp->macros, t.text);
	if (paren && (!take_line(pp, &t) || !token_is(&t, ")")))
		tap_pp_fail(pp, &at, "'defined(' has no ')'");
	return make_number(is, at);
}

static bool read_condition(struct tap_pp *pp, const struct tap_token *at)
{
	struct tap_tokens list = { 0 }, full = { 0 };
	const struct tap_token *v;
	struct tap_constant c;
	struct tap_token t;
	unsigned int nr;

	while (take_line(pp, &t))
		tap_pp_add(pp, &list, token_is(&t, "defined") ? take_defined(pp, t) : t);
	nr = list.nr;
	v = expand_tokens(pp, keep_tokens(pp, &list), nr, &nr);
	for (unsigned int i = 0; i < nr && !pp->ret; i++)
		if (v[i].kind != TOKEN_GAP)
			tap_pp_add(pp, &full, v[i]);
	c = tap_constant_of(full.v, full.nr, true);
	if (c.error)
		tap_pp_fail(pp, c.at < full.nr ? &full.v[c.at] : at, "%s", c.error);
	free(full.v);
	return c.value;
}

static bool is_macro_next(struct tap_pp *pp)
{
	struct tap_token t;

	if (!take_line(pp, &t) || t.kind != TOKEN_WORD)
		tap_pp_fail(pp, &t, "the macro's name is missing");
	return t.kind == TOKEN_WORD && tap_macro_find(&pp->macros, t.text);
}

static void open_group(struct tap_pp *pp, const struct tap_token *word)
{
	struct group g = { .at = *word, .was_read = true };

	if (pp->nr_groups == MAX_NESTING) {
		tap_pp_fail(pp, word, "nested too deep");
		return;
	}
	if (is_reading(pp)) {
		g.is_read = token_is(word, "if") ? read_condition(pp, word)
						 : is_macro_next(pp) == token_is(word, "ifdef");
		g.was_read = g.is_read;
	}
	pp->groups[pp->nr_groups++] = g;
}

static void next_group(struct tap_pp *pp, const struct tap_token *word)
{
	bool is_else = token_is(word, "else"), is_end = token_is(word, "endif");
	bool is_open = pp->nr_groups > this_file(pp)->nr_groups;
	struct group *g = is_open ? &pp->groups[pp->nr_groups - 1] : NULL;

	if (!g || (g->has_else && !is_end)) {
		tap_pp_fail(pp, word, "#%.*s without #if", (int)word->text.len, word->text.s);
		return;
	}
	if (is_end) {
		pp->nr_groups--;
		return;
	}
	g->has_else = is_else;
	g->is_read = !g->was_read && (is_else || read_condition(pp, word));
	g->was_read |= g->is_read;
}

/* If the file is already being read, report the chain of includes and return true. */
static bool is_circle(struct tap_pp *pp, const struct tap_token *at,
		      const struct tap_source *source)
{
	struct tap_buf chain = { .max = 4096 };
	unsigned int i = 0;

	while (i < pp->nr_files &&
	       (pp->files[i].source->ino != source->ino || pp->files[i].source->dev != source->dev))
		i++;
	if (i == pp->nr_files)
		return false;
	for (; i < pp->nr_files; i++)
		tap_buf_printf(&chain, "%s includes ", pp->files[i].source->path);
	tap_pp_fail(pp, at, "include cycle: %s%s", tap_buf_str(&chain), source->path);
	tap_buf_release(&chain);
	return true;
}

static void push_file(struct tap_pp *pp, const struct tap_source *source)
{
	pp->files[pp->nr_files++] = (struct file){ .source = source, .nr_groups = pp->nr_groups };
}

/* Return @name relative to the directory of the including file; to be freed by the caller. */
static char *path_of(const struct tap_source *from, struct span name)
{
	const char *slash = *name.s == '/' ? NULL : strrchr(from->path, '/');
	char *path;

	if (asprintf(&path, "%.*s%.*s", slash ? (int)(slash + 1 - from->path) : 0, from->path,
		     (int)name.len, name.s) < 0)
		return NULL;
	return path;
}

static void include_file(struct tap_pp *pp, const struct tap_token *at, char *path)
{
	struct tap_err why = { 0 };

	if (pp->nr_files == sizeof(pp->files) / sizeof(*pp->files) ||
	    pp->nr_includes++ == MAX_INCLUDES)
		tap_pp_fail(pp, at, "too many includes");
	else if (tap_source_read(pp->sources, path, &why))
		tap_pp_fail(pp, at, "%s", why.text);
	else if (!is_circle(pp, at, *pp->sources))
		push_file(pp, *pp->sources);
}

static void read_include(struct tap_pp *pp)
{
	struct tap_token t, extra;
	char *path;

	if (!take_line(pp, &t) || (t.kind != TOKEN_STRING && !token_is(&t, "<")) ||
	    t.text.len == 2) {
		tap_pp_fail(pp, &t, "#include has no \"file\"");
		return;
	}
	if (t.kind != TOKEN_STRING) {
		skip_line(pp);
		return;
	}
	if (take_line(pp, &extra)) {
		tap_pp_fail(pp, &extra, "unexpected token after the file");
		return;
	}
	path = path_of(t.source, (struct span){ t.text.s + 1, t.text.len - 2 });
	if (path)
		include_file(pp, &t, path);
	else
		tap_pp_no_memory(pp);
	free(path);
}

static void fail_error(struct tap_pp *pp, const struct tap_token *word)
{
	const char *text = word->text.s + word->text.len;

	tap_pp_fail(pp, word, "#error%.*s", (int)strcspn(text, "\n"), text);
}

static void fail_unknown(struct tap_pp *pp, const struct tap_token *word)
{
	static const char *const names[] = { "define",	"undef", "if",	  "ifdef",
					     "ifndef",	"elif",	 "else",  "endif",
					     "include", "error", "pragma" };
	char text[32];
	const char *near;

	snprintf(text, sizeof(text), "%.*s", (int)word->text.len, word->text.s);
	near = tap_nearest(text, names, sizeof(names) / sizeof(*names));
	tap_pp_fail(pp, word, "unknown directive '#%s'%s%s%s", text,
		    near ? ": did you mean '#" : "", near ? near : "", near ? "'?" : "");
}

static bool is_one_of(const struct tap_token *t, const char *const *words)
{
	while (*words && !token_is(t, *words))
		words++;
	return *words;
}

/* Process a directive, after the '#' that starts its line. */
static void read_directive(struct tap_pp *pp)
{
	static const char *const opens[] = { "if", "ifdef", "ifndef", NULL };
	static const char *const others[] = { "elif", "else", "endif", NULL };
	static const char *const of_compilers[] = { "pragma", "line", "warning", "ident", NULL };
	struct tap_token word;

	if (!take_line(pp, &word))
		return;
	if (is_one_of(&word, opens)) {
		open_group(pp, &word);
	} else if (is_one_of(&word, others)) {
		next_group(pp, &word);
	} else if (is_reading(pp)) {
		if (token_is(&word, "include")) {
			read_include(pp);
			return; /* the rest of the line was read; the next one is the new file's */
		}
		if (token_is(&word, "define"))
			read_define(pp);
		else if (token_is(&word, "undef"))
			read_undef(pp);
		else if (token_is(&word, "error"))
			fail_error(pp, &word);
		else if (!is_one_of(&word, of_compilers))
			fail_unknown(pp, &word);
	}
	skip_line(pp);
}

/* End a file. Return: false if it was the outermost one. */
static bool leave_file(struct tap_pp *pp)
{
	if (pp->nr_groups > this_file(pp)->nr_groups)
		tap_pp_fail(pp, &pp->groups[pp->nr_groups - 1].at, "#if without #endif");
	if (pp->nr_files == 1)
		return false;
	pp->nr_files--;
	return true;
}

/* Read the next token from the files. */
static void read_file(struct tap_pp *pp, struct tap_token *t)
{
	unsigned int plain = pp->plain;
	struct file *f;

	do {
		f = this_file(pp);
		tap_token_next(f->source, &f->at, false, t);
		if (t->kind == TOKEN_END && leave_file(pp))
			continue;
		if (t->kind == TOKEN_END)
			return;
		if (t->line_begin && token_is(t, "#")) {
			pp->plain = 0;
			read_directive(pp);
			pp->plain = plain;
		} else if (is_reading(pp)) {
			return;
		} else if (t->kind == TOKEN_OPEN && *t->text.s != '/') {
			/* skip an apostrophe or quote in text that is not read */
			f->at = t->at + 1;
		}
	} while (!pp->ret);
	*t = (struct tap_token){ 0 };
}

/* ---- creation ---- */

static const char first_text[] = "#define TRACE_HEADER_MULTI_READ\n"
				 "#define PARAMS(args...) args\n"
				 "#define tp_if(member, args...) args\n";

int tap_pp_new(struct tap_pp **out, struct tap_source **sources, const struct tap_source *first,
	       struct tap_err *err)
{
	struct tap_pp *pp = calloc(1, sizeof(*pp));
	struct tap_token t;

	*out = NULL;
	if (!pp || tap_source_add(sources, "schedtap", first_text, strlen(first_text), err)) {
		tap_pp_free(pp);
		return tap_err_nomem(err);
	}
	pp->err = err;
	pp->sources = sources;
	pp->macros.arena = &pp->arena;
	push_file(pp, *sources);
	read_file(pp, &t);
	pp->files[0] = (struct file){ .source = first };
	*out = pp;
	return 0;
}

void tap_pp_free(struct tap_pp *pp)
{
	if (!pp)
		return;
	tap_map_release(&pp->macros.by_hash);
	tap_arena_release(&pp->arena);
	free(pp->lists);
	free(pp);
}
