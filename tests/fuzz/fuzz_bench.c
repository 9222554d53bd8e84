// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any text as bench's JSON: it is read, or refused with a sentence that names the file; what is
 * read has rounds, numbers within their bounds, and a load equal to itself.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "show/bench/file.h"
#include "check.h"

static void check_metrics(const struct tap_metrics *m)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		CHECK(m->v[i].value >= 0 && m->v[i].value <= 0x1p63);
		CHECK(m->v[i].low <= m->v[i].value && m->v[i].value <= m->v[i].high);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct tap_bench_file f = { .path = path };
	struct tap_err err = { 0 };
	int fd = memfd_create("bench", MFD_CLOEXEC), ret;

	CHECK(fd >= 0 && !tap_write_all(fd, data, size));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = tap_bench_file_read(&f, &err);
	CHECK(!ret || (ret == err.code && strstr(err.text, path)));
	if (!ret) {
		CHECK(f.nr_rounds && !tap_bench_file_compare(&f, &f, &err));
		check_metrics(&f.all);
		for (unsigned int i = 0; i < f.nr_rounds; i++)
			check_metrics(&f.rounds[i]);
		tap_bench_file_text(&f, "kernel");
		CHECK(tap_bench_file_number(&f, "cpus") >= -1);
	}
	tap_bench_file_release(&f);
	close(fd);
	return 0;
}
