// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "view/page.h"

#include "export/html_file.h"
#include "export/html_head.h"
#include "export/html_reports.h"

static void put_head(struct tap_buf *out, struct tap_parts *p)
{
	struct tap_buf reports = { 0 };
	struct tap_html_head head = {
		.is_served = true, .run = &p->run, .lanes = &p->lanes, .nr_held = p->drawn.slices, .nr_slices = p->drawn.slices,
		.failed = "", .parts = "",
	};

	for (unsigned int i = 0; tap_html_report_name(i); i++)
		tap_buf_printf(&reports, "%s\"%s\"", i ? "," : "", tap_html_report_name(i));
	head.reports = tap_buf_str(&reports);
	pthread_mutex_lock(&p->lock);
	tap_html_head_put(&head, out);
	pthread_mutex_unlock(&p->lock);
	tap_buf_release(&reports);
}

void tap_view_page(struct tap_buf *out, struct tap_parts *p)
{
	struct tap_buf head = { 0 };

	put_head(&head, p);
	tap_html_put_until(out, TAP_HTML_CONNECT);
	tap_buf_puts(out, TAP_HTML_CONNECT_SELF);
	tap_html_put_until(out, TAP_HTML_HEAD);
	tap_html_put_json(out, head.data, head.len);
	for (enum tap_html_slot slot = TAP_HTML_REPORTS; slot <= TAP_HTML_END; slot++)
		tap_html_put_until(out, slot);
	out->err = out->err ?: head.err;
	tap_buf_release(&head);
}
