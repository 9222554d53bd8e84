// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/cmd.h"

int tap_cmd_fail(const struct tap_err *err, bool usage)
{
	struct tap_buf out = { 0 };
	const char *line = err->text;

	if (err->code == -EPIPE)
		return TAP_EXIT_OK;
	tap_buf_puts(&out, "schedtap: ");
	for (size_t len; *line; line += len + (line[len] == '\n')) {
		/* indent, so that the line cannot be mistaken for a message of its own */
		if (line != err->text)
			tap_buf_puts(&out, "    ");
		len = strcspn(line, "\n");
		tap_text_escape(&out, line, len);
		tap_buf_char(&out, '\n');
	}
	fflush(stdout);
	fwrite(out.data, 1, out.len, stderr);
	tap_buf_release(&out);
	switch (err->code) {
	case -EPERM:
	case -EACCES:
	case -EOPNOTSUPP:
	case -ENOSYS:
		return TAP_EXIT_MISSING;
	case -EINVAL:
		return usage ? TAP_EXIT_USAGE : TAP_EXIT_FAILED;
	default:
		return TAP_EXIT_FAILED;
	}
}
