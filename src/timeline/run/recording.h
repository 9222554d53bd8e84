/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An open recording and its metadata. */
#ifndef TAP_RUN_RECORDING_H
#define TAP_RUN_RECORDING_H

#include <schedtap/reader.h>

#include "timeline/run/event_kind.h"
#include "timeline/run/identity.h"
#include "timeline/run/limits.h"
#include "timeline/run/time_option.h"
#include "timeline/survey.h"

/* Receives what is not part of the result. Each function may be NULL. */
struct tap_listener {
	/* One sentence for the user. */
	void (*note)(void *ctx, const struct tap_err *note);
	/*
	 * Called repeatedly with the progress of @what, such as "pass 1 of 2": @done of @whole
	 * bytes.
	 */
	void (*progress)(void *ctx, const char *what, uint64_t done, uint64_t whole);
	void *ctx;
};

struct tap_reader_group;

struct tap_recording {
	struct tap_reader *reader;
	bool is_borrowed; /* .reader belongs to the caller */
	json_t *meta; /* owned; the description; NULL: none */
	struct tap_identities ids;
	struct tap_limits limits;
	struct tap_event_kinds kinds;
	const char *path; /* as passed to open, borrowed; for several files the same as .several */
	char *several; /* owned: "FILE and 2 more"; NULL: one file */
	struct tap_wall wall;
	struct tap_look *looks; /* owned; the task that ran on each CPU, as the recorder found it */
	unsigned int nr_looks;
	/*
	 * the window according to the description; members it does not contain are 0 and UINT64_MAX
	 */
	struct tap_window said;
	struct tap_listener listener;
	const char *what; /* the current operation, for .listener.progress */
};

/*
 * Open one file, or several files that one recorder wrote. @paths: at least one. @listener: may be
 * NULL. Return: 0; -errno with a sentence. The caller closes @r in either case.
 */
int tap_recording_open(struct tap_recording *r, const char *const *paths, unsigned int nr,
		       const struct tap_listener *listener, struct tap_err *err);
/*
 * Use a reader that the caller owns. Return: 0; -E2BIG, -ENOMEM with a sentence. The caller closes
 * @r in either case.
 */
int tap_recording_borrow(struct tap_recording *r, struct tap_reader *reader,
			 const struct tap_listener *listener, struct tap_err *err);
/*
 * Use the reader of a group (file/group.h), which then belongs to @r. Return: 0; -errno with a
 * sentence. The caller closes @r in either case.
 */
int tap_recording_adopt(struct tap_recording *r, struct tap_reader_group *group,
			const struct tap_listener *listener, struct tap_err *err);
void tap_recording_close(struct tap_recording *r);
/* Return: the tid of the command that was recorded; 0: unknown, or there was none. */
int tap_recording_command(const struct tap_recording *r);

/*
 * Return: why the recording is incomplete, static; NULL: its recorder completed it, or another
 * program wrote it.
 */
const char *tap_recording_incomplete(const struct tap_recording *r);

/* Send a note if the recording is incomplete; for reports without a header, which would show it. */
void tap_recording_note_incomplete(const struct tap_recording *r);
/* Send a note if parts of the data are damaged. Call it after reading. */
void tap_recording_note_damage(const struct tap_recording *r);

/* Send a note to the listener; arguments as for tap_err_set(). */
void tap_recording_note(const struct tap_recording *r, const char *fmt, ...) TAP_PRINTF(2, 3);
/* From now on report progress to the listener. @what: borrowed, until the next call. */
void tap_recording_watch(struct tap_recording *r, const char *what);

/* Read [@from_ns, @to_ns] for the reader's span and tallies. Return: 0; an error of the reader. */
int tap_recording_count(struct tap_recording *r, uint64_t from_ns, uint64_t to_ns,
			struct tap_err *err);

/* Parse --clock NAME; NULL is mono. Return: 0; -EINVAL with a sentence. */
int tap_clock_parse(const char *name, enum tap_clock *clock, struct tap_err *err);
/* Show times in this clock from now on. Return: 0; -ENODATA: the recording does not contain it. */
int tap_recording_show(struct tap_recording *r, enum tap_clock clock, struct tap_err *err);
/*
 * Resolve @w to a time window of this recording. If @w is relative to the recording or a time of
 * day, and the description does not contain the recording's window, the recording is read for it.
 *
 * Return: 0; -EINVAL: the window ends before it begins; -ENODATA: it lies outside the recording as
 * far as that is known, or it is a wall-clock time and the recording does not contain wall-clock
 * time; an error of the reader.
 */
int tap_recording_window(struct tap_recording *r, const struct tap_time_option *w,
			 struct tap_window *out, struct tap_err *err);
/*
 * Check whether @range, in which nothing was found, lies outside the recording. Return: 0: it does
 * not; -ENODATA: it does; an error of the reader.
 */
int tap_recording_check_window(struct tap_recording *r, const struct tap_time_option *w,
			       struct tap_window range, struct tap_err *err);

#endif
