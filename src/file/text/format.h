/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Layouts of events that texts show, also of those that a recorder cannot choose. */
#ifndef TAP_FILE_TEXT_FORMAT_H
#define TAP_FILE_TEXT_FORMAT_H

#include "event/defs.h"
#include "event/span.h"
#include "file/made.h"

/*
 * Return the definition that has the fields of an event; NULL if there is none. sched_wakeup has
 * those of sched_waking. @system: "" if it is not known.
 */
const struct tap_def *tap_format_def(struct span system, struct span name);

/* Return the short form of a definition (TRACE_FORM_OF()), or NULL. */
const struct tap_def *tap_format_short(const struct tap_def *def);

/*
 * Return the layout of the event called @name with the fields that @has says; NULL: all of them.
 * @def: of tap_format_def(). NULL: failed.
 */
const struct tap_format *tap_format_make(struct tap_made *m, const struct tap_def *def,
					 struct span name,
					 bool (*has)(void *ctx, const char *field), void *ctx);

#endif
