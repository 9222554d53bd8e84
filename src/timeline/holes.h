/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applies the holes, losses and broken chains that the survey found, each when the timeline reaches
 * its time.
 */
#ifndef TAP_TIMELINE_HOLES_H
#define TAP_TIMELINE_HOLES_H

#include "timeline/internal.h"

/* Set the time when the next hole, loss or origin begins. */
void tap_holes_await(struct tap_timeline *t);
/* Apply all that began before @now, ns. Return: 0; -ENOMEM; what a watcher returned. */
int tap_holes_begin(struct tap_timeline *t, uint64_t now);
/* Without a survey: a hole was noticed that ended at @end_ns. */
void tap_hole_see(struct tap_timeline *t, uint64_t end_ns);
/* Process a loss event. Return: 0; -ENOMEM; what a watcher returned. */
int tap_loss_take(struct tap_timeline *t, const struct tap_event *ev);
/*
 * Return the survey's entry for a task that is switched in on @cpu at @now, ns, and will leave the
 * CPU without a recorded switch; NULL if it leaves normally.
 */
const struct tap_break *tap_break_find(struct tap_timeline *t, int cpu, uint64_t now);

#endif
