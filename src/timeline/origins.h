/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Origins (survey.h): what a CPU runs is known from a time at which it was not switched. */
#ifndef TAP_TIMELINE_ORIGINS_H
#define TAP_TIMELINE_ORIGINS_H

#include "timeline/internal.h"

/* Its time has come. Return: 0; -ENOMEM; what a watcher returned. */
int tap_origin_begin(struct tap_timeline *t, const struct tap_origin *o);

#endif
