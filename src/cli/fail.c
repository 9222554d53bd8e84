// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/cmd.h"

void tap_cmd_say(const char *sentence)
{
	struct tap_buf out = { 0 };
	const char *line = sentence;

	tap_buf_puts(&out, "schedtap: ");
	for (size_t len; *line; line += len + (line[len] == '\n')) {
		/* indent, so that the line cannot be mistaken for a message of its own */
		if (line != sentence)
			tap_buf_puts(&out, "    ");
		len = strcspn(line, "\n");
		tap_text_escape(&out, line, len);
		tap_buf_char(&out, '\n');
	}
	fflush(stdout);
	fwrite(out.data, 1, out.len, stderr);
	tap_buf_release(&out);
}

bool tap_cmd_without_tally(const struct tap_err *err, bool from_waking)
{
	struct tap_buf sentence = { 0 };

	if (err->code == -ENOMEM || from_waking)
		return false;
	tap_buf_printf(&sentence, "kinds, quantiles and culprits of waits are not shown: %s",
		       err->text);
	tap_cmd_say(tap_buf_str(&sentence));
	tap_buf_release(&sentence);
	return true;
}

int tap_cmd_fail(const struct tap_err *err, bool usage)
{
	if (err->code == -EPIPE)
		return TAP_EXIT_OK;
	tap_cmd_say(err->text);
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
