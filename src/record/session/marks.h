/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marks in a recording (events/mark.h). They have a buffer of their own, and a socket through which
 * `schedtap mark` requests them.
 */
#ifndef TAP_RECORD_SESSION_MARKS_H
#define TAP_RECORD_SESSION_MARKS_H

#include "record/drain.h"
#include "record/porter.h"
#include "record/session/mark_request.h"

struct tap_marks {
	int fd; /* the socket; -1: none, so `schedtap mark` does not find this recorder */
	int from; /* channel from the porter with the socket's messages; -1: no socket */
	struct tap_page_writer *writer;
	struct tap_pids *pids;
	struct tap_lane lane; /* .pages NULL: no mark so far */
	struct tap_buf format;
	uint64_t early; /* marks that were added since the last drain, outside of it */
	int early_ret; /* why adding such marks failed: -errno; 0: it did not */
	uint64_t last_ns; /* time of the last mark, or of the file's start; no mark is earlier */
	void (*added)(void *ctx, uint64_t at_ns, const char *text); /* may be NULL */
	void *ctx;
};

#define TAP_NO_MARKS ((struct tap_marks){ .fd = -1, .from = -1 })

/*
 * Open the socket. @pids: borrowed. @porter: serves the socket, or NULL. Without a socket or a
 * porter, tap_marks_add() is the only source of marks.
 */
void tap_marks_open(struct tap_marks *m, struct tap_pids *pids, struct tap_porter *porter);
void tap_marks_release(struct tap_marks *m);

/* Set @f to the format of the mark event, for the recording's head. Return: 0 or -ENOMEM. */
int tap_marks_describe(struct tap_marks *m, struct tap_head_format *f);

/* Start to record marks. @writer: borrowed. */
void tap_marks_start(struct tap_marks *m, struct tap_page_writer *writer);
/* Give later marks a time of at least @start_ns, where the file that gets them begins. */
void tap_marks_begin_file(struct tap_marks *m, uint64_t start_ns);
/* The task that marks. */
struct tap_mark_task {
	int tid; /* in the initial pid namespace; 0: not known */
	char comm[16]; /* not NUL-terminated if full */
};

/* @pid: in the recorder's pid namespace; 0: not known. */
struct tap_mark_task tap_marks_task(const struct tap_marks *m, pid_t pid);
/*
 * Add a mark. @len: bytes of @text; text beyond TAP_MARK_MAX_TEXT is cut. Return: 0; -errno with a
 * sentence.
 */
int tap_marks_add(struct tap_marks *m, uint64_t at_ns, const struct tap_mark_task *task,
		  const char *text, size_t len, struct tap_err *err);
/*
 * Add the marks that were requested, and hand all marks to the page writer. Return: 0; -errno with
 * a sentence.
 */
int tap_marks_drain(struct tap_marks *m, struct tap_drain *res, struct tap_err *err);

#endif
