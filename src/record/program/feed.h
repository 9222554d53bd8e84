/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The source of an event: a kernel tracepoint, or a probe of a user program. */
#ifndef TAP_PROGRAM_FEED_H
#define TAP_PROGRAM_FEED_H

#include "event/defs.h"
#include "record/program/probe.h"

struct tap_feed {
	const char *tracepoint; /* borrowed */
	struct tap_probe *probe; /* NULL: the source is the tracepoint */
};

/*
 * For a probe, reads the program's file. Return: 0 or the errors of tap_probe_new(). After an error
 * there is nothing to release.
 */
int tap_feed_open(struct tap_feed *f, const struct tap_hook *hook, struct tap_err *err);
void tap_feed_release(struct tap_feed *f);

#endif
