// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/report.h"
#include "cli/cmd.h"

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
