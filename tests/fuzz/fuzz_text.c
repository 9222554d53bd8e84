// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any text as a recording: what is recognised is translated without reading past its end, and gives
 * no more events than it has lines, in the order of time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "file/foreign.h"
#include "file/made.h"
#include "check.h"

static uint64_t count_lines(const uint8_t *data, size_t size)
{
	uint64_t nr = 1;

	for (size_t i = 0; i < size; i++)
		nr += data[i] == '\n';
	return nr;
}

/* The sanitizer sees where a buffer of the input's size ends, but not where a mapping does. */
static void check_bounds(const uint8_t *data, size_t size)
{
	struct tap_reader *r = calloc(1, sizeof(*r));
	uint8_t *copy = malloc(size + !size);
	struct tap_made made;
	struct tap_err err;

	CHECK(r && copy);
	memcpy(copy, data, size);
	r->path = "fuzz_text";
	r->budget.path = strdup(r->path);
	r->decoder.budget = &r->budget;
	r->decoder.slots = calloc(TAP_NR_SLOTS, sizeof(*r->decoder.slots));
	CHECK(r->budget.path && r->decoder.slots);
	if (tap_text_is(copy, size)) {
		int ret;

		tap_made_begin(&made, r, &err);
		ret = tap_text_read(&made, copy, size);
		CHECK(ret <= 0 && ret == made.failed);
		tap_made_release(&made);
	}
	tap_dat_free(r);
	free(copy);
}

static void check_events(struct tap_reader *r, uint64_t nr_lines)
{
	struct tap_event ev;
	uint64_t nr = 0, last_ns = 0;
	struct tap_err err;

	while (tap_reader_next(r, &ev, &err) > 0) {
		CHECK(ev.ts_ns >= last_ns && (!ev.fmt || ev.size >= ev.fmt->min_size));
		last_ns = ev.ts_ns;
		nr += ev.fmt != NULL;
	}
	CHECK(nr <= nr_lines && !tap_reader_damaged(r));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz_text", MFD_CLOEXEC);
	unsigned int nr_open = count_descriptors();
	struct tap_reader *r;
	struct tap_err err;
	char path[64];

	if (fd < 0 || tap_write_all(fd, data, size))
		abort();
	check_bounds(data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (tap_text_is(data, size) && !tap_reader_open(path, &r, &err)) {
		check_events(r, count_lines(data, size));
		tap_reader_free(r);
	}
	CHECK(count_descriptors() == nr_open);
	close(fd);
	return 0;
}
