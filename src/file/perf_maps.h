/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was mapped where in the processes of a perf.data, and when: by its MMAP, MMAP2 and FORK
 * records. They may be read in any order, and again.
 */
#ifndef TAP_FILE_PERF_MAPS_H
#define TAP_FILE_PERF_MAPS_H

#include "base/buf.h"
#include "base/map.h"

/* Of one process. */
struct tap_perf_process {
	struct tap_perf_mapping {
		uint64_t from, len, offset; /* .offset: in the file */
		uint64_t ns; /* when it was mapped */
		uint32_t name; /* index into .names */
	} * maps; /* by .from, then .ns */
	unsigned int nr, cap;
	int parent; /* that had what is mapped by none of these; -1: none */
	uint64_t forked_ns;
};

struct tap_perf_maps {
	struct tap_map processes; /* pid -> struct tap_perf_process, owned */
	struct tap_map by_name; /* key -> index into .names + 1 */
	struct tap_buf names; /* each with its NUL */
	unsigned int nr;
	uint64_t nr_parents_searched; /* by tap_perf_maps_find(), since the caller set it to 0 */
};

/*
 * @path: of which the last part is kept. What is above the bounds is passed over: 4096 mappings of
 * a process, 262144 in all. Return: 0; -ENOMEM.
 */
int tap_perf_maps_add(struct tap_perf_maps *m, int pid, uint64_t from, uint64_t len,
		      uint64_t offset, uint64_t ns, const char *path);
int tap_perf_maps_fork(struct tap_perf_maps *m, int pid, int parent, uint64_t ns);
/* Return: the name of the file that was mapped at @at in the process, and where in it @at is; NULL:
 * not known. */
const char *tap_perf_maps_find(struct tap_perf_maps *m, int pid, uint64_t at, uint64_t ns,
			       uint64_t *offset);
void tap_perf_maps_release(struct tap_perf_maps *m);

#endif
