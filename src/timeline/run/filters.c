// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/filters.h"

#include <errno.h>

static int add_filter(struct tap_kind_filters *k, const struct tap_format *fmt, const char *text,
		      struct tap_err *err)
{
	struct tap_filter *f;
	int ret = tap_filter_new(fmt, text, &f, err);

	if (ret)
		return ret;
	k->wants_comm |= tap_filter_wants_comm(f);
	ret = tap_map_set(&k->by_format, (uintptr_t)fmt, (uintptr_t)f);
	if (ret)
		tap_filter_free(f);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

/*
 * Compile the filter of one -e word for all events that the word matches. An event that lacks the
 * filter's fields is noted; it is an error only if all of them lack the fields.
 */
static int add_word(struct tap_kind_filters *k, const struct tap_select *s,
		    const struct tap_select_word *w, const struct tap_format *const *formats,
		    unsigned int nr, struct tap_buf *note, struct tap_err *err)
{
	unsigned int added = 0, refused = 0;
	const char *filter;
	struct tap_err why;
	int ret = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (!tap_select_word_fits(w, formats[i]->system, formats[i]->name))
			continue;
		ret = tap_select_filter(s, formats[i]->system, formats[i]->name, &filter, err);
		if (!ret && !tap_kind_filter(k, formats[i]))
			ret = add_filter(k, formats[i], filter, added || refused ? &why : err);
		if (ret == -EINVAL && filter) {
			if (refused++ == 0)
				tap_buf_printf(note, "%s-f '%.200s' does not apply to",
					       note->len ? "; " : "", filter);
			tap_buf_printf(note, "%s %s:%s", refused > 1 ? "," : "", formats[i]->system,
				       formats[i]->name);
		} else if (ret) {
			return ret;
		}
		added += !ret;
	}
	if (refused && added)
		tap_buf_puts(note, ", all of which are shown");
	return refused && !added ? -EINVAL : 0;
}

int tap_kind_filters_init(struct tap_kind_filters *k, const struct tap_select *s,
			  const struct tap_format *const *formats, unsigned int nr,
			  struct tap_buf *note, struct tap_err *err)
{
	int ret = 0;

	*k = (struct tap_kind_filters){ 0 };
	for (unsigned int i = 0; !ret && i < s->nr_events; i++)
		if (s->events[i].filter)
			ret = add_word(k, s, &s->events[i], formats, nr, note, err);
	if (ret)
		tap_kind_filters_release(k);
	return ret;
}

void tap_kind_filters_release(struct tap_kind_filters *k)
{
	tap_map_for_each(&k->by_format, f)
		tap_filter_free((struct tap_filter *)(uintptr_t)f->value);
	tap_map_release(&k->by_format);
}
