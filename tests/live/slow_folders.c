// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For LD_PRELOAD: mkdir() blocks while the current directory contains a file "slow". */
#include <dlfcn.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int mkdir(const char *path, mode_t mode)
{
	static int (*next)(const char *, mode_t);
	const struct timespec ts = { .tv_nsec = 10000000 };

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "mkdir");
	while (!access("slow", F_OK))
		nanosleep(&ts, NULL);
	return next(path, mode);
}
