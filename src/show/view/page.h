/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page that is served: that of `schedtap export --to html`, without its data. */
#ifndef TAP_VIEW_PAGE_H
#define TAP_VIEW_PAGE_H

#include "show/view/parts.h"

/* Append the page to @out, which keeps errors. Call it before any part is requested. */
void tap_view_page(struct tap_buf *out, struct tap_parts *p);

#endif
