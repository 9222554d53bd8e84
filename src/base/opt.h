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
	TAP_OPT_FLAG,	/* bool */
	TAP_OPT_STRING, /* const char * */
	TAP_OPT_STRINGS,/* struct tap_strings: may be given several times */
	TAP_OPT_TIME,	/* uint64_t, ns (text.h) */
	TAP_OPT_SIZE,	/* uint64_t, bytes */
	TAP_OPT_INT,	/* int64_t, within [min, max] */
	TAP_OPT_CALL,	/* handled by .call: where order matters (-f belongs to an -e) */
};

struct tap_strings {
	const char **v; /* owned array of borrowed argv strings */
	unsigned int nr;
};

struct tap_opt {
	const char *name; /* "input": --input */
	char letter;	  /* 'i', or 0 */
	const char *arg;  /* "FILE"; NULL for a flag */
	const char *help; /* lower case, no full stop; default in [brackets] */
	enum tap_opt_type type;
	size_t offset;	  /* into the options struct */
	int64_t min, max; /* TAP_OPT_INT */
	int (*call)(void *opts, const char *value, struct tap_err *err);
};

/*
 * Parses the @argc words of @argv (no program name among them) up to "--". @table ends with an
 * empty row; NULL is an empty table. @opts holds the defaults. Options may stand before and after
 * operands, which are collected in order; with @command the first operand is a command's name, and
 * what follows is the command's. Long options cannot be abbreviated.
 * Return: 0 with @operands and, where "--" or a command was given, @rest (argv after the one or from
 * the other on, NULL-terminated as argv is; else NULL); -EINVAL with a sentence that names the option
 * and, for an unknown one, the nearest; -ENOMEM; what a .call returned.
 */
int tap_opt_parse(const struct tap_opt *table, void *opts, int argc, char **argv, bool command,
		  struct tap_strings *operands, char ***rest, struct tap_err *err);
/* Releases every TAP_OPT_STRINGS of @opts. */
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
