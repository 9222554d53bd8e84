/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Choose the windows for which a page has further parts: around the longest waits, if the recording
 * has too many slices to include all of them.
 */
#ifndef TAP_EXPORT_HTML_PARTS_H
#define TAP_EXPORT_HTML_PARTS_H

#include "base/buf.h"
#include "base/window.h"

#define TAP_HTML_WINDOWS 10u
#define TAP_HTML_PART_SLICES 20000u

struct tap_html_windows { /* sorted; windows do not touch */
	struct tap_window v[TAP_HTML_WINDOWS];
	unsigned int nr;
};

/*
 * Find the windows. @explain: the explain report as JSON; malformed parts are ignored. @page: the
 * page's window.
 * @slices: number of slices in it, assumed to be evenly distributed.
 */
void tap_html_windows_find(struct tap_html_windows *w, const struct tap_buf *explain,
			   struct tap_window page, uint64_t slices);

#endif
