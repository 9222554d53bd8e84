/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* List the events that are enabled in tracefs, by any user. Nothing is changed. */
#ifndef TAP_RECORD_TRACEFS_ENABLED_H
#define TAP_RECORD_TRACEFS_ENABLED_H

#include <stdbool.h>

#include "schedtap/err.h"

struct tap_tracefs_enabled {
	const char *instance; /* NULL: the top-level buffer */
	const char *system, *name;
	const char *filter; /* NULL: no filter */
	const char *triggers; /* one per line; NULL: no triggers */
	/*
	 * enabled only for triggers, its own or another event's: not recorded until a trigger
	 * enables it
	 */
	bool is_soft;
};

/*
 * Call @report for each event: first those of the top-level buffer, then those of the instances by
 * name. @root: from tap_tracefs_find(). An instance that is removed in the meantime is skipped.
 * Return: 0; -errno of reading.
 */
int tap_tracefs_enabled(char *root, void (*report)(void *ctx, const struct tap_tracefs_enabled *ev),
			void *ctx, struct tap_err *err);

#endif
