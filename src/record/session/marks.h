/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marks in a recording (events/mark.h): a buffer of its own, and a socket by which they are asked
 * for.
 */
#ifndef TAP_RECORD_SESSION_MARKS_H
#define TAP_RECORD_SESSION_MARKS_H

#include "record/drain.h"
#include "record/porter.h"
#include "record/session/mark_request.h"

struct tap_marks {
	int fd; /* -1: there is no socket, `schedtap mark` does not find this recorder */
	int from; /* what came to it, of the porter; -1: there is no socket */
	struct tap_page_writer *writer;
	struct tap_pids *pids;
	struct tap_lane lane; /* pages: NULL: nothing was marked yet */
	struct tap_buf format;
	uint64_t early; /* marks that were recorded between two drains, */
	int early_ret; /* and why no more were: 0, or -errno */
	uint64_t last_ns; /* no mark is before that: the last one, or the start */
	void (*added)(void *ctx, uint64_t at_ns, const char *text); /* or NULL */
	void *ctx;
};

#define TAP_NO_MARKS ((struct tap_marks){ .fd = -1, .from = -1 })

/* @pids: borrowed. Where there can be no socket, or no @porter, marks come by tap_marks_add()
 * alone. */
void tap_marks_open(struct tap_marks *m, struct tap_pids *pids, struct tap_porter *porter);
void tap_marks_release(struct tap_marks *m);

/* The text of the event's format, for a recording's head. Return: 0 or -ENOMEM. */
int tap_marks_describe(struct tap_marks *m, struct tap_head_format *f);

/* From here on marks are recorded. */
void tap_marks_start(struct tap_marks *m, struct tap_page_writer *writer);
/* Give later marks a time of at least @start_ns: the file that they go into begins there. */
void tap_marks_begin_file(struct tap_marks *m, uint64_t start_ns);
/* Whom a mark is of. */
struct tap_mark_task {
	int tid; /* as events have it; 0: not known */
	char comm[16]; /* not NUL-terminated when full */
};

/* @pid: the caller's, by our numbers; 0: not known. */
struct tap_mark_task tap_marks_task(const struct tap_marks *m, pid_t pid);
/* @text: of @len bytes. Return: 0; -errno with a sentence. */
int tap_marks_add(struct tap_marks *m, uint64_t at_ns, const struct tap_mark_task *task,
		  const char *text, size_t len, struct tap_err *err);
/* Adds what was asked for, and hands all marks over. Return: as tap_marks_add(). */
int tap_marks_drain(struct tap_marks *m, struct tap_drain *res, struct tap_err *err);

#endif
