/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A test with a folder of its own for control files: the library has looked for one when main()
 * begins. */
#ifndef TAP_TEST_OWN_FOLDER_H
#define TAP_TEST_OWN_FOLDER_H

#include <string.h>
#include <sys/wait.h>

#include "unit/tmp_dir.h"

/*
 * Runs the test as "NAME here", with the folder from its start. @clear: NULL, or what empties it:
 * else nothing may be left. Return: what main() returns.
 */
static inline int run_in_folder(const char *name, void (*clear)(const char *folder))
{
	struct tmp_dir folder;
	const char *inside;
	int status = -1;
	pid_t child;

	tmp_make(&folder);
	if (setenv("XDG_RUNTIME_DIR", folder.path, 1))
		return 1;
	child = fork();
	if (!child)
		execl("/proc/self/exe", name, "here", NULL);
	waitpid(child, &status, 0);
	inside = tmp_at(&folder, "schedtap");
	if (clear)
		clear(inside);
	return rmdir(inside) || rmdir(folder.path) || status;
}

#endif
