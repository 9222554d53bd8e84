/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The filter of an older recording, whose description has the recorder's command line and no
 * "only". */
#ifndef TAP_ANALYSIS_LIMITS_COMMAND_H
#define TAP_ANALYSIS_LIMITS_COMMAND_H

#include <jansson.h>

/*
 * Reads -p, -t, -c and --follow of `schedtap record`. Return: an object as "only" is
 * (file/meta.h), the caller's; NULL: no such option, or not all events of the tasks are
 * certain to be there: with -g or -C, filters of sched events, triggers, options that are not
 * understood, or numbers that no task of the recording has, as in a pid namespace.
 */
json_t *tap_limits_of_command(const json_t *meta);

#endif
