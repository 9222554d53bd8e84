/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Holes, losses and breaks: what the survey knows to be missing takes effect when its time comes.
 */
#ifndef TAP_TIMELINE_HOLES_H
#define TAP_TIMELINE_HOLES_H

#include "timeline/internal.h"

/* Sets when the next one begins. */
void tap_holes_await(struct tap_timeline *t);
/* Those that began before @now. Return: 0; -ENOMEM; what a watcher returned. */
int tap_holes_begin(struct tap_timeline *t, uint64_t now);
/* Without a survey: one is seen that ended then. */
void tap_hole_see(struct tap_timeline *t, uint64_t end_ns);
/* An event that is a loss. Return: as above. */
int tap_loss_take(struct tap_timeline *t, const struct tap_event *ev);
/* Return: what the survey knows of how the task that is switched in now on @cpu leaves it unseen.
 */
const struct tap_break *tap_break_find(struct tap_timeline *t, int cpu, uint64_t now);

#endif
