/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The cgroups of a recording, by their kernfs ids: as its description lists them. */
#ifndef TAP_ANALYSIS_CGROUPS_H
#define TAP_ANALYSIS_CGROUPS_H

#include <jansson.h>

#include "base/map.h"

struct tap_cgroups {
	struct tap_map paths; /* id -> const char *, borrowed from the meta */
	struct tap_map limited; /* ids of those with a CPU quota */
	bool knows_quotas;
};

/* Of an empty @c. @meta: or NULL; must outlive @c. Return: 0 or -ENOMEM: release in either case. */
int tap_cgroups_init(struct tap_cgroups *c, const json_t *meta);
void tap_cgroups_release(struct tap_cgroups *c);

const char *tap_cgroups_path(const struct tap_cgroups *c, uint64_t id); /* or NULL */
/* Whether tasks of this one may be throttled. @id: 0: not known. Return: 1 or 0; -1: not known. */
int tap_cgroups_throttles(const struct tap_cgroups *c, uint64_t id);

#endif
