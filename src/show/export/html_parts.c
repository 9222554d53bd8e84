// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/export/html_parts.h"

#include <jansson.h>
#include <stdlib.h>

#define WIDER 2u /* margin on either side, as a multiple of the wait */
#define LEAST_NS 1000000u /* least margin on either side, in ns */

/*
 * Return the wait with a margin on both sides. If the wait is too long for a part, only its end is
 * included.
 */
static struct tap_window window_around(uint64_t from_ns, uint64_t to_ns, struct tap_window page,
				       uint64_t most_ns)
{
	uint64_t margin_ns =
		WIDER * (to_ns - from_ns) > LEAST_NS ? WIDER * (to_ns - from_ns) : LEAST_NS;

	if (margin_ns > most_ns / 2)
		margin_ns = most_ns / 2;
	if (to_ns - from_ns > most_ns)
		from_ns = to_ns - most_ns;
	return (struct tap_window){
		from_ns - page.from_ns > margin_ns ? from_ns - margin_ns : page.from_ns,
		page.to_ns - to_ns > margin_ns ? to_ns + margin_ns : page.to_ns,
	};
}

static int by_begin(const void *a, const void *b)
{
	const struct tap_window *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void merge_windows(struct tap_html_windows *w)
{
	unsigned int nr = 0;

	qsort(w->v, w->nr, sizeof(*w->v), by_begin);
	for (unsigned int i = 1; i < w->nr; i++) {
		if (w->v[i].from_ns > w->v[nr].to_ns)
			w->v[++nr] = w->v[i];
		else if (w->v[i].to_ns > w->v[nr].to_ns)
			w->v[nr].to_ns = w->v[i].to_ns;
	}
	w->nr = w->nr ? nr + 1 : 0;
}

static uint64_t ns_of(const json_t *wait, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(wait, key));
}

void tap_html_windows_find(struct tap_html_windows *w, const struct tap_buf *explain,
			   struct tap_window page, uint64_t slices)
{
	json_t *report = json_loadb(explain->data, explain->len, 0, NULL), *wait;
	const uint64_t most_ns = (uint64_t)((double)tap_window_ns(&page) / (double)(slices ?: 1) *
					    TAP_HTML_PART_SLICES / 2);
	size_t i;

	w->nr = 0;
	json_array_foreach(json_object_get(report, "waits"), i, wait) {
		const uint64_t from_ns = tap_window_clip(&page, ns_of(wait, "from_ns")),
			       to_ns = tap_window_clip(&page, ns_of(wait, "to_ns"));

		if (w->nr < TAP_HTML_WINDOWS && from_ns < to_ns)
			w->v[w->nr++] = window_around(from_ns, to_ns, page, most_ns);
	}
	json_decref(report);
	merge_windows(w);
}
