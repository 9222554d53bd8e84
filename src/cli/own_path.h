/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_CLI_OWN_PATH_H
#define TAP_CLI_OWN_PATH_H

#include <limits.h>

/*
 * Find this program's file, to run it again. By its path, the process gets the program's name; by
 * /proc/self/exe, which is returned if the file was removed, its name is "exe".
 */
const char *tap_own_path(char path[PATH_MAX]);

#endif
