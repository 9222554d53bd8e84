/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording that is being read, with what it says about itself. */
#ifndef TAP_RUN_RECORDING_H
#define TAP_RUN_RECORDING_H

#include <schedtap/reader.h>

#include "timeline/run/event_kind.h"
#include "timeline/run/identity.h"
#include "timeline/run/limits.h"
#include "timeline/run/time_option.h"
#include "timeline/survey.h"

/* Who is told what is no result. Each may be NULL. */
struct tap_listener {
	/* What the user should know: one sentence. */
	void (*note)(void *ctx, const struct tap_err *note);
	/* How far @what ("pass 1 of 2") has come, again and again: @done of @whole bytes. */
	void (*progress)(void *ctx, const char *what, uint64_t done, uint64_t whole);
	void *ctx;
};

struct tap_recording {
	struct tap_reader *reader;
	bool is_borrowed; /* .reader */
	json_t *meta; /* NULL: none */
	struct tap_identities ids;
	struct tap_limits limits;
	struct tap_event_kinds kinds;
	const char *path; /* as it was opened, borrowed; of several files .several */
	char *several; /* owned: "FILE and 2 more"; NULL: it is one file */
	struct tap_wall wall;
	struct tap_look *looks; /* owned: what CPUs ran when its recorder looked */
	unsigned int nr_looks;
	struct tap_window said; /* its window, as far as it says that itself; else 0, UINT64_MAX */
	struct tap_listener listener;
	const char *what; /* is done to it: for the listener */
};

/*
 * Open one file, or several that one recorder wrote. @paths: at least one. @listener: may be NULL.
 * Return: 0; -errno with a sentence. Close in either case.
 */
int tap_recording_open(struct tap_recording *r, const char *const *paths, unsigned int nr,
		       const struct tap_listener *listener, struct tap_err *err);
/* The same of a reader that is somebody else's. Return: 0 or -ENOMEM. */
int tap_recording_borrow(struct tap_recording *r, struct tap_reader *reader,
			 const struct tap_listener *listener, struct tap_err *err);
void tap_recording_close(struct tap_recording *r);
/* Return: the tid of the command that was recorded; 0: it knows of none. */
int tap_recording_command(const struct tap_recording *r);

/* Return: why the recording is incomplete, static; NULL: its recorder completed it, or another
 * program wrote it. */
const char *tap_recording_incomplete(const struct tap_recording *r);

/* For reports without a head, which says it: a note if the recording is incomplete. */
void tap_recording_note_incomplete(const struct tap_recording *r);
/* After it was read: a note if parts of its data are damaged. */
void tap_recording_note_damage(const struct tap_recording *r);

/* Tells the listener; as tap_err_set(). */
void tap_recording_note(const struct tap_recording *r, const char *fmt, ...) TAP_PRINTF(2, 3);
/* From now on tells the listener how far reading has come; @what: borrowed, until the next. */
void tap_recording_watch(struct tap_recording *r, const char *what);

/* Reads [@from_ns, @to_ns] for the reader's span and tallies. Return: 0; a reader's error. */
int tap_recording_count(struct tap_recording *r, uint64_t from_ns, uint64_t to_ns,
			struct tap_err *err);

/* --clock NAME; NULL is mono. Return: 0; -EINVAL. */
int tap_clock_parse(const char *name, enum tap_clock *clock, struct tap_err *err);
/* People see times of this clock from now on. Return: 0; -ENODATA: the recording has no such. */
int tap_recording_show(struct tap_recording *r, enum tap_clock clock, struct tap_err *err);
/*
 * What @w means in this recording. One that only has relative times or times of day, and no window
 * of its own, is read for it.
 * Return: 0; -EINVAL: it ends before it begins; -ENODATA: it lies outside of the recording, as far
 * as that is known, or is wall time and the recording does not know it; a reader's error.
 */
int tap_recording_window(struct tap_recording *r, const struct tap_time_option *w,
			 struct tap_window *out, struct tap_err *err);
/* Where nothing was found in @range. Return: 0; -ENODATA: it lies outside; a reader's error. */
int tap_recording_check_window(struct tap_recording *r, const struct tap_time_option *w,
			       struct tap_window range, struct tap_err *err);

#endif
