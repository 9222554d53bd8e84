// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/text/piece.h"

#include <stdio.h>
#include <stdlib.h>

/* A print format that is taken apart: its literals as one text, and its other arguments. */
struct print {
	const struct tap_def *def;
	char text[1024]; /* its literals as one */
	const char *args;
};

static const char *string_end(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		p += *p == '\\' && p[1];
	return p + (*p == '"');
}

/* Return the end of an argument: a comma outside brackets and strings, or the end. */
static const char *arg_end(const char *p)
{
	int depth = 0;

	while (*p && (depth || *p != ',')) {
		if (*p == '"') {
			p = string_end(p);
			continue;
		}
		depth += (*p == '(' || *p == '{') - (*p == ')' || *p == '}');
		p++;
	}
	return p;
}

static bool begin_print(struct print *f, const struct tap_def *def)
{
	const char *p = def->print_fmt;
	size_t len = 0;

	f->def = def;
	for (p += strspn(p, " "); *p == '"'; p += strspn(p, " ")) {
		const char *end = string_end(p);
		size_t more = (size_t)(end - p) - 2;

		if (len + more >= sizeof(f->text))
			return false;
		memcpy(f->text + len, p + 1, more);
		len += more;
		p = end;
	}
	f->text[len] = '\0';
	f->args = p + strspn(p, ", ");
	return true;
}

static struct span next_arg(struct print *f)
{
	struct span arg = { f->args, (size_t)(arg_end(f->args) - f->args) };

	f->args += arg.len;
	f->args += strspn(f->args, ", ");
	return arg;
}

/* Return the first field that the argument names. */
static const struct tap_field *find_field(const struct tap_def *def, struct span arg)
{
	const char *end = arg.s + arg.len;

	for (const char *p = arg.s; p < end; p++) {
		size_t len = 0;

		while (p + len < end && is_word(p[len]))
			len++;
		for (unsigned int i = 0; len && i < def->nr_fields; i++)
			if (span_is((struct span){ p, len }, def->fields[i].name))
				return &def->fields[i];
		p += len;
	}
	return NULL;
}

static void add_word(struct tap_piece *p, const char *quote, uint64_t value)
{
	if (p->nr_words == TAP_PIECE_MAX_WORDS)
		return;
	p->words[p->nr_words].text =
		(struct span){ quote + 1, (size_t)(string_end(quote) - quote) - 2 };
	p->words[p->nr_words++].value = value;
}

/* Read `x ? "handled" : "unhandled"` and `__print_symbolic(x, { 1, "quota" }, ...)`. */
static void add_words(struct tap_piece *p, struct span arg)
{
	const char *end = arg.s + arg.len, *at;
	uint64_t nr = 0;

	for (at = arg.s; at < end; at++) {
		if (*at == '{' || *at == '?' || *at == ':')
			nr = *at == '{' ? strtoull(at + 1, NULL, 0) : *at == '?';
		if (*at != '"')
			continue;
		add_word(p, at, nr);
		at = string_end(at) - 1;
	}
}

/* Return true if the texts of some kernels do not have this field. */
static bool is_optional(const struct tap_def *def, const char *field)
{
	for (unsigned int i = 0; i < def->nr_needs; i++)
		if (!strcmp(def->needs[i].field, field))
			return true;
	/* the kernel prints it since v6.16; only schedtap prints it */
	return !strcmp(field, "group_dead") || !strcmp(field, "threadgroup");
}

static void set_kind(struct tap_piece *p, const struct tap_field *f, char conversion,
		     struct span arg)
{
	p->kind = TAP_PIECE_TEXT;
	p->base = conversion == 'x' ? 16 : 10;
	if (!f || f->kind == TAP_FIELD_DYNAMIC || f->kind == TAP_FIELD_ARRAY)
		return;
	p->field = f->name;
	if (f->kind != TAP_FIELD_NUMBER)
		return;
	p->kind = conversion == 's' ? TAP_PIECE_WORD : TAP_PIECE_NUMBER;
	if (!strcmp(f->name, "prev_state"))
		p->kind = TAP_PIECE_STATE;
	else if (conversion == 's')
		add_words(p, arg);
	if (p->kind == TAP_PIECE_WORD && !p->nr_words) {
		p->kind = TAP_PIECE_TEXT;
		p->field = NULL;
	}
}

static bool has_piece(const struct tap_pieces *p, const struct tap_field *f)
{
	for (unsigned int i = 0; f && i < p->nr; i++)
		if (p->v[i].field && !strcmp(p->v[i].field, f->name))
			return true;
	return false;
}

/* Add the piece whose conversion is at @at, after the fixed text [before, at). */
static const char *add_piece(struct tap_pieces *p, struct print *f, const char *before,
			     const char *at)
{
	const size_t len = (size_t)(at - before);
	const struct span arg = next_arg(f);
	const struct tap_field *field = find_field(f->def, arg);
	const char *end = at + 1 + strspn(at + 1, "0123456789.-lhz");
	struct tap_piece *piece = &p->v[p->nr];

	if (!len && p->nr) /* the "+" after prev_state, which belongs to it */
		return end + 1;
	if (p->nr == TAP_PIECES_MAX || len >= sizeof(piece->before) || !strchr("dusxi", *end))
		return NULL;
	*piece = (struct tap_piece){ .before_len = (uint8_t)len };
	memcpy(piece->before, before, len);
	set_kind(piece, has_piece(p, field) ? NULL : field, *end, arg);
	piece->is_needed = piece->field && !is_optional(f->def, piece->field);
	p->nr++;
	return end + 1;
}

bool tap_pieces_of_print(struct tap_pieces *p, const struct tap_def *def)
{
	struct print f;
	const char *before, *at;

	*p = (struct tap_pieces){ 0 };
	if (!begin_print(&f, def))
		return false;
	before = f.text + strspn(f.text, " "); /* as trace-cmd's padding, it says nothing */
	while ((at = strchr(before, '%'))) {
		before = add_piece(p, &f, before, at);
		if (!before)
			return false;
	}
	if (strlen(before) >= sizeof(p->after))
		return false;
	memcpy(p->after, before, strlen(before));
	return p->nr > 0;
}

/* Return the conversion and the words with which the print format prints the field. */
static const struct tap_piece *find_piece(const struct tap_pieces *p, const char *field)
{
	for (unsigned int i = 0; i < p->nr; i++)
		if (p->v[i].field && !strcmp(p->v[i].field, field))
			return &p->v[i];
	return NULL;
}

bool tap_pieces_of_fields(struct tap_pieces *p, const struct tap_def *def)
{
	struct tap_pieces print;

	*p = (struct tap_pieces){ 0 };
	if (!tap_pieces_of_print(&print, def))
		return false;
	for (unsigned int i = 0; i < def->nr_fields && p->nr < TAP_PIECES_MAX; i++) {
		const struct tap_piece *like = find_piece(&print, def->fields[i].name);
		struct tap_piece *piece = &p->v[p->nr];
		int len;

		if (!like)
			continue;
		*piece = *like;
		len = snprintf(piece->before, sizeof(piece->before), "%s%s=", p->nr ? " " : "",
			       def->fields[i].name);
		if (len >= (int)sizeof(piece->before))
			return false;
		piece->before_len = (uint8_t)len;
		p->nr++;
	}
	return p->nr > 0;
}
