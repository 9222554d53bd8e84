/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-defined events: headers in the kernel's TRACE_EVENT() syntax, with TRACE_HOOK() and
 * TRACE_NEEDS(), read at run time into the same definitions (event/defs.h) that a schedtap built
 * with these headers would contain.
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

#define TAP_DEFS_MAX 256u /* maximum number of definitions */

struct tap_own_def;
struct tap_source;

/* A zeroed struct has no definitions. */
struct tap_defs {
	struct tap_own_def **v; /* in reading order */
	unsigned int nr, cap;
	struct tap_source *sources; /* all files that were read */
	struct tap_arena arena;
};

/*
 * Add the definitions of a file; may be called for several files. Each event needs at least one
 * tracepoint (except a replacement of a built-in event that has none), and the pair of system and
 * name must be unique. An event with the system and name of a built-in event replaces it. IDs
 * continue after those of the built-in events.
 * Return: 0; -EINVAL with "FILE:LINE: sentence", the line and a caret below it; -EFBIG if a file is
 * larger than TAP_SOURCE_MAX_BYTES; -errno of reading a file; -ENOMEM. After an error @d can only
 * be released.
 */
int tap_defs_read(struct tap_defs *d, const char *path, struct tap_err *err);
/*
 * Add the definitions of a text as tap_defs_read() does. @path: its name in errors; included files
 * are relative to it.
 */
int tap_defs_read_text(struct tap_defs *d, const char *path, const char *text, size_t len,
		       struct tap_err *err);
void tap_defs_release(struct tap_defs *d);

/* Return the definition at @index, borrowed from @d; NULL after the last. */
const struct tap_def *tap_defs_at(const struct tap_defs *d, unsigned int index);

/*
 * Report an error in a definition: "FILE:LINE: sentence", the line and a caret.
 * @def: a definition that tap_defs_at() returned. @at: the position of the error in its .assign,
 * .condition, .params or .print_fmt; any other pointer or NULL: the event's name. Return: -EINVAL.
 */
int tap_defs_fail(const struct tap_def *def, const char *at, struct tap_err *err, const char *fmt,
		  ...) TAP_PRINTF(4, 5);

#endif
