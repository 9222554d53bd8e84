// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a Perfetto trace: it is refused with a message, or can be read to its end twice with
 * the same result, in the order of time, and no descriptor stays open.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <schedtap/reader.h>

#include "base/buf.h"
#include "file/dat_file.h"
#include "check.h"

/* Read all events. Return: a checksum of them. */
static uint64_t read_all(struct tap_reader *r)
{
	uint64_t sum = 0, last_ns = 0;
	struct tap_event ev;
	struct tap_err err;
	int ret;

	tap_reader_rewind(r);
	while ((ret = tap_reader_next(r, &ev, &err)) == 1) {
		CHECK(ev.ts_ns >= last_ns && (unsigned int)ev.cpu < TAP_DAT_MAX_CPUS);
		CHECK(!ev.fmt || ev.size >= ev.fmt->min_size);
		last_ns = ev.ts_ns;
		sum = sum * 31 + ev.ts_ns + (unsigned int)ev.cpu;
		for (uint32_t i = 0; ev.fmt && i < ev.size; i++)
			sum = sum * 31 + ((const unsigned char *)ev.data)[i];
	}
	CHECK(!ret);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const unsigned int nr = count_descriptors();
	struct tap_reader *r;
	struct tap_err err = { 0 };
	char path[64];
	int fd = memfd_create("fuzz_perfetto", MFD_CLOEXEC);

	if (fd < 0 || tap_write_all(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (tap_reader_open(path, &r, &err)) {
		CHECK(*err.text);
	} else {
		CHECK(read_all(r) == read_all(r));
		tap_reader_free(r);
	}
	close(fd);
	CHECK(count_descriptors() == nr);
	return 0;
}
