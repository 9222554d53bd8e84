/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which format a client gets. */
#ifndef TAP_SHOW_METRICS_ACCEPT_H
#define TAP_SHOW_METRICS_ACCEPT_H

#include "show/metrics/writer.h"

/*
 * Return: the format that a client prefers; text if it names none that there is. @accept: the
 * Accept header; NULL: none.
 */
enum tap_metrics_format tap_metrics_accepted(const char *accept);
const char *tap_metrics_content_type(enum tap_metrics_format format);

#endif
