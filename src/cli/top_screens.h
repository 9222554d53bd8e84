/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `schedtap top` on a terminal: refreshes, keys, and what they start. */
#ifndef TAP_CLI_TOP_SCREENS_H
#define TAP_CLI_TOP_SCREENS_H

#include "cli/top_source.h"
#include "show/top/ui.h"

struct tap_top_screens_opts {
	int64_t nr; /* refreshes; 0: without end */
	const char *at; /* of a recording: the time to begin at, as typed; NULL */
	const char *file; /* of a recording; NULL: live */
	uint64_t warn_ns, bad_ns; /* 0: as usual */
};

/* Show screens until the user quits. @s: open. Return: 0; -errno with a sentence. */
int tap_top_screens(struct tap_top_source *s, const struct tap_top_screens_opts *o,
		    struct tap_err *err);

#endif
