// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define MAX_OF_PROCESS 4096u
#define MAX_MAPPINGS (1u << 18)
#define MAX_NAME 64u
#define MAX_PARENTS 16u
#define MAX_LOOKED_AT 64u /* mappings that find_mapping() checks at most */

static struct tap_perf_process *find_process(const struct tap_perf_maps *m, int pid)
{
	const uint64_t *place = tap_map_get(&m->processes, (uint32_t)pid);

	return place ? (struct tap_perf_process *)(uintptr_t)*place : NULL;
}

/* Find or add a process. Return: NULL: out of memory. */
static struct tap_perf_process *get_process(struct tap_perf_maps *m, int pid)
{
	uint64_t *place = tap_map_put(&m->processes, (uint32_t)pid);
	struct tap_perf_process *p;

	if (!place || *place)
		return place ? (struct tap_perf_process *)(uintptr_t)*place : NULL;
	p = calloc(1, sizeof(*p));
	if (p)
		p->parent = -1;
	*place = (uintptr_t)p;
	return p;
}

/* Return the number of mappings that begin before @from, or at @from and were made by @ns. */
static unsigned int count_before(const struct tap_perf_process *p, uint64_t from, uint64_t ns)
{
	unsigned int low = 0, high = p->nr;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;
		const struct tap_perf_mapping *at = &p->maps[mid];

		if (at->from < from || (at->from == from && at->ns <= ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Find or add the name of a path. Control characters, which would look like the end of a frame,
 * become '?'. Names with the same hash share one entry.
 */
static int intern_name(struct tap_perf_maps *m, const char *path, uint32_t *index)
{
	const char *slash = strrchr(path, '/');
	char name[MAX_NAME];
	uint64_t *place;
	size_t len;

	path = slash && slash[1] ? slash + 1 : path;
	len = strnlen(path, sizeof(name) - 1);
	for (size_t i = 0; i < len; i++)
		name[i] = (unsigned char)path[i] < ' ' || path[i] == 0x7f ? '?' : path[i];
	name[len] = '\0';
	place = tap_map_put(&m->by_name, tap_map_key(name, len));
	if (!place)
		return -ENOMEM;
	if (!*place) {
		*place = m->names.len + 1;
		tap_buf_add(&m->names, name, len + 1);
	}
	*index = (uint32_t)(*place - 1);
	return m->names.err ? -ENOMEM : 0;
}

int tap_perf_maps_add(struct tap_perf_maps *m, int pid, uint64_t from, uint64_t len,
		      uint64_t offset, uint64_t ns, const char *path)
{
	struct tap_perf_process *p = get_process(m, pid);
	struct tap_perf_mapping new = { from, len, offset, ns, 0 };
	unsigned int i;

	if (!p)
		return -ENOMEM;
	i = count_before(p, from, ns);
	/* the same record, read in another pass */
	if (i && p->maps[i - 1].from == from && p->maps[i - 1].ns == ns)
		return 0;
	if (p->nr == MAX_OF_PROCESS || m->nr == MAX_MAPPINGS)
		return 0;
	if (intern_name(m, path, &new.name) ||
	    tap_array_grow(&p->maps, p->nr, &p->cap, sizeof(*p->maps)))
		return -ENOMEM;
	memmove(&p->maps[i + 1], &p->maps[i], (p->nr - i) * sizeof(*p->maps));
	p->maps[i] = new;
	p->nr++;
	m->nr++;
	return 0;
}

int tap_perf_maps_fork(struct tap_perf_maps *m, int pid, int parent, uint64_t ns)
{
	struct tap_perf_process *p;

	if (pid == parent) /* a new thread, not a process */
		return 0;
	p = get_process(m, pid);
	if (!p)
		return -ENOMEM;
	p->parent = parent;
	p->forked_ns = ns;
	return 0;
}

/* Return the mapping at time @ns that contains @at; NULL: none. */
static const struct tap_perf_mapping *find_mapping(const struct tap_perf_process *p, uint64_t at,
						   uint64_t ns)
{
	unsigned int i = count_before(p, at, UINT64_MAX),
		     end = i > MAX_LOOKED_AT ? i - MAX_LOOKED_AT : 0;

	while (i-- > end) {
		const struct tap_perf_mapping *map = &p->maps[i];

		if (map->ns <= ns && at - map->from < map->len)
			return map;
		if (i && p->maps[i - 1].from != map->from && map->ns <= ns)
			break; /* earlier mappings end before this one begins */
	}
	return NULL;
}

const char *tap_perf_maps_find(struct tap_perf_maps *m, int pid, uint64_t at, uint64_t ns,
			       uint64_t *offset)
{
	const struct tap_perf_process *p = find_process(m, pid);

	for (unsigned int i = 0; p && i < MAX_PARENTS; i++) {
		const struct tap_perf_mapping *map = find_mapping(p, at, ns);

		if (map) {
			*offset = at - map->from + map->offset;
			return m->names.data + map->name;
		}
		if (p->parent < 0)
			break;
		ns = p->forked_ns < ns ? p->forked_ns : ns;
		p = find_process(m, p->parent);
		m->nr_parents_searched++;
	}
	return NULL;
}

void tap_perf_maps_release(struct tap_perf_maps *m)
{
	tap_map_for_each(&m->processes, s) {
		struct tap_perf_process *p = (struct tap_perf_process *)(uintptr_t)s->value;

		if (p)
			free(p->maps);
		free(p);
	}
	tap_map_release(&m->processes);
	tap_map_release(&m->by_name);
	tap_buf_release(&m->names);
}
