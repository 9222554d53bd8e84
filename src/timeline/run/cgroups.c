// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/cgroups.h"

#include <errno.h>

#include "timeline/run/meta_rows.h"

static int add_paths(struct tap_cgroups *c, const json_t *rows)
{
	const json_t *row;
	json_int_t id;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *path = json_string_value(json_array_get(row, 1));
		uint64_t *slot;

		if (!path || !tap_meta_number(row, 0, INT64_MAX, &id))
			continue;
		slot = tap_map_put(&c->paths, (uint64_t)id);
		if (!slot)
			return -ENOMEM;
		*slot = (uintptr_t)path;
	}
	return 0;
}

int tap_cgroups_init(struct tap_cgroups *c, const json_t *meta)
{
	const json_t *limited = json_object_get(meta, "quota_cgroups");

	c->knows_quotas = json_is_array(limited);
	return add_paths(c, json_object_get(meta, "cgroups"))
		       ?: tap_meta_ids(&c->limited, limited, INT64_MAX);
}

void tap_cgroups_release(struct tap_cgroups *c)
{
	tap_map_release(&c->paths);
	tap_map_release(&c->limited);
}

const char *tap_cgroups_path(const struct tap_cgroups *c, uint64_t id)
{
	const uint64_t *slot = tap_map_get(&c->paths, id);

	return slot ? (const char *)(uintptr_t)*slot : NULL;
}

int tap_cgroups_throttles(const struct tap_cgroups *c, uint64_t id)
{
	if (!c->knows_quotas || !id)
		return -1;
	return !!tap_map_get(&c->limited, id);
}
