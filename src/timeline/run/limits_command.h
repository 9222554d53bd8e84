/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The filter of an older recording, whose description has the recorder's command line instead of
 * "only".
 */
#ifndef TAP_ANALYSIS_LIMITS_COMMAND_H
#define TAP_ANALYSIS_LIMITS_COMMAND_H

#include <jansson.h>

/*
 * Parse -p, -t, -c, -C and --follow of `schedtap record`.
 *
 * Return: an object like "only" (file/meta.h), owned by the caller. NULL: none of these options was
 * given, or events of the tasks may be missing: because of -g, filters of sched events, triggers,
 * options that are not understood, or numbers that match no task of the recording, as in a pid
 * namespace.
 */
json_t *tap_limits_of_command(const json_t *meta);

#endif
