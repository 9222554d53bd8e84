/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * File mappings of the processes in a perf.data over time, from its MMAP, MMAP2 and FORK records.
 * Records may be added in any order, and repeatedly.
 */
#ifndef TAP_FILE_PERF_MAPS_H
#define TAP_FILE_PERF_MAPS_H

#include "base/buf.h"
#include "base/map.h"

/* The mappings of one process. */
struct tap_perf_process {
	struct tap_perf_mapping {
		uint64_t from, len, offset; /* addresses; .offset: in the file */
		uint64_t ns; /* time of the mapping */
		uint32_t name; /* offset in .names */
	} * maps; /* sorted by .from, then by .ns */
	unsigned int nr, cap;
	int parent; /* process whose mappings at .forked_ns it inherited; -1: unknown */
	uint64_t forked_ns;
};

struct tap_perf_maps {
	struct tap_map processes; /* pid -> struct tap_perf_process, owned */
	struct tap_map by_name; /* hash of a name -> its offset in .names + 1 */
	struct tap_buf names; /* NUL-terminated names */
	unsigned int nr;
	uint64_t nr_parents_searched; /* by tap_perf_maps_find(); the caller may reset it to 0 */
};

/*
 * Add a mapping. Only the last component of @path is kept. At most 4096 mappings per process and
 * 262144 in all are kept; further ones are ignored. Return: 0; -ENOMEM.
 */
int tap_perf_maps_add(struct tap_perf_maps *m, int pid, uint64_t from, uint64_t len,
		      uint64_t offset, uint64_t ns, const char *path);
int tap_perf_maps_fork(struct tap_perf_maps *m, int pid, int parent, uint64_t ns);
/*
 * Find the file that was mapped at address @at of the process at time @ns. @offset: set to the
 * position in the file. Return: the file's name, valid until the next tap_perf_maps_add(); NULL:
 * unknown.
 */
const char *tap_perf_maps_find(struct tap_perf_maps *m, int pid, uint64_t at, uint64_t ns,
			       uint64_t *offset);
void tap_perf_maps_release(struct tap_perf_maps *m);

#endif
