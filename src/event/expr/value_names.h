/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_EXPR_VALUE_NAMES_H
#define TAP_EXPR_VALUE_NAMES_H

#include "event/format.h"
#include "event/span.h"

/*
 * Find the value that an event's print format names: in a __print_symbolic() or __print_flags() of
 * this field, or the name for 0 if flags are printed only when one is set ("R" of sched_switch's
 * prev_state). Return: false if it has no such name.
 */
bool tap_value_name_find(const struct tap_format *fmt, const struct tap_field *field,
			 struct span name, uint64_t *value);

#endif
