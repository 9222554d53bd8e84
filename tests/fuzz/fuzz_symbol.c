// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Anything at all as a program's file whose functions are looked for, as a perf map, and as a process's maps: what gets
 * a name gets one that can be printed.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "symbol/elf_names.h"
#include "symbol/maps.h"
#include "symbol/perf_map.h"

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
		CHECK(tap_maps_find(&m, m.all[i].start) == &m.all[i] && tap_maps_find(&m, m.all[i].end - 1) == &m.all[i]);
		CHECK(strlen(tap_mapping_path(&m, &m.all[i])) <= size);
	}
	tap_maps_release(&m);
}

static char folder[] = "/tmp/fuzz_symbol.XXXXXX", path[64];

static void remove_files(void)
{
	unlink(path);
	rmdir(folder);
}

static int file(void)
{
	static int fd = -1;

	if (fd < 0) {
		if (!mkdtemp(folder))
			abort();
		snprintf(path, sizeof(path), "%s/file", folder);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		atexit(remove_files);
	}
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tap_named all[NR];

	if (ftruncate(file(), 0) || pwrite(file(), data, size, 0) != (ssize_t)size)
		abort();
	begin(all, size / NR + 1);
	tap_elf_name(file(), folder, all, NR);
	check_names(all);
	begin(all, 8);
	tap_perf_map_name(file(), all, NR);
	check_names(all);
	begin(all, UINT64_MAX / (NR - 1));
	tap_perf_map_parse((const char *)data, size, all, NR);
	check_names(all);
	check_maps((const char *)data, size);
	return 0;
}
