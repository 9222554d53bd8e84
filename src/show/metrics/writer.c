// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/metrics/writer.h"

#include "base/text.h"

void tap_metrics_writer_init(struct tap_metrics_writer *w, enum tap_metrics_format format,
			     struct tap_buf *out)
{
	*w = (struct tap_metrics_writer){ .out = out, .format = format };
	if (format == TAP_METRICS_PROTOBUF)
		tap_metrics_protobuf_init(w);
	else
		tap_metrics_text_init(w);
}

void tap_metrics_writer_release(struct tap_metrics_writer *w)
{
	tap_buf_release(&w->labels);
	tap_buf_release(&w->value);
}

void tap_metrics_value(struct tap_buf *out, const char *value)
{
	/* a backslash stays as it is: it is in the names of systemd's units */
	for (const char *slash; (slash = strchr(value, '\\')); value = slash + 1) {
		tap_text_escape(out, value, (size_t)(slash - value));
		tap_buf_char(out, '\\');
	}
	tap_text_escape(out, value, strlen(value));
}
