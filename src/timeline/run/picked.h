/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events that the options pick, one by one, with who is who at each of them. */
#ifndef TAP_RUN_PICKED_H
#define TAP_RUN_PICKED_H

#include "timeline/run/run.h"

/*
 * In the order of time, losses among them. @run: open; .timeline is made, of lives alone. @event:
 * @kind is NULL for a loss. Return: 0; what @event returned where that is not 0, which is not in
 * @err; -errno with a sentence.
 */
int tap_run_feed_picked(struct tap_run *run,
			int (*event)(void *ctx, const struct tap_event_kind *kind,
				     const struct tap_event *ev),
			void *ctx, struct tap_err *err);
/* Nothing was picked: for tap_unmatched() (unmatched.h), what the recording's lists name alone.
 * Return: 0 or -ENOMEM. */
int tap_run_add_listed(struct tap_run *run);

#endif
