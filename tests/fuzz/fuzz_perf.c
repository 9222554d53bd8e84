// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Anything at all as a perf.data: it is refused, or read to its end, twice with the same result.
 * Built by clang with -fsanitize=fuzzer,address,undefined.
 */
#include <stdlib.h>

#include "recording/perf_file.h"

/* Return: how many there were, and in @sum what they held. */
static unsigned int read_all(struct tap_perf *p, uint64_t *sum)
{
	struct tap_err err;
	struct tap_event ev;
	unsigned int nr = 0;
	uint64_t last = 0;

	*sum = 0;
	while (tap_perf_next(p, &ev, &err) == 1) {
		if (ev.ts_ns < last || (ev.fmt && ev.size < ev.fmt->min_size))
			abort();
		if (!ev.fmt && (ev.lost.first_ns > ev.lost.last_ns || ev.lost.last_ns != ev.ts_ns))
			abort();
		last = ev.ts_ns;
		*sum = *sum * 31 + last + ev.lost.count;
		for (uint32_t i = 0; ev.fmt && i < ev.size; i++)
			*sum = *sum * 31 + ((const unsigned char *)ev.data)[i];
		nr++;
	}
	return nr;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	uint64_t first, second;
	struct tap_perf *p;
	struct tap_err err;
	unsigned int nr;

	if (tap_perf_open(data, size, "fuzz", &p, &err))
		return 0;
	nr = read_all(p, &first);
	tap_perf_rewind(p);
	if (read_all(p, &second) != nr || first != second)
		abort();
	tap_perf_free(p);
	return 0;
}
