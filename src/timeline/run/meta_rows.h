/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Read rows of a recording's description: JSON arrays from a file, which may be damaged. */
#ifndef TAP_ANALYSIS_META_ROWS_H
#define TAP_ANALYSIS_META_ROWS_H

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>

#include "base/map.h"

/* Read element @i of @row into *@v. Return true if it is an integer from 0 to @max. */
static inline bool tap_meta_number(const json_t *row, size_t i, json_int_t max, json_int_t *v)
{
	const json_t *n = json_array_get(row, i);

	*v = json_integer_value(n);
	return json_is_integer(n) && *v >= 0 && *v <= max;
}

/* Put the elements of @ids that are integers from 0 to @max into @map. Return: 0 or -ENOMEM. */
static inline int tap_meta_ids(struct tap_map *map, const json_t *ids, json_int_t max)
{
	json_int_t id;

	for (size_t i = 0; i < json_array_size(ids); i++)
		if (tap_meta_number(ids, i, max, &id) && !tap_map_put(map, (uint64_t)id))
			return -ENOMEM;
	return 0;
}

#endif
