/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording that a command reads, with what it says about itself. */
#ifndef TAP_CLI_INPUT_H
#define TAP_CLI_INPUT_H

#include <schedtap/reader.h>

#include "analysis/who.h"
#include "analysis/window.h"
#include "cli/progress.h"

struct tap_input {
	struct tap_reader *reader;
	json_t *meta; /* NULL: none */
	struct tap_who who;
	const char *path; /* as it was opened, borrowed */
	struct tap_wall wall;
	struct tap_range said; /* its window, as far as it says that itself; else 0, UINT64_MAX */
	struct tap_progress progress;
};

/* Return: 0; -errno with a sentence, and nothing to close. */
int tap_input_open(struct tap_input *in, const char *path, struct tap_err *err);
/* Says of how many tasks -p cannot tell whether they are meant: on stderr, nothing of none. */
void tap_input_tell_unknown(unsigned int nr);
void tap_input_close(struct tap_input *in);

/* From now on tells on a terminal how far reading has come; @what: as struct tap_progress'. */
void tap_input_watch(struct tap_input *in, const char *what);
/* Erases that. Where output has the same terminal, it does not come again. */
void tap_input_unwatch(struct tap_input *in);

/* --clock NAME; NULL is mono. Return: 0; -EINVAL. */
int tap_clock_parse(const char *name, enum tap_clock *clock, struct tap_err *err);
/* Text shows times of this clock from now on. Return: 0; -ENODATA: the recording has no such. */
int tap_input_show(struct tap_input *in, enum tap_clock clock, struct tap_err *err);
/*
 * What @w means in this recording. One that only has relative times or times of day, and no window
 * of its own, is read for it.
 * Return: 0; -EINVAL: it ends before it begins; -ENODATA: it lies outside of the recording, as far
 * as that is known, or is wall time and the recording does not know it; a reader's error.
 */
int tap_input_window(struct tap_input *in, const struct tap_window *w, struct tap_range *out,
		     struct tap_err *err);
/* Where nothing was found in @range. Return: 0; -ENODATA: it lies outside; a reader's error. */
int tap_input_check_window(struct tap_input *in, const struct tap_window *w, struct tap_range range,
			   struct tap_err *err);

#endif
