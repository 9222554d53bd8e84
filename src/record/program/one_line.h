/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A definition in one line, "pelt_se_tp{pid, comm, util=se->avg.util_avg}" or
 * "usdt:/usr/bin/x:provider:name": the header that it stands for, with types and arguments as BTF,
 * or the program's file, has them. It is read like any other (event/define/define.h).
 */
#ifndef TAP_PROGRAM_ONE_LINE_H
#define TAP_PROGRAM_ONE_LINE_H

#include "event/span.h"
#include "record/program/probe.h"
#include "record/program/type_names.h"

#define TAP_ONE_LINE_MAX_BYTES 4096u

struct tap_one_line {
	struct span tracepoint; /* "bare:" in front of it is left out */
	struct tap_probe *probe; /* owned, or NULL */
	struct span fields; /* what is in the braces */
	char *all; /* owned: the probe's arguments, where there are no braces */
	const char *filter; /* behind "if", or NULL */
	const char *system;
	char name[128]; /* the event's, if it has it alone */
};

/* Whether a word of -e is a definition; no event's name has a brace. */
static inline bool tap_one_line_is(const char *word)
{
	return strchr(word, '{') || tap_probe_is(word);
}

/*
 * Finds its parts, which lie in @text; of a probe the file is read.
 * Return: 0; -EINVAL with a sentence; as tap_probe_new(). After an error there is nothing to be
 * released.
 */
int tap_one_line_read(const char *text, struct tap_one_line *line, struct tap_err *err);
void tap_one_line_release(struct tap_one_line *line);

/*
 * @name: of the event.
 * Return: 0; -EINVAL with a sentence and a caret below the text of the fields; -ENOENT naming the
 * tracepoint; -ENOMEM.
 */
int tap_one_line_header(const struct tap_one_line *line, const struct btf *btf,
			struct tap_type_names *types, const char *name, struct tap_buf *header,
			struct tap_err *err);

#endif
