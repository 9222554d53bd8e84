// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/cmd.h"

#define TAP_CMD(name) extern const struct tap_cmd tap_cmd_##name;
#include "cli/cmds.h"
#undef TAP_CMD

#define TAP_CMD(name) &tap_cmd_##name,
const struct tap_cmd *const tap_cmds[] = {
#include "cli/cmds.h"
	NULL,
};

const struct tap_cmd *tap_cmd_find(const char *name)
{
	for (const struct tap_cmd *const *c = tap_cmds; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}
