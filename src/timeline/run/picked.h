/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Feed the events that match the user's options, one by one, with task identities as of each event.
 */
#ifndef TAP_RUN_PICKED_H
#define TAP_RUN_PICKED_H

#include "timeline/run/run.h"

/*
 * Call @event for each matching event and for each loss, in time order; @kind is NULL for a loss.
 * @run must be open; its .timeline is made here and tracks only identities (.lives_only).
 *
 * Return: 0; a value other than 0 that @event returned, in which case @err is not set; -errno with
 * a sentence.
 */
int tap_run_feed_picked(struct tap_run *run,
			int (*event)(void *ctx, const struct tap_event_kind *kind,
				     const struct tap_event *ev),
			void *ctx, struct tap_err *err);
/*
 * Add tasks that only the recording's lists contain to the timeline. If no event matched, call this
 * before tap_unmatched() (unmatched.h). Return: 0 or -ENOMEM.
 */
int tap_run_add_listed(struct tap_run *run);

#endif
