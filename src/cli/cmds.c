// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/cmd.h"
#include "report/report.h"

#define TAP_GROUP(title)
#define TAP_CMD(name) extern const struct tap_cmd tap_cmd_##name;
#define TAP_REPORT(name) extern const struct tap_report_type tap_report_##name;
#include "cli/cmds.h"
#undef TAP_GROUP
#undef TAP_CMD
#undef TAP_REPORT

#define TAP_GROUP(title_) { .title = title_ },
#define TAP_CMD(name) { .cmd = &tap_cmd_##name },
#define TAP_REPORT(name) { .cmd = &tap_report_##name.cmd },
const struct tap_cmd_row tap_cmd_rows[] = {
#include "cli/cmds.h"
	{ 0 },
};

const struct tap_cmd *tap_cmd_find(const char *name)
{
	tap_cmd_for_each(c)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

int tap_cmd_fail(const struct tap_err *err, bool usage)
{
	struct tap_buf out = { 0 };
	const char *line = err->text;

	if (err->code == -EPIPE)
		return TAP_EXIT_OK;
	tap_buf_puts(&out, "schedtap: ");
	for (size_t len; *line; line += len + (line[len] == '\n')) {
		if (line != err->text) /* cannot pass for a message of its own */
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
