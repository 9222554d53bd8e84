/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event definitions in one line: "pelt_se_tp{pid, comm, util=se->avg.util_avg}" or
 * "usdt:/usr/bin/x:provider:name". Expands them into the equivalent event header, with types and
 * arguments from BTF or from the program's file. That header is then parsed like any other
 * (event/define/define.h).
 */
#ifndef TAP_PROGRAM_ONE_LINE_H
#define TAP_PROGRAM_ONE_LINE_H

#include "event/span.h"
#include "record/program/probe.h"
#include "record/program/type_names.h"

#define TAP_ONE_LINE_MAX_BYTES 4096u

struct tap_one_line {
	struct span tracepoint; /* without the prefix "bare:" */
	struct tap_probe *probe; /* owned, or NULL */
	struct span fields; /* text between the braces */
	char *all; /* owned: the probe's arguments, used if there are no braces */
	const char *filter; /* text after "if", or NULL */
	const char *system;
	char name[128]; /* the event's name, unless another event has it */
};

/* Return true if an argument of -e is a definition. Names of events contain no braces. */
static inline bool tap_one_line_is(const char *word)
{
	return strchr(word, '{') || tap_probe_is(word);
}

/*
 * Split @text into its parts, which point into @text; for a probe, read the program's file.
 * Return: 0; -EINVAL with a sentence; the errors of tap_probe_new(). After an error there is
 * nothing to release.
 */
int tap_one_line_read(const char *text, struct tap_one_line *line, struct tap_err *err);
void tap_one_line_release(struct tap_one_line *line);

/*
 * Append the header to @header. @name: the event's name.
 * Return: 0; -EINVAL with a sentence and a caret below the fields' text; -ENOENT naming the
 * tracepoint; -ENOMEM.
 */
int tap_one_line_header(const struct tap_one_line *line, const struct btf *btf,
			struct tap_type_names *types, const char *name, struct tap_buf *header,
			struct tap_err *err);

#endif
