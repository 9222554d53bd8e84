/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_EXPR_VALUE_NAMES_H
#define TAP_EXPR_VALUE_NAMES_H

#include "event/format.h"
#include "event/span.h"

/*
 * The value that an event's print format has a name for: of __print_symbolic() and __print_flags()
 * of this field, and what stands for 0 where flags are printed only if there are some ("R" of
 * sched_switch's prev_state). Return: whether there is such a name.
 */
bool tap_value_name_find(const struct tap_format *fmt, const struct tap_field *field,
			 struct span name, uint64_t *value);

#endif
