/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events of one's own on the command line: --define FILE, and -e 'TRACEPOINT{FIELD, ...} if
 * FILTER'. */
#ifndef TAP_CLI_DEFINE_H
#define TAP_CLI_DEFINE_H

#include "event/define/define.h"
#include "event/select/select.h"
#include "record/bpf/kernel.h"

struct tap_cli_defs { /* all zero: none */
	struct tap_defs defs;
	struct tap_kernel *kernel; /* both are read if a line was there; or NULL */
	struct tap_type_names *types;
	char **names; /* of the lines' events, as -e has them now */
	unsigned int nr_names, cap_names;
};

/*
 * Reads the files, and the words of -e that are definitions: these become the names of their
 * events, with their filters. Return: 0; -errno with a sentence. After an error @d is there to be
 * released.
 */
int tap_cli_define(struct tap_cli_defs *d, const struct tap_strings *files,
		   struct tap_select_words *words, struct tap_err *err);
void tap_cli_defs_release(struct tap_cli_defs *d);

#endif
