/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The filters (-f) of a selection, compiled for each event format of a recording. */
#ifndef TAP_ANALYSIS_FILTERS_H
#define TAP_ANALYSIS_FILTERS_H

#include <schedtap/event.h>

#include "base/map.h"
#include "event/expr/filter.h"
#include "event/select/select.h"

struct tap_kind_filters { /* all zero: no filters */
	struct tap_map by_format; /* -> struct tap_filter *, owned */
	bool wants_comm;
};

/*
 * A -e word may match several events whose fields differ. Its filter is used for those events that
 * have the fields it needs; the others are not filtered.
 *
 * @note: gets a sentence that names the events that are not filtered, or stays empty.
 *
 * Return: 0; -EINVAL with a sentence: the filter fits none of the events, or an event has two
 * filters; -ENOMEM.
 */
int tap_kind_filters_init(struct tap_kind_filters *k, const struct tap_select *s,
			  const struct tap_format *const *formats, unsigned int nr,
			  struct tap_buf *note, struct tap_err *err);
void tap_kind_filters_release(struct tap_kind_filters *k);

/* Return: NULL: the event has no filter, so every such event is wanted. */
static inline const struct tap_filter *tap_kind_filter(const struct tap_kind_filters *k,
						       const struct tap_format *fmt)
{
	const uint64_t *f = k->by_format.cap ? tap_map_get(&k->by_format, (uintptr_t)fmt) : NULL;

	return f ? (const struct tap_filter *)(uintptr_t)*f : NULL;
}

#endif
