/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Export formats that write one line per selected event. */
#ifndef TAP_EXPORT_EVENTS_H
#define TAP_EXPORT_EVENTS_H

#include "show/export/export.h"

/* .check of such a format: refuse options of other formats. */
int tap_export_check_events(const struct tap_export_opts *opts, struct tap_err *err);
/*
 * Write the selected events. @head: text to write first; emptied. Return: 0; -errno with a
 * sentence.
 */
int tap_export_write_events(struct tap_export *e, const struct tap_style *style,
			    struct tap_buf *head, struct tap_err *err);

#endif
