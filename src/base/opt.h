/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command's options are a table: parsing, --help, shell completion and the OPTIONS part of
 * the man page all read it. A value goes to its place in the command's own struct.
 */
#ifndef TAP_BASE_OPT_H
#define TAP_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum tap_opt_type {
	TAP_OPT_FLAG, /* bool */
	TAP_OPT_STRING, /* const char * */
	TAP_OPT_STRINGS, /* struct tap_strings: may be given several times */
	TAP_OPT_TIME, /* uint64_t, ns (text.h) */
	TAP_OPT_SIZE, /* uint64_t, bytes */
	TAP_OPT_INT, /* int64_t, within [min, max] */
	TAP_OPT_FILTERS, /* struct tap_filters: of the last one of the TAP_OPT_STRINGS at .of */
	TAP_OPT_CHOICE, /* const void *: .choice; one at most of those with the same place */
	TAP_OPT_TABLE, /* the rows of .table, which is of the same struct; no table in that one */
};

struct tap_strings {
	const char **v; /* owned array of borrowed argv strings */
	unsigned int nr;
};

/* Of strings: "(A) && (B)" where one has two; NULL where it has none. The last ones may be left
 * out. */
struct tap_filters {
	char **v; /* owned, as its strings are */
	unsigned int nr;
};

/* @word: the number of its string. One more must hold beside those that it has. Return: 0 or
 * -ENOMEM. */
int tap_filters_add(struct tap_filters *f, unsigned int word, const char *text);

struct tap_opt {
	const char *name; /* "input": --input */
	char letter; /* 'i', or 0 */
	const char *arg; /* "FILE"; NULL for a flag */
	const char *help; /* lower case, no full stop; default in [brackets] */
	enum tap_opt_type type;
	size_t offset; /* into the options struct */
	int64_t min, max; /* TAP_OPT_INT */
	size_t of; /* TAP_OPT_FILTERS: another offset, in the same struct */
	const void *choice;
	const struct tap_opt *table;
};

/* A table's rows in another, whose struct begins with that one's. */
#define TAP_OPT_ROWS(table_)                                                                       \
	{                                                                                          \
		.type = TAP_OPT_TABLE, .table = table_                                             \
	}
#define TAP_OPT_END(o) (!(o) || (!(o)->name && (o)->type != TAP_OPT_TABLE))

/* A walk over a table's options, and those of the tables in it. */
struct tap_opt_walk {
	const struct tap_opt *o; /* the option */
	const struct tap_opt *row; /* of the outer table, the next one */
	const struct tap_opt *inner; /* the next one in a table in it, or NULL */
};

/* Return: whether there was one more. */
static inline bool tap_opt_next(struct tap_opt_walk *w)
{
	while (TAP_OPT_END(w->inner)) {
		if (TAP_OPT_END(w->row))
			return false;
		w->o = w->row++;
		if (w->o->type != TAP_OPT_TABLE)
			return true;
		w->inner = w->o->table;
	}
	w->o = w->inner++;
	return true;
}

#define tap_opt_for_each(w, table_)                                                                \
	for (struct tap_opt_walk w = { .row = (table_) }; tap_opt_next(&w);)

/*
 * Parses the @argc words of @argv (no program name among them) up to "--". @table ends with an
 * empty row, as each that is in it; NULL is an empty table. @opts holds the defaults. Options may
 * stand before and after operands, which are collected in order; with @command the first operand is
 * a command's name, and what follows is the command's. Long options cannot be abbreviated. Return:
 * 0 with @operands and, where "--" or a command was given, @rest (argv after the one or from the
 * other on, NULL-terminated as argv is; else NULL); -EINVAL with a sentence that names the option
 * and, for an unknown one, the nearest; -ENOMEM.
 */
int tap_opt_parse(const struct tap_opt *table, void *opts, int argc, char **argv, bool command,
		  struct tap_strings *operands, char ***rest, struct tap_err *err);
/* Releases every TAP_OPT_STRINGS and TAP_OPT_FILTERS of @opts. */
void tap_opt_release(const struct tap_opt *table, void *opts);
int tap_strings_add(struct tap_strings *s, const char *v); /* 0 or -ENOMEM */
void tap_strings_release(struct tap_strings *s);

/* One entry per option, aligned, wrapped at 100 columns: for --help. */
void tap_opt_help(const struct tap_opt *table, struct tap_buf *out);

/* Insertions, deletions and replacements that make @b of @a; UINT_MAX: @b is longer than 127. */
unsigned int tap_edit_distance(const char *a, const char *b);
/*
 * The nearest of @nr names by edit distance, at most 3 and at most half of the word away; a name
 * that begins with the word counts as 1 away. Return: borrowed; NULL if none is near.
 */
const char *tap_nearest(const char *word, const char *const *names, unsigned int nr);

#endif
