/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long the quotas of cgroups were used up, as the kernel counts it (cpu.stat). */
#ifndef TAP_SHOW_METRICS_THROTTLED_H
#define TAP_SHOW_METRICS_THROTTLED_H

#include "show/metrics/totals.h"

/*
 * Read it for the cgroups whose tasks were throttled, and for their ancestors: the quota may be one
 * of theirs. A machine has thousands of cgroups, and few with a quota. @mount: of the hierarchy.
 * Return: 0 or -ENOMEM.
 */
int tap_throttled_read(struct tap_totals *t, const char *mount);

#endif
