// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tap_summary_new(uint64_t start_ns, uint64_t end_ns, struct tap_summary **out)
{
	struct tap_summary *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s)
		return -ENOMEM;
	if (tap_timeline_new(&s->timeline)) {
		free(s);
		return -ENOMEM;
	}
	tap_timeline_window(s->timeline, start_ns, end_ns);
	*out = s;
	return 0;
}

void tap_summary_free(struct tap_summary *s)
{
	if (!s)
		return;
	tap_timeline_free(s->timeline);
	tap_map_release(&s->by_format);
	free(s->kinds);
	free(s);
}

static int count(struct tap_summary *s, const struct tap_event *ev)
{
	uint64_t *slot = tap_map_put(&s->by_format, (uintptr_t)ev->fmt);
	struct tap_summary_kind *kinds;

	if (!slot)
		return -ENOMEM;
	if (!*slot) { /* index + 1 */
		kinds = reallocarray(s->kinds, s->nr_kinds + 1, sizeof(*kinds));
		if (!kinds)
			return -ENOMEM;
		s->kinds = kinds;
		kinds[s->nr_kinds] = (struct tap_summary_kind){ .fmt = ev->fmt };
		*slot = ++s->nr_kinds;
	}
	s->kinds[*slot - 1].count++;
	s->events++;
	s->bytes += ev->size;
	return 0;
}

int tap_summary_event(struct tap_summary *s, const struct tap_event *ev)
{
	int ret = tap_timeline_event(s->timeline, ev);

	if (ret || !tap_timeline_counts(s->timeline, ev))
		return ret;
	if (ev->fmt)
		return count(s, ev);
	s->loss_intervals++;
	s->lost_unknown |= !ev->lost.count;
	if (__builtin_add_overflow(s->lost, ev->lost.count, &s->lost))
		s->lost = UINT64_MAX;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct tap_summary_kind *x = a, *y = b;
	int order;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = strcmp(x->fmt->system, y->fmt->system);
	return order ? order : strcmp(x->fmt->name, y->fmt->name);
}

int tap_summary_end(struct tap_summary *s)
{
	if (s->nr_kinds)
		qsort(s->kinds, s->nr_kinds, sizeof(*s->kinds), by_count);
	tap_map_release(&s->by_format);
	tap_timeline_span(s->timeline, &s->start_ns, &s->end_ns);
	return tap_timeline_end(s->timeline);
}
