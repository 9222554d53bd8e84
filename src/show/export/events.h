/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Forms with a line for each event that the options pick. */
#ifndef TAP_EXPORT_EVENTS_H
#define TAP_EXPORT_EVENTS_H

#include "show/export/export.h"

/* .check of such a form: options of other forms do not go with it. */
int tap_export_check_events(const struct tap_export_opts *opts, struct tap_err *err);
/* @head: what stands before them; emptied. Return: 0; -errno with a sentence. */
int tap_export_write_events(struct tap_export *e, const struct tap_style *style,
			    struct tap_buf *head, struct tap_err *err);

#endif
