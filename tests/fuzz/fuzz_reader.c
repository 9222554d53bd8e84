// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Anything at all as a recording: it is refused, or read to its end. Built by clang with
 * -fsanitize=fuzzer,address,undefined; with -DFUZZ_MAIN a plain program that reads the files
 * it is given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include <schedtap/reader.h>

/* A few bytes can describe any number of CPUs that share pages: enough is enough. */
#define MAX_EVENTS 1000000u

static void read_all(const char *path)
{
	struct tap_err err;
	struct tap_reader *r;
	struct tap_event ev;
	uint64_t last = 0;

	if (tap_reader_open(path, &r, &err))
		return;
	for (unsigned int i = 0; i < MAX_EVENTS && tap_reader_next(r, &ev, &err) == 1; i++) {
		if (ev.ts_ns < last || (ev.fmt && ev.size < ev.fmt->min_size))
			abort();
		last = ev.ts_ns;
	}
	tap_reader_free(r);
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		read_all(argv[i]);
	return 0;
}
#else
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz_reader", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || tap_write_all(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_all(path);
	close(fd);
	return 0;
}
#endif
