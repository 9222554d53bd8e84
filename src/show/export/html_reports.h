/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reports that a page has, as their commands print them with --json. */
#ifndef TAP_EXPORT_HTML_REPORTS_H
#define TAP_EXPORT_HTML_REPORTS_H

#include "show/report/report.h"

#define TAP_HTML_ROWS 1000u /* of a list; what is behind them is counted */

/* By number, from 0 on. Return: NULL: there are no more. */
const char *tap_html_report_name(unsigned int i);
/* Whether what the report needs was recorded. @run: surveyed. Return: 0; -ENODATA with a sentence.
 */
int tap_html_report_check(unsigned int i, const struct tap_run *run, struct tap_err *err);
/*
 * Adds to @json what the report says of what @input names; lists are cut, and the member "omitted"
 * says how much is not there. @listener: NULL: nobody listens. Return: 0; -errno with a sentence.
 */
int tap_html_report_run(unsigned int i, const struct tap_input_opts *input,
			const struct tap_listener *listener, struct tap_buf *json,
			struct tap_err *err);

#endif
