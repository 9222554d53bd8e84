/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The filters of a selection (-f), made for each kind of event that a recording has. */
#ifndef TAP_ANALYSIS_FILTERS_H
#define TAP_ANALYSIS_FILTERS_H

#include <schedtap/event.h>

#include "base/map.h"
#include "event/expr/filter.h"
#include "event/select/select.h"

struct tap_kind_filters { /* all zero: none */
	struct tap_map by_format; /* -> struct tap_filter *, owned */
	bool wants_comm;
};

/*
 * Fields differ: where a word of -e fits several kinds, its filter is for those that it makes sense
 * for, and the others are as without. @note: gets a sentence that names them, or nothing. Return:
 * 0; -EINVAL with a sentence: it makes sense for none, or an event has two filters; -ENOMEM.
 */
int tap_kind_filters_init(struct tap_kind_filters *k, const struct tap_select *s,
			  const struct tap_format *const *formats, unsigned int nr,
			  struct tap_buf *note, struct tap_err *err);
void tap_kind_filters_release(struct tap_kind_filters *k);

/* Return: NULL: there is none, all are wanted. */
static inline const struct tap_filter *tap_kind_filter(const struct tap_kind_filters *k,
						       const struct tap_format *fmt)
{
	const uint64_t *f = k->by_format.cap ? tap_map_get(&k->by_format, (uintptr_t)fmt) : NULL;

	return f ? (const struct tap_filter *)(uintptr_t)*f : NULL;
}

#endif
