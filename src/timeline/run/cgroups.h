/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording's cgroups by kernfs ID, from the lists in its description. */
#ifndef TAP_ANALYSIS_CGROUPS_H
#define TAP_ANALYSIS_CGROUPS_H

#include <jansson.h>

#include "base/map.h"

struct tap_cgroups {
	struct tap_map paths; /* ID -> const char *, borrowed from the meta */
	struct tap_map limited; /* IDs of cgroups with a CPU quota */
	bool knows_quotas;
};

/*
 * Read the lists of @meta into @c, which is all zero. @meta: the recording's description, or NULL;
 * must outlive @c. Return: 0 or -ENOMEM; the caller releases @c in either case.
 */
int tap_cgroups_init(struct tap_cgroups *c, const json_t *meta);
void tap_cgroups_release(struct tap_cgroups *c);

const char *tap_cgroups_path(const struct tap_cgroups *c, uint64_t id); /* NULL: unknown */
/*
 * Return 1 if the cgroup has a CPU quota, so that its tasks may be throttled, and 0 if not; -1:
 * unknown, as for @id 0.
 */
int tap_cgroups_throttles(const struct tap_cgroups *c, uint64_t id);

#endif
