/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `schedtap list --enabled`: the events that somebody has switched on, and who. */
#ifndef TAP_CLI_ENABLED_H
#define TAP_CLI_ENABLED_H

#include "record/tracefs/tracefs.h"

struct btf;
struct tap_select;

struct tap_enabled_from {
	char *root; /* of tracefs; NULL: it cannot be read */
	const struct tap_tracefs_list *list; /* its events */
	const struct btf *btf; /* the kernel's; NULL as well */
};

/* Prints those that @select names, as far as they can be read. @nr: how many. Return: 0; -errno of
 * what cannot be read. */
int tap_enabled_print(const struct tap_enabled_from *from, const struct tap_select *select,
		      unsigned int *nr, struct tap_err *err);

#endif
