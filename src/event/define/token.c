// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/token.h"

/* Signs of several characters, longer ones first. Any other character is a sign of its own. */
static const char *const signs[] = {
	"...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
	"&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
};

static void scan_number(const char *s, struct tap_token *t)
{
	size_t i = 1;

	while (is_word(s[i]) || s[i] == '.' ||
	       ((s[i] == '+' || s[i] == '-') && strchr("eEpP", s[i - 1])))
		i++;
	t->kind = TOKEN_NUMBER;
	t->text.len = i;
}

static void scan_quoted(const char *s, struct tap_token *t)
{
	size_t i = 1;

	while (s[i] && s[i] != '\n' && s[i] != *s)
		i += s[i] == '\\' && s[i + 1] && s[i + 1] != '\n' ? 2 : 1;
	t->kind = s[i] != *s ? TOKEN_OPEN : *s == '"' ? TOKEN_STRING : TOKEN_CHAR;
	t->text.len = i + (s[i] == *s);
}

static void scan_sign(const char *s, struct tap_token *t)
{
	t->kind = TOKEN_SIGN;
	t->text.len = 1;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (!strncmp(s, signs[i], strlen(signs[i]))) {
			t->text.len = strlen(signs[i]);
			return;
		}
}

void tap_token_scan(const char *s, struct tap_token *t)
{
	t->text = (struct span){ s, 0 };
	if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) {
		scan_number(s, t);
	} else if (is_word(*s)) {
		t->kind = TOKEN_WORD;
		while (is_word(s[t->text.len]))
			t->text.len++;
	} else if (*s == '"' || *s == '\'') {
		scan_quoted(s, t);
	} else {
		scan_sign(s, t);
	}
}

/*
 * Skip white space and comments. Return: their end; NULL if the comment at *@s is not terminated.
 */
static const char *skip_space(const char **s, bool in_line, struct tap_token *t)
{
	const char *p = *s, *end;

	for (; *p; p = end) {
		end = p + 1;
		if (p[0] == '/' && p[1] == '/') {
			end = strchrnul(p, '\n');
		} else if (p[0] == '/' && p[1] == '*') {
			end = strstr(p + 2, "*/");
			*s = p;
			if (!end)
				return NULL;
			end += 2;
		} else if (*p == '\n') {
			if (in_line)
				break;
			t->line_begin = true;
		} else if (!isspace((unsigned char)*p)) {
			break;
		}
		t->space = SPACE_YES;
	}
	return *s = p;
}

void tap_token_next(const struct tap_source *s, uint32_t *at, bool in_line, struct tap_token *t)
{
	const char *p = s->text + *at, *begin = p;

	*t = (struct tap_token){ .source = s, .line_begin = !*at };
	if (!skip_space(&p, in_line, t)) {
		t->kind = TOKEN_OPEN;
		t->text = (struct span){ p, strlen(p) };
	} else if (!*p) {
		t->kind = TOKEN_END;
	} else if (*p == '\n') {
		t->kind = TOKEN_LINE_END;
	} else {
		tap_token_scan(p, t);
	}
	t->at = *at + (uint32_t)(p - begin);
	*at = t->at + (uint32_t)t->text.len;
}
