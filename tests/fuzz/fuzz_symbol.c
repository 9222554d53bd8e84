// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a program's file, whose functions are looked up, as a perf map, and as a process's
 * maps: the names that are found are printable.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "file/symbol/elf_names.h"
#include "file/symbol/maps.h"
#include "file/symbol/perf_map.h"
#include "check.h"

#define NR 64u

static void begin(struct tap_named all[NR], uint64_t step)
{
	for (unsigned int i = 0; i < NR; i++)
		all[i] = (struct tap_named){ .at = i * step, .place = i };
}

static void check_names(struct tap_named all[NR])
{
	for (unsigned int i = 0; i < NR; i++) {
		CHECK(all[i].place == i);
		for (const char *c = all[i].name; c && *c; c++)
			CHECK((unsigned char)*c >= ' ' && *c != 0x7f && c - all[i].name < 1024);
		free(all[i].name);
	}
}

static void check_maps(const char *text, size_t size)
{
	struct tap_maps m = { 0 };

	CHECK(!tap_maps_parse(&m, text, size));
	for (unsigned int i = 0; i < m.nr; i++) {
		CHECK(m.all[i].start < m.all[i].end && (!i || m.all[i - 1].end <= m.all[i].start));
		CHECK(tap_maps_find(&m, m.all[i].start) == &m.all[i] &&
		      tap_maps_find(&m, m.all[i].end - 1) == &m.all[i]);
		CHECK(strlen(tap_mapping_path(&m, &m.all[i])) <= size);
	}
	tap_maps_release(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tap_named all[NR];
	int fd = memfd_create("fuzz_symbol", MFD_CLOEXEC);

	if (fd < 0 || tap_write_all(fd, data, size))
		abort();
	begin(all, size / NR + 1);
	tap_elf_name(fd, "/nonexistent", all, NR); /* no debug symbols are found for this path */
	check_names(all);
	begin(all, 8);
	tap_perf_map_name(fd, all, NR);
	check_names(all);
	begin(all, UINT64_MAX / (NR - 1));
	tap_perf_map_parse((const char *)data, size, all, NR);
	check_names(all);
	check_maps((const char *)data, size);
	close(fd);
	return 0;
}
