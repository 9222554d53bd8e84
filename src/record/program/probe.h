/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A probe of a user program: "usdt:PATH:PROVIDER:NAME", "uprobe:PATH:SYMBOL+0xOFFSET" or
 * "uretprobe:PATH:SYMBOL". The program's file says at which places the probe is, and where the
 * arguments are at each.
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

/*
 * The locations of a probe's arguments. A probe in a function that the compiler inlined is at
 * several places, which may have the arguments at different locations.
 */
struct tap_probe_way {
	struct tap_probe_arg args[TAP_PROBE_MAX_ARGS];
	unsigned int nr_args;
};

struct tap_probe {
	enum tap_probe_kind kind;
	unsigned int machine; /* EM_* */
	char *word; /* owned: the word that the user gave */
	char *path; /* owned, absolute */
	struct span group, name; /* parts of .word: provider and probe, or symbol */
	uint64_t offset; /* bytes after the symbol */
	struct tap_probe_site {
		uint64_t offset, semaphore; /* file offsets; semaphore 0: none */
		unsigned int way;
	} * sites;
	unsigned int nr_sites, cap_sites;
	struct tap_probe_way *ways; /* without duplicates */
	unsigned int nr_ways, cap_ways;
	unsigned int nr_args; /* maximum over all ways */
	char **texts; /* owned: texts of ELF notes, which arguments point into */
	unsigned int nr_texts, cap_texts;
};

/*
 * Return true if an argument of -e or of TRACE_HOOK() is a probe. Names of events do not have two
 * colons.
 */
bool tap_probe_is(const char *word);

/*
 * Parse @word, which has no braces, and read the program's file.
 * Return: 0; -EINVAL with a sentence; -ENOENT: no such file, probe or symbol; -ENOMEM. *out is NULL
 * after an error.
 */
int tap_probe_new(struct span word, struct tap_probe **out, struct tap_err *err);
void tap_probe_free(struct tap_probe *p);

/* Append the probe's word with an absolute path. */
void tap_probe_word(const struct tap_probe *p, struct tap_buf *out);
/* Append a name for the probe's event, a C identifier. */
void tap_probe_event_name(const struct tap_probe *p, struct tap_buf *out);
const char *tap_probe_group(const struct tap_probe *p);

/* Write the argument's name, such as "arg3" or "retval". */
void tap_probe_arg_name(const struct tap_probe *p, unsigned int arg, char name[8]);
/* Return the argument's type, the widest of all ways. */
struct tap_ctype tap_probe_arg_type(const struct tap_probe *p, unsigned int arg);

/* Append a type's name, such as "s32". */
void tap_probe_add_type(struct tap_ctype type, struct tap_buf *out);

/*
 * Append a line for each USDT probe of a file, sorted by name: "usdt:/usr/bin/x:provider:name(s32
 * arg0, u64 arg1)". @path: as in a probe's word.
 * Return: the errors of tap_probe_new(); -ENODATA: the file has no probes.
 */
int tap_probe_list(const char *path, struct tap_buf *out, struct tap_err *err);

#endif
