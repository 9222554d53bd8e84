/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* -p -t -c -g -C that fit nothing: what was meant, perhaps. */
#ifndef TAP_RUN_UNMATCHED_H
#define TAP_RUN_UNMATCHED_H

#include "timeline/run/run.h"

/*
 * Notes a sentence for each option that fits nothing of what the timeline has had, with the nearest
 * that it has; where each fits something, but no task fits all, that. Return: whether there was
 * one.
 */
bool tap_unmatched(const struct tap_run *run);

#endif
