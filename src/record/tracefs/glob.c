// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tracefs/glob.h"

#include <errno.h>
#include <stdbool.h>

#include "base/glob.h"

/*
 * Write a set in the syntax of the kernel's glob_match(). ']' and '-' are literal at the beginning;
 * '-' is written as the range "---", or at the end if ']' comes first. '!' is literal anywhere but
 * at the beginning; it is never the only character of a set.
 */
static void put_set(bool in[256], struct tap_buf *out)
{
	bool negate = in[1], bracket = in[']'] != negate, dash = in['-'] != negate;
	bool mark = in['!'] != negate;

	in[']'] = in['-'] = in['!'] = negate;
	tap_buf_puts(out, negate ? "[!" : "[");
	tap_buf_puts(out, bracket ? "]" : dash ? "---" : "");
	for (unsigned int c = 1, last; c < 256; c = last + 1) {
		for (last = c; last < 255 && in[last + 1] == in[c]; last++)
			;
		if (in[c] == negate)
			continue;
		tap_buf_char(out, (char)c);
		if (last > c + 1)
			tap_buf_char(out, '-');
		if (last > c)
			tap_buf_char(out, (char)last);
	}
	tap_buf_puts(out, mark ? "!" : "");
	tap_buf_puts(out, bracket && dash ? "-]" : "]");
}

static void put_element(bool in[256], bool first, struct tap_buf *out)
{
	unsigned int nr = 0, any = 0;

	for (unsigned int c = 1; c < 256; c++)
		if (in[c]) {
			nr++;
			any = c;
		}
	if (nr == 255) {
		tap_buf_char(out, '?');
	} else if (nr == 1) {
		if (first || strchr("*?[\\", (int)any))
			tap_buf_char(out, '\\');
		tap_buf_char(out, (char)any);
	} else {
		put_set(in, out);
	}
}

/* The kernel matches patterns that begin with "***", '\\', '?' or '[' by glob_match(). */
int tap_tracefs_glob(const char *glob, struct tap_buf *out)
{
	bool in[256], first = true;

	for (const char *p = glob; *p; first = false) {
		if (*p == '*') {
			tap_buf_puts(out, first ? "***" : "*");
			p++;
		} else if (tap_glob_element(&p, in)) {
			return -ENOMEM;
		} else if (!memchr(in, true, sizeof(in))) {
			return -EINVAL;
		} else {
			put_element(in, first, out);
		}
	}
	return 0;
}
