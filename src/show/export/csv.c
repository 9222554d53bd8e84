// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events as a CSV table, as printed by `dump --csv`. */
#include "show/export/events.h"

static int write_csv(struct tap_export *e, struct tap_err *err)
{
	struct tap_buf head = { 0 };

	return tap_export_write_events(e, &tap_style_csv, &head, err);
}

const struct tap_export_form tap_export_csv = { .name = "csv",
						.check = tap_export_check_events,
						.write = write_csv };
