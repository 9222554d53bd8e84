// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/opt.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#define NAME_MAX_LEN 127 /* tap_nearest() ignores longer names */
#define LINE_COLUMNS 100
#define HELP_COLUMN_MAX 34 /* maximum column at which help texts start */

struct parse {
	const struct tap_opt *table;
	void *opts;
	char **words;
	int nr, next;
	struct tap_err *err;
};

int tap_strings_add(struct tap_strings *s, const char *v)
{
	const char **new = reallocarray(s->v, s->nr + 1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	s->v = new;
	s->v[s->nr++] = v;
	return 0;
}

void tap_strings_release(struct tap_strings *s)
{
	free(s->v);
	*s = (struct tap_strings){ 0 };
}

unsigned int tap_edit_distance(const char *a, const char *b)
{
	unsigned int row[NAME_MAX_LEN + 1], len = (unsigned int)strnlen(b, NAME_MAX_LEN + 1);
	unsigned int diagonal, cost;

	if (len > NAME_MAX_LEN)
		return UINT_MAX;
	for (unsigned int i = 0; i <= len; i++)
		row[i] = i;
	for (; *a; a++) {
		diagonal = row[0]++;
		for (unsigned int i = 1; i <= len; i++) {
			cost = diagonal + (*a != b[i - 1]);
			diagonal = row[i];
			if (row[i] + 1 < cost)
				cost = row[i] + 1;
			if (row[i - 1] + 1 < cost)
				cost = row[i - 1] + 1;
			row[i] = cost;
		}
	}
	return row[len];
}

const char *tap_nearest(const char *word, const char *const *names, unsigned int nr)
{
	size_t len = strlen(word);
	unsigned int best_distance = len < 6 ? (unsigned int)len / 2 + 1 : 4, distance;
	const char *best = NULL;

	for (unsigned int i = 0; i < nr; i++) {
		if (strlen(names[i]) > NAME_MAX_LEN)
			continue;
		distance = strncmp(names[i], word, len) ? tap_edit_distance(word, names[i]) : 1;
		if (distance < best_distance) {
			best_distance = distance;
			best = names[i];
		}
	}
	return best;
}

static int unknown_option(struct parse *p, const char *name)
{
	const char *nearest = NULL;

	tap_opt_for_each(w, p->table) {
		const char *pair[] = { nearest, w.o->name };

		nearest = tap_nearest(name, nearest ? pair : pair + 1, nearest ? 2 : 1);
	}
	if (!nearest)
		return tap_err_set(p->err, -EINVAL, "unknown option '--%s'", name);
	return tap_err_set(p->err, -EINVAL, "unknown option '--%s': did you mean '--%s'?", name,
			   nearest);
}

static int store_number(const struct tap_opt *o, void *to, const char *value, struct tap_err *err)
{
	if (o->type == TAP_OPT_TIME && tap_text_parse_time(value, to))
		return tap_err_set(err, -EINVAL,
				   "bad value '%s' for '--%s': expected a number of seconds, or a "
				   "number with ns, us, ms, s, m or h",
				   value, o->name);
	if (o->type == TAP_OPT_SIZE && tap_text_parse_size(value, to))
		return tap_err_set(err, -EINVAL,
				   "bad value '%s' for '--%s': expected a number of bytes, or a "
				   "number with k, M or G",
				   value, o->name);
	if (o->type == TAP_OPT_INT && tap_text_parse_int(value, o->min, o->max, to))
		return tap_err_set(
			err, -EINVAL,
			"bad value '%s' for '--%s': expected a whole number from %" PRId64
			" to %" PRId64,
			value, o->name, o->min, o->max);
	return 0;
}

static int store_choice(struct parse *p, const struct tap_opt *o, const void **chosen)
{
	tap_opt_for_each(w, p->table) {
		if (*chosen && w.o->type == TAP_OPT_CHOICE && w.o->offset == o->offset &&
		    w.o->choice == *chosen && *chosen != o->choice)
			return tap_err_set(p->err, -EINVAL, "--%s and --%s exclude each other",
					   w.o->name, o->name);
	}
	*chosen = o->choice;
	return 0;
}

int tap_filters_add(struct tap_filters *f, unsigned int word, const char *text)
{
	char **v, *both;

	v = reallocarray(f->v, word + 1 > f->nr ? word + 1 : f->nr, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (f->v = v; f->nr <= word; f->nr++)
		v[f->nr] = NULL;
	if ((v[word] ? asprintf(&both, "(%s) && (%s)", v[word], text)
		     : asprintf(&both, "%s", text)) < 0)
		return -ENOMEM;
	free(v[word]);
	v[word] = both;
	return 0;
}

/* The filter belongs to the last element of @strings. */
static int store_filter(struct parse *p, const struct tap_opt *o, struct tap_filters *to,
			const struct tap_strings *strings, const char *value)
{
	if (!strings->nr)
		return tap_err_set(
			p->err, -EINVAL,
			"-%c '%s' comes before any -e: put it after the -e whose events it filters",
			o->letter, value);
	return tap_filters_add(to, strings->nr - 1, value) ? tap_err_nomem(p->err) : 0;
}

/* Store an option's value. @value is NULL for a flag. */
static int store_value(struct parse *p, const struct tap_opt *o, const char *value)
{
	void *to = (char *)p->opts + o->offset;

	switch (o->type) {
	case TAP_OPT_FLAG:
		*(bool *)to = true;
		return 0;
	case TAP_OPT_STRING:
		*(const char **)to = value;
		return 0;
	case TAP_OPT_STRINGS:
		if (tap_strings_add(to, value))
			return tap_err_nomem(p->err);
		return 0;
	case TAP_OPT_FILTERS:
		return store_filter(p, o, to, (void *)((char *)to - o->offset + o->of), value);
	case TAP_OPT_CHOICE:
		return store_choice(p, o, to);
	default:
		return store_number(o, to, value, p->err);
	}
}

/*
 * Store an option whose attached value is @value. If @value is NULL and the option needs one, take
 * the next word, but not "--": that ends the options, so the value is missing.
 */
static int take_value(struct parse *p, const struct tap_opt *o, const char *value)
{
	if (!o->arg && value)
		return tap_err_set(p->err, -EINVAL, "option '--%s' takes no value", o->name);
	if (o->arg && !value) {
		if (p->next == p->nr || !strcmp(p->words[p->next], "--"))
			return tap_err_set(p->err, -EINVAL, "option '--%s' needs a value: %s",
					   o->name, o->arg);
		value = p->words[p->next++];
	}
	return store_value(p, o, value);
}

static int parse_long(struct parse *p, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	char name[NAME_MAX_LEN + 1];

	tap_opt_for_each(at, p->table) {
		if (!strncmp(at.o->name, word, len) && !at.o->name[len])
			return take_value(p, at.o, equals ? equals + 1 : NULL);
	}
	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	return unknown_option(p, name);
}

/* Parse the letters that follow a dash: "abc", or "ovalue" if o takes a value. */
static int parse_short(struct parse *p, const char *letters)
{
	int ret = 0;

	while (!ret && *letters) {
		struct tap_opt_walk at = { .row = p->table };
		bool found;

		while ((found = tap_opt_next(&at)) && at.o->letter != *letters)
			;
		if (!found)
			return tap_err_set(p->err, -EINVAL, "unknown option '-%c'", *letters);
		letters++;
		if (at.o->arg)
			return take_value(p, at.o, *letters ? letters : NULL);
		ret = take_value(p, at.o, NULL);
	}
	return ret;
}

int tap_opt_parse(const struct tap_opt *table, void *opts, int argc, char **argv, bool command,
		  struct tap_strings *operands, char ***rest, struct tap_err *err)
{
	struct parse p = { .table = table, .opts = opts, .words = argv, .nr = argc, .err = err };
	bool is_operand;
	int ret = 0;

	*operands = (struct tap_strings){ 0 };
	*rest = NULL;
	while (!ret && p.next < argc) {
		const char *word = argv[p.next++];

		if (!strcmp(word, "--")) {
			*rest = argv + p.next;
			break;
		}
		is_operand = word[0] != '-' || !word[1];
		if (command && is_operand) {
			*rest = argv + p.next - 1;
			break;
		}
		if (is_operand)
			ret = tap_strings_add(operands, word) ? tap_err_nomem(err) : 0;
		else if (word[1] == '-')
			ret = parse_long(&p, word + 2);
		else
			ret = parse_short(&p, word + 1);
	}
	if (ret)
		tap_strings_release(operands);
	return ret;
}

void tap_opt_release(const struct tap_opt *table, void *opts)
{
	tap_opt_for_each(w, table) {
		struct tap_filters *f = (void *)((char *)opts + w.o->offset);

		if (w.o->type == TAP_OPT_STRINGS)
			tap_strings_release((struct tap_strings *)((char *)opts + w.o->offset));
		if (w.o->type != TAP_OPT_FILTERS)
			continue;
		while (f->nr)
			free(f->v[--f->nr]);
		free(f->v);
		f->v = NULL;
	}
}

/* Add an option's names, such as "  -i, --input FILE". Return: their width in columns. */
static size_t add_names(const struct tap_opt *o, struct tap_buf *out)
{
	size_t start = out->len;

	if (o->letter)
		tap_buf_printf(out, "  -%c, --%s", o->letter, o->name);
	else
		tap_buf_printf(out, "      --%s", o->name);
	if (o->arg)
		tap_buf_printf(out, " %s", o->arg);
	return out->len - start;
}

/* Add @text wrapped at LINE_COLUMNS and indented by @left, which is already the current column. */
static void add_wrapped(struct tap_buf *out, const char *text, size_t left)
{
	size_t column = left, len;

	for (; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		if (column > left && column + 1 + len > LINE_COLUMNS) {
			tap_buf_char(out, '\n');
			tap_buf_blanks(out, left);
			column = left;
		} else if (column > left) {
			tap_buf_char(out, ' ');
			column++;
		}
		tap_buf_add(out, text, len);
		column += len;
	}
	tap_buf_char(out, '\n');
}

void tap_opt_help(const struct tap_opt *table, struct tap_buf *out)
{
	size_t left = 0, columns, start = out->len;

	tap_opt_for_each(w, table) {
		columns = add_names(w.o, out) + 2;
		if (columns > left && columns <= HELP_COLUMN_MAX)
			left = columns;
	}
	out->len = start; /* the loop only measured the widths */
	tap_opt_for_each(w, table) {
		columns = add_names(w.o, out);
		if (columns + 2 > left) {
			tap_buf_char(out, '\n');
			columns = 0;
		}
		tap_buf_blanks(out, left - columns);
		add_wrapped(out, w.o->help, left);
	}
}
