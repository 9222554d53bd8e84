/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Executable mappings of a process, from /proc/PID/maps. */
#ifndef TAP_SYMBOL_MAPS_H
#define TAP_SYMBOL_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct tap_mapping {
	uint64_t start, end, offset;
	uint64_t ino; /* 0: no file */
	dev_t dev;
	uint32_t path; /* offset in .paths, as spelled in maps; "": none */
	uint32_t object; /* for the caller; initially 0 */
};

/* {0} has no mappings. */
struct tap_maps {
	struct tap_mapping *all; /* ascending, not overlapping */
	unsigned int nr, cap;
	struct tap_buf paths; /* NUL-terminated paths */
};

/*
 * Add the lines of @text, the last of which may be incomplete. Return: 0; -ENOMEM: some were not
 * added.
 */
int tap_maps_parse(struct tap_maps *m, const char *text, size_t len);
/* Read the maps of a process. Return: 0; -ENOMEM; -errno: they cannot be read. */
int tap_maps_read(struct tap_maps *m, int tgid);
void tap_maps_release(struct tap_maps *m);

static inline const char *tap_mapping_path(const struct tap_maps *m, const struct tap_mapping *of)
{
	return m->paths.data + of->path;
}

/* Return the mapping that contains @addr, or NULL. */
static inline struct tap_mapping *tap_maps_find(const struct tap_maps *m, uint64_t addr)
{
	struct tap_mapping *of = m->all;

	/*
	 * Binary search without a data-dependent branch, which would be mispredicted half of the
	 * time.
	 */
	for (unsigned int n = m->nr; n > 1; n -= n / 2)
		of += of[n / 2].start <= addr ? n / 2 : 0;
	return m->nr && addr - of->start < of->end - of->start ? of : NULL;
}

#endif
