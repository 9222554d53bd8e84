/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A page's head (docs/internals/html.md): what it is of, and what it has. */
#ifndef TAP_EXPORT_HTML_HEAD_H
#define TAP_EXPORT_HTML_HEAD_H

#include "show/drawn/lanes.h"
#include "show/out/input.h"

struct tap_html_head {
	bool is_served;
	const struct tap_input_opts *input;
	struct tap_run *run; /* surveyed; its dates are worked out */
	const struct tap_lanes *lanes;
	uint64_t nr_held, nr_slices; /* of all; where it is served all can be had */
	/* what these members hold, as JSON without the brackets */
	const char *reports, *failed, *parts;
};

/* Errors stay in @out. */
void tap_html_head_put(const struct tap_html_head *head, struct tap_buf *out);

#endif
