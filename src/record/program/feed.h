/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What feeds an event: a tracepoint, or a program's probe. */
#ifndef TAP_PROGRAM_FEED_H
#define TAP_PROGRAM_FEED_H

#include "event/defs.h"
#include "record/program/probe.h"

struct tap_feed {
	const char *tracepoint; /* borrowed */
	struct tap_probe *probe; /* NULL: it is the tracepoint */
};

/*
 * Reads a probe's file. Return: 0; as tap_probe_new(). After an error there is nothing to be
 * released.
 */
int tap_feed_open(struct tap_feed *f, const struct tap_hook *hook, struct tap_err *err);
void tap_feed_release(struct tap_feed *f);

#endif
