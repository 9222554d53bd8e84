/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command's options are a table, read by the parser, --help, shell completion and the OPTIONS
 * part of the man page. The parser stores each value in a member of the command's options struct.
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
	TAP_OPT_STRINGS, /* struct tap_strings: the option may be repeated */
	TAP_OPT_TIME, /* uint64_t, ns (text.h) */
	TAP_OPT_SIZE, /* uint64_t, bytes */
	TAP_OPT_INT, /* int64_t, within [min, max] */
	/* struct tap_filters: filters the last string of the TAP_OPT_STRINGS at .of */
	TAP_OPT_FILTERS,
	/* const void *: set to .choice; options with the same offset exclude each other */
	TAP_OPT_CHOICE,
	TAP_OPT_TABLE, /* includes the rows of .table, which must not include another table */
};

struct tap_strings {
	const char **v; /* owned array of borrowed argv strings */
	unsigned int nr;
};

/*
 * Filters of a struct tap_strings, by index: "(A) && (B)" if a string has two, NULL if it has none.
 * Filters after the last that is set may be missing.
 */
struct tap_filters {
	char **v; /* owned, with its strings */
	unsigned int nr;
};

/*
 * Add a filter to the string with index @word. If it has one already, both must match. Return: 0 or
 * -ENOMEM.
 */
int tap_filters_add(struct tap_filters *f, unsigned int word, const char *text);

struct tap_opt {
	const char *name; /* the name without dashes: "input" for --input */
	char letter; /* 'i' for -i; 0: no letter */
	const char *arg; /* "FILE"; NULL for a flag */
	const char *help; /* lower case, no full stop; default in [brackets] */
	enum tap_opt_type type;
	size_t offset; /* into the options struct */
	int64_t min, max; /* for TAP_OPT_INT: inclusive */
	size_t of; /* for TAP_OPT_FILTERS: offset of the struct tap_strings that it filters */
	const void *choice;
	const struct tap_opt *table;
};

/*
 * A row that includes another table. That table's options struct must be the first member of this
 * table's.
 */
#define TAP_OPT_ROWS(table_)                                                                       \
	{                                                                                          \
		.type = TAP_OPT_TABLE, .table = table_                                             \
	}
#define TAP_OPT_END(o) (!(o) || (!(o)->name && (o)->type != TAP_OPT_TABLE))

/* Iterates over the options of a table and of the tables that it includes. */
struct tap_opt_walk {
	const struct tap_opt *o; /* the current option */
	const struct tap_opt *row; /* the next row of the outer table */
	const struct tap_opt *inner; /* the next row of the included table, or NULL */
};

/* Move to the next option. Return: false after the last one. */
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
 * Parse the @argc words of @argv (without the program's name) up to "--". @table and the tables
 * that it includes end with an empty row; NULL is an empty table. @opts contains the defaults.
 * Options may stand before or after operands, which are collected in order. With @command the first
 * operand is the name of a command, and all words from there on belong to it. Long options cannot
 * be abbreviated.
 * @rest: set to the argv after "--" or starting with the command's name, NULL-terminated as @argv
 * is; NULL if neither was given.
 * Return: 0; -EINVAL with a sentence that names the option and, for an unknown one, suggests the
 * nearest; -ENOMEM.
 */
int tap_opt_parse(const struct tap_opt *table, void *opts, int argc, char **argv, bool command,
		  struct tap_strings *operands, char ***rest, struct tap_err *err);
/* Release every TAP_OPT_STRINGS and TAP_OPT_FILTERS of @opts. */
void tap_opt_release(const struct tap_opt *table, void *opts);
int tap_strings_add(struct tap_strings *s, const char *v); /* Return: 0 or -ENOMEM */
void tap_strings_release(struct tap_strings *s);

/* Add the --help text: one entry per option, aligned and wrapped at 100 columns. */
void tap_opt_help(const struct tap_opt *table, struct tap_buf *out);

/*
 * Return the number of insertions, deletions and replacements that turn @a into @b; UINT_MAX if @b
 * is longer than 127 bytes.
 */
unsigned int tap_edit_distance(const char *a, const char *b);
/*
 * Find the nearest of @nr names by edit distance: at most 3, and at most half of the word's length.
 * A name that begins with @word has distance 1. Return: borrowed; NULL if no name is near.
 */
const char *tap_nearest(const char *word, const char *const *names, unsigned int nr);

#endif
