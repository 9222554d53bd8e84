/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of one's own: a header in the kernel's TRACE_EVENT() syntax, with TRACE_HOOK() and
 *TRACE_NEEDS(), read at run time into what a schedtap that was built with it would have of it
 *(event/defs.h).
 *
 *	struct tap_defs d = { 0 };
 *
 *	ret = tap_defs_read(&d, "queue.h", &err);
 *	for (unsigned int i = 0; i < d.nr; i++)
 *		use(tap_defs_at(&d, i));
 *	tap_defs_release(&d);
 */
#ifndef TAP_DEFINE_DEFINE_H
#define TAP_DEFINE_DEFINE_H

#include "event/define/arena.h"
#include "event/defs.h"

#define TAP_DEFS_MAX 256u /* definitions */

struct tap_own_def;
struct tap_source;

/* {0} is none. */
struct tap_defs {
	struct tap_own_def **v; /* in the order in which they were read */
	unsigned int nr, cap;
	struct tap_source *sources; /* all files that were read */
	struct tap_arena arena;
};

/*
 * Adds what the file defines; may be called for several files. Each event is fed by a tracepoint at
 * least, and there are not two of one system and name. One that has those of a built-in event is
 * meant to take its place. Ids go on where those of the built-in events end. Return: 0; -EINVAL
 * with "FILE:LINE: sentence", the line and a caret below it; -EFBIG of a file above
 * TAP_SOURCE_MAX_BYTES; -errno of reading one; -ENOMEM. After an error @d is there to be released.
 */
int tap_defs_read(struct tap_defs *d, const char *path, struct tap_err *err);
/* The same of a text. @path: of errors, and what its includes are relative to. */
int tap_defs_read_text(struct tap_defs *d, const char *path, const char *text, size_t len,
		       struct tap_err *err);
void tap_defs_release(struct tap_defs *d);

/* Borrowed from @d. Return: NULL past the last one. */
const struct tap_def *tap_defs_at(const struct tap_defs *d, unsigned int index);

/*
 * An error in what was read: "FILE:LINE: sentence", the line and a caret.
 * @def: one of tap_defs_at(). @at: in its .assign, .condition, .params or .print_fmt; of anything
 *else the error is at the event's name. Return: -EINVAL.
 */
int tap_defs_fail(const struct tap_def *def, const char *at, struct tap_err *err, const char *fmt,
		  ...) TAP_PRINTF(4, 5);

#endif
