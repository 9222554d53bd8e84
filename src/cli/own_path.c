// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/own_path.h"

#include <unistd.h>

#define SELF "/proc/self/exe"

const char *tap_own_path(char path[PATH_MAX])
{
	ssize_t len = readlink(SELF, path, PATH_MAX - 1);

	path[len > 0 ? len : 0] = 0;
	return access(path, X_OK) ? SELF : path;
}
