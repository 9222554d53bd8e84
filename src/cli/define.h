/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-defined events on the command line: --define FILE, and -e 'TRACEPOINT{FIELD, ...} if
 * FILTER'.
 */
#ifndef TAP_CLI_DEFINE_H
#define TAP_CLI_DEFINE_H

#include "event/define/define.h"
#include "event/select/select.h"
#include "record/bpf/kernel.h"

struct tap_cli_defs { /* all zero: no definitions */
	struct tap_defs defs;
	struct tap_kernel *kernel; /* both are loaded for the first -e definition; else NULL */
	struct tap_type_names *types;
	/* names of the events that -e defines, which replace the definitions in -e's words */
	char **names;
	unsigned int nr_names, cap_names;
};

/*
 * Read @files, and the definitions in words of -e. Replace each such word by the name of its event,
 * and add its filter to @words. Return: 0; -errno with a sentence. @d must be released even after
 * an error.
 */
int tap_cli_define(struct tap_cli_defs *d, const struct tap_strings *files,
		   struct tap_select_words *words, struct tap_err *err);
void tap_cli_defs_release(struct tap_cli_defs *d);

#endif
