// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For LD_PRELOAD: slow down pwrite(), which writes sub-buffers, to 2 MB/s. */
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	static ssize_t (*next)(int, const void *, size_t, off_t);
	const struct timespec ts = { .tv_sec = (time_t)(len / 2000000),
				     .tv_nsec = (long)(len % 2000000 * 500) };

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pwrite");
	nanosleep(&ts, NULL);
	return next(fd, data, len, at);
}
