/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which events are on in tracefs, whoever switched them on. Nothing is changed. */
#ifndef TAP_RECORD_TRACEFS_ENABLED_H
#define TAP_RECORD_TRACEFS_ENABLED_H

#include <stdbool.h>

#include "schedtap/err.h"

struct tap_tracefs_enabled {
	const char *instance; /* NULL: the top buffer */
	const char *system, *name;
	const char *filter; /* NULL: none */
	const char *triggers; /* a line each; NULL: none */
	/* it is there for triggers, its own or another event's, and not recorded until one says so
	 */
	bool is_soft;
};

/*
 * Tells of each: the top buffer's, then those of each instance, in the order of their names. @root:
 * from tap_tracefs_find(). An instance that goes meanwhile is passed over. Return: 0; -errno of
 * reading.
 */
int tap_tracefs_enabled(char *root, void (*tell)(void *ctx, const struct tap_tracefs_enabled *ev),
			void *ctx, struct tap_err *err);

#endif
