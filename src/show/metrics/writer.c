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

/*
 * Return true if the text at a backslash is "\xHH" as tap_metrics_value() writes it for another
 * byte. The names of systemd's units have others, such as "\x2d".
 */
static bool looks_escaped(const char *s)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *high = s[1] == 'x' && s[2] ? strchr(digits, s[2]) : NULL;
	const char *low = high && s[3] ? strchr(digits, s[3]) : NULL;
	long byte = low ? (high - digits) * 16 + (low - digits) : ' ';

	return byte < ' ' || byte == '\\' || byte >= 0x7f;
}

void tap_metrics_value(struct tap_buf *out, const char *value)
{
	for (const char *c; (c = strpbrk(value, "\\\t\n")); value = c + 1) {
		tap_text_escape(out, value, (size_t)(c - value));
		if (*c == '\\' && !looks_escaped(c))
			tap_buf_char(out, *c);
		else
			tap_buf_printf(out, "\\x%02X", (unsigned char)*c);
	}
	tap_text_escape(out, value, strlen(value));
}
