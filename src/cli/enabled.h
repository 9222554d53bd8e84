/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `schedtap list --enabled`: the enabled events, and what enabled them. */
#ifndef TAP_CLI_ENABLED_H
#define TAP_CLI_ENABLED_H

#include "record/tracefs/tracefs.h"

struct btf;
struct tap_select;

struct tap_enabled_from {
	char *root; /* tracefs; NULL: it cannot be read */
	const struct tap_tracefs_list *list; /* the events in tracefs */
	const struct btf *btf; /* the kernel's types; NULL: they cannot be read */
};

/*
 * Print the enabled events that @select matches, as far as they can be read. @nr: set to their
 * number. Return: 0; -errno of the part that cannot be read.
 */
int tap_enabled_print(const struct tap_enabled_from *from, const struct tap_select *select,
		      unsigned int *nr, struct tap_err *err);

#endif
