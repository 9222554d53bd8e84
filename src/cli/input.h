/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording that a command reads, with what it says about itself. */
#ifndef TAP_CLI_INPUT_H
#define TAP_CLI_INPUT_H

#include <schedtap/reader.h>

#include "analysis/who.h"

#define TAP_INPUT_DEFAULT "trace.dat"

struct tap_input {
	struct tap_reader *reader;
	json_t *meta; /* NULL: none */
	struct tap_who who;
};

/* Return: 0; -errno with a sentence, and nothing to close. */
int tap_input_open(struct tap_input *in, const char *path, struct tap_err *err);
void tap_input_close(struct tap_input *in);

#endif
