// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For LD_PRELOAD: mremap() to a fixed address returns half a second after it has replaced the
 * mapping. */
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *mremap(void *old, size_t old_bytes, size_t new_bytes, int flags, ...)
{
	const struct timespec ts = { .tv_nsec = 500000000 };
	void *to = NULL, *ret;
	va_list ap;

	va_start(ap, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(ap, void *);
	va_end(ap);
	ret = (void *)syscall(SYS_mremap, old, old_bytes, new_bytes, flags, to);
	if (flags & MREMAP_FIXED)
		nanosleep(&ts, NULL);
	return ret;
}
