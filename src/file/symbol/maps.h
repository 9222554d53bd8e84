/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a process has mapped and may execute, from /proc/PID/maps. */
#ifndef TAP_SYMBOL_MAPS_H
#define TAP_SYMBOL_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct tap_mapping {
	uint64_t start, end, offset;
	uint64_t ino; /* 0: of no file */
	dev_t dev;
	uint32_t path; /* in .paths, as maps says it; "": none */
	uint32_t object; /* the caller's, 0 at first */
};

/* {0} is that of a process that has nothing. */
struct tap_maps {
	struct tap_mapping *all; /* ascending, none in another */
	unsigned int nr, cap;
	struct tap_buf paths; /* each with its NUL */
};

/* Adds the lines of @text, of which the last one may be cut off. Return: 0; -ENOMEM: some are
 * missing. */
int tap_maps_parse(struct tap_maps *m, const char *text, size_t len);
/* Return: 0; -errno: they cannot be read. */
int tap_maps_read(struct tap_maps *m, int tgid);
void tap_maps_release(struct tap_maps *m);

static inline const char *tap_mapping_path(const struct tap_maps *m, const struct tap_mapping *of)
{
	return m->paths.data + of->path;
}

/* Return: NULL: it is in none. */
static inline struct tap_mapping *tap_maps_find(const struct tap_maps *m, uint64_t addr)
{
	struct tap_mapping *of = m->all;

	/* without a branch that depends on what is looked for: those would be guessed wrong half of
	 * the time */
	for (unsigned int n = m->nr; n > 1; n -= n / 2)
		of += of[n / 2].start <= addr ? n / 2 : 0;
	return m->nr && addr - of->start < of->end - of->start ? of : NULL;
}

#endif
