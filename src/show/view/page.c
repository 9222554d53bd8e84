// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/view/page.h"

#include "base/text.h"
#include "show/export/html_file.h"
#include "show/export/html_head.h"
#include "show/export/html_reports.h"

/* List the reports, and those that cannot be made because the recording lacks their events. */
static void put_reports(struct tap_buf *names, struct tap_buf *failed, const struct tap_run *run)
{
	struct tap_err why = { 0 };
	const char *name;

	for (unsigned int i = 0; (name = tap_html_report_name(i)); i++) {
		if (!tap_html_report_check(i, run, &why)) {
			tap_buf_printf(names, "%s\"%s\"", names->len ? "," : "", name);
			continue;
		}
		tap_buf_printf(failed, "%s\"%s\":", failed->len ? "," : "", name);
		tap_text_json(failed, why.text, strlen(why.text));
	}
}

static void put_head(struct tap_buf *out, struct tap_parts *p)
{
	struct tap_buf reports = { 0 }, failed = { 0 };
	struct tap_html_head head = {
		.is_served = true,
		.input = p->input,
		.run = &p->run,
		.lanes = &p->lanes,
		.parts = "",
	};

	put_reports(&reports, &failed, &p->run);
	head.reports = tap_buf_str(&reports);
	head.failed = tap_buf_str(&failed);
	tap_html_head_put(&head, out);
	tap_buf_release(&reports);
	tap_buf_release(&failed);
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
