/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A probe of a program: "usdt:PATH:PROVIDER:NAME", "uprobe:PATH:SYMBOL+0xOFFSET" or
 * "uretprobe:PATH:SYMBOL". What its file says: the places where it is, and where each has its
 * arguments.
 */
#ifndef TAP_PROGRAM_PROBE_H
#define TAP_PROGRAM_PROBE_H

#include "base/buf.h"
#include "record/program/probe_args.h"

#define TAP_PROBE_MAX_SITES 4096u
#define TAP_PROBE_MAX_WAYS 64u

enum tap_probe_kind {
	TAP_PROBE_USDT,
	TAP_PROBE_ENTRY,
	TAP_PROBE_RETURN,
};

/* A probe that stands in a function which the compiler inlined is in several places, with its
 * arguments elsewhere. */
struct tap_probe_way {
	struct tap_probe_arg args[TAP_PROBE_MAX_ARGS];
	unsigned int nr_args;
};

struct tap_probe {
	enum tap_probe_kind kind;
	unsigned int machine; /* EM_* */
	char *word; /* owned: as it was said */
	char *path; /* owned, absolute */
	struct span group, name; /* in .word: the provider; its probe, or a symbol */
	uint64_t offset; /* behind the symbol */
	struct tap_probe_site {
		uint64_t offset, semaphore; /* in the file; semaphore: 0: none */
		unsigned int way;
	} * sites;
	unsigned int nr_sites, cap_sites;
	struct tap_probe_way *ways; /* all different */
	unsigned int nr_ways, cap_ways;
	unsigned int nr_args; /* of the way that has most */
	char **texts; /* owned: of notes, which arguments point into */
	unsigned int nr_texts, cap_texts;
};

/* Whether a word of -e, or what stands in TRACE_HOOK(), is one: no event's name has two colons. */
bool tap_probe_is(const char *word);

/*
 * Reads the file. @word: without braces.
 * Return: 0; -EINVAL with a sentence; -ENOENT: no such file, probe or symbol; -ENOMEM. *out: NULL
 * after an error.
 */
int tap_probe_new(struct span word, struct tap_probe **out, struct tap_err *err);
void tap_probe_free(struct tap_probe *p);

/* Adds the word with the whole path. */
void tap_probe_word(const struct tap_probe *p, struct tap_buf *out);
/* Adds a name for its event, a C word. */
void tap_probe_event_name(const struct tap_probe *p, struct tap_buf *out);
const char *tap_probe_group(const struct tap_probe *p);

/* "arg3", "retval" */
void tap_probe_arg_name(const struct tap_probe *p, unsigned int arg, char name[8]);
/* The widest of all ways. */
struct tap_ctype tap_probe_arg_type(const struct tap_probe *p, unsigned int arg);

/* Adds "s32". */
void tap_probe_add_type(struct tap_ctype type, struct tap_buf *out);

/*
 * Adds a line for each probe of a file, by name: "usdt:/usr/bin/x:provider:name(s32 arg0, u64
 * arg1)". @path: as in a word. Return: as tap_probe_new(); -ENODATA: it has none.
 */
int tap_probe_list(const char *path, struct tap_buf *out, struct tap_err *err);

#endif
