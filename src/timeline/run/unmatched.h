/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Suggestions for values of -p, -t, -c, -g and -C that match nothing. */
#ifndef TAP_RUN_UNMATCHED_H
#define TAP_RUN_UNMATCHED_H

#include "timeline/run/run.h"

/*
 * Send a note for each option that matches no task or CPU the timeline has seen, with the most
 * similar value that would match. If each option matches some task but no task matches all of them,
 * send a note about that. Return true if a note was sent.
 */
bool tap_unmatched(const struct tap_run *run);

#endif
