// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "view/page.h"

#include <inttypes.h>

#include "base/text.h"
#include "export/html_file.h"
#include "export/html_reports.h"

static void put_text(struct tap_buf *out, const char *key, const char *text)
{
	tap_buf_printf(out, ",\"%s\":", key);
	if (text && *text)
		tap_text_json(out, text, strlen(text));
	else
		tap_buf_puts(out, "null");
}

static void put_head(struct tap_buf *out, const struct tap_parts *p)
{
	const struct tap_run *run = &p->run;
	const uint64_t origin_ns = run->window.from_ns;

	tap_buf_puts(out, "{\"version\":1,\"program\":\"schedtap " TAP_VERSION "\",\"served\":true,\"recording\":{\"file\":");
	tap_text_json(out, run->rec.path, strlen(run->rec.path));
	put_text(out, "host", NULL);
	put_text(out, "kernel", tap_reader_info(run->rec.reader)->uname);
	put_text(out, "date", NULL);
	put_text(out, "command", NULL);
	tap_buf_printf(out, "},\"origin_ns\":\"%" PRIu64 "\",\"wall_ns\":", origin_ns);
	if (run->rec.wall.is_known)
		tap_buf_printf(out, "\"%" PRId64 "\"", tap_wall_from(&run->rec.wall, origin_ns));
	else
		tap_buf_puts(out, "null");
	tap_buf_printf(out, ",\"window_ns\":%" PRIu64 ",\"cpus\":[", tap_window_ns(&run->window));
	for (unsigned int i = 0; i < p->lanes.nr; i++)
		tap_buf_printf(out, "%s%u", i ? "," : "", p->lanes.cpus[i]);
	tap_buf_printf(out, "],\"slices\":{\"held\":%" PRIu64 ",\"of\":%" PRIu64 "},\"reports\":[", p->drawn.slices, p->drawn.slices);
	for (unsigned int i = 0; tap_html_report_name(i); i++)
		tap_buf_printf(out, "%s\"%s\"", i ? "," : "", tap_html_report_name(i));
	tap_buf_puts(out, "],\"failed\":{},\"parts\":[]}");
}

void tap_view_page(struct tap_buf *out, const struct tap_parts *p)
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
