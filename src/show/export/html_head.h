/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page's head data (docs/internals/html.md): the recording, the options, and a list of the
 * page's contents.
 */
#ifndef TAP_EXPORT_HTML_HEAD_H
#define TAP_EXPORT_HTML_HEAD_H

#include "show/drawn/lanes.h"
#include "show/out/input.h"
#include "show/perfetto/machine.h"

struct tap_html_head {
	bool is_served;
	const struct tap_input_opts *input;
	const struct tap_pf_machine *machine; /* NULL: the page's only one */
	struct tap_run *run; /* surveyed; .rec.wall has been determined */
	const struct tap_lanes *lanes;
	/*
	 * Slices in the page, of all slices; not used if @is_served: then the page can get all of
	 * them.
	 */
	uint64_t nr_held, nr_slices;
	/* contents of these JSON members, without the brackets */
	const char *reports, *failed, *parts;
};

/* Append the head to @out, which keeps errors. */
void tap_html_head_put(const struct tap_html_head *head, struct tap_buf *out);

#endif
