/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applies origins (survey.h): what a CPU ran before its first recorded switch. */
#ifndef TAP_TIMELINE_ORIGINS_H
#define TAP_TIMELINE_ORIGINS_H

#include "timeline/internal.h"

/*
 * The timeline reached the origin's start: its task runs on its CPU from now on. Return: 0;
 * -ENOMEM; what a watcher returned.
 */
int tap_origin_begin(struct tap_timeline *t, const struct tap_origin *o);

#endif
