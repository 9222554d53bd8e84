/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reports in a page, as their commands print them with --json. */
#ifndef TAP_EXPORT_HTML_REPORTS_H
#define TAP_EXPORT_HTML_REPORTS_H

#include "show/report/report.h"

#define TAP_HTML_ROWS 1000u /* rows kept of a list; the rows omitted are counted */

/* Return: the name of report @i, from 0 on; NULL: no more reports. */
const char *tap_html_report_name(unsigned int i);
/*
 * Check that the recording has the events that the report needs. @run: surveyed. Return: 0;
 * -ENODATA with a sentence.
 */
int tap_html_report_check(unsigned int i, const struct tap_run *run, struct tap_err *err);
/*
 * Run report @i on the recording that @input names, and append its JSON to @json. Long lists are
 * cut; the member "omitted" has the number of rows left out of each. @listener: may be NULL.
 * Return: 0; -errno with a sentence.
 */
int tap_html_report_run(unsigned int i, const struct tap_input_opts *input,
			const struct tap_listener *listener, struct tap_buf *json,
			struct tap_err *err);

#endif
