/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which parts a page has beside the one of its window: around the longest waits, where slices are
 * too many to have them all. */
#ifndef TAP_EXPORT_HTML_PARTS_H
#define TAP_EXPORT_HTML_PARTS_H

#include "base/buf.h"
#include "base/window.h"

#define TAP_HTML_WINDOWS 10u
#define TAP_HTML_PART_SLICES 20000u

struct tap_html_windows { /* in order; none touches another */
	struct tap_window v[TAP_HTML_WINDOWS];
	unsigned int nr;
};

/* @explain: the report, as JSON; what is not as it should be is passed over. @page: where there are
 * @slices, about equally. */
void tap_html_windows_find(struct tap_html_windows *w, const struct tap_buf *explain,
			   struct tap_window page, uint64_t slices);

#endif
