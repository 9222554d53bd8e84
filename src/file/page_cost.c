// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/page_cost.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"

#define TRIED_BYTES ((size_t)1 << 20)
#define COPIED_BYTES ((size_t)256 << 10) /* copied at once, as readers do */
#define WORTH_BYTES (16 * TRIED_BYTES) /* below this size, measuring is not worthwhile */
#define PAGE_BYTES 4096u

/* CPU time of this thread: waiting for the disk must not count. */
static uint64_t cpu_ns(void)
{
	return tap_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Return the time of a copy in ns; UINT64_MAX: copying failed. */
static uint64_t time_copy(int fd, size_t from, unsigned char *to)
{
	uint64_t start = cpu_ns();

	for (size_t at = 0; at < TRIED_BYTES; at += COPIED_BYTES)
		if (pread(fd, to, COPIED_BYTES, (off_t)(from + at)) != (ssize_t)COPIED_BYTES)
			return UINT64_MAX;
	return cpu_ns() - start;
}

static uint64_t time_touch(const unsigned char *data)
{
	uint64_t start = cpu_ns();

	for (size_t at = 0; at < TRIED_BYTES; at += PAGE_BYTES)
		(void)*(const volatile unsigned char *)(data + at);
	return cpu_ns() - start;
}

bool tap_page_copy_pays(const unsigned char *data, size_t len, int fd)
{
	size_t middle = len / 2 & ~(TRIED_BYTES - 1);
	uint64_t copied = UINT64_MAX;
	unsigned char *to;

	if (fd < 0 || len < WORTH_BYTES)
		return fd >= 0;
	to = malloc(COPIED_BYTES);
	/* The first copy is not timed: it brings the file and @to into memory. */
	if (to && time_copy(fd, middle, to) != UINT64_MAX)
		copied = time_copy(fd, middle, to);
	free(to);
	/* A copied file is copied on both reads; a mapped one faults on the first only. */
	return copied < UINT64_MAX / 2 && time_touch(data + middle) > 2 * copied;
}
