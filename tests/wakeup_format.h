/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A format for sched_wakeup, which schedtap does not define: sched_waking's under another name. */
#ifndef TESTS_WAKEUP_FORMAT_H
#define TESTS_WAKEUP_FORMAT_H

#include <string.h>

#include "event/defs.h"

#define WAKEUP_ID 0x6fffu

static inline void wakeup_format(struct tap_buf *out)
{
	struct tap_buf text = { 0 };

	tap_def_format(tap_def_find("sched", "sched_waking"), NULL, NULL, &text);
	tap_buf_printf(out, "name: sched_wakeup\nID: %u%s", WAKEUP_ID,
		       strchr(strstr(tap_buf_str(&text), "ID: "), '\n'));
	tap_buf_release(&text);
}

#endif
