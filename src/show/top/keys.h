/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do on the screens of `schedtap top`. */
#ifndef TAP_SHOW_TOP_KEYS_H
#define TAP_SHOW_TOP_KEYS_H

#include "show/screen/keys.h"
#include "show/top/ui.h"

/* What the caller does after a key. */
enum tap_top_action {
	TAP_TOP_NOTHING, /* draw again */
	TAP_TOP_QUIT,
	TAP_TOP_EXPLAIN, /* explain the worst waits of .tid */
	TAP_TOP_SAVE, /* save the last 10 s */
	TAP_TOP_RECORD, /* begin or end a recording */
	TAP_TOP_OPEN, /* make the HTML report of what was saved */
	TAP_TOP_FREEZE, /* .frozen has changed */
	TAP_TOP_MOVE, /* a recording: move by .move refreshes, which may be negative */
};

/* Return: what the caller has to do. */
enum tap_top_action tap_top_key(struct tap_top_ui *ui, const struct tap_top_shown *shown,
				uint32_t key);

#endif
