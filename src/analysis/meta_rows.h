/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of a recording's description: JSON arrays that a file may have damaged. */
#ifndef TAP_ANALYSIS_META_ROWS_H
#define TAP_ANALYSIS_META_ROWS_H

#include <jansson.h>
#include <stdbool.h>

/* Whether the number at @i is one from 0 to @max; in @v. */
static inline bool tap_meta_number(const json_t *row, size_t i, json_int_t max, json_int_t *v)
{
	const json_t *n = json_array_get(row, i);

	*v = json_integer_value(n);
	return json_is_integer(n) && *v >= 0 && *v <= max;
}

#endif
