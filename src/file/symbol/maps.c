// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/symbol/maps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/text.h"

/*
 * Limit for /proc/PID/maps, about 40000 lines. A process has at most 65530 mappings by default
 * (vm.max_map_count).
 */
#define MAX_BYTES ((size_t)4 << 20)

/*
 * Take a number and the character @after that must follow it. Return: false if they are not there.
 */
static bool take_number(const char **at, const char *end, unsigned int base, char after,
			uint64_t *v)
{
	return !tap_text_take_digits(at, end, base, v) && *at < end && *(*at)++ == after;
}

/*
 * Parse "7f2b4c000000-7f2b4c021000 r-xp 00001000 fe:00 4711    /path". Return: false if it is not
 * executable, or cannot be parsed.
 */
static bool parse_line(const char *line, const char *end, struct tap_mapping *m, const char **path)
{
	uint64_t major_nr, minor_nr;
	const char *perms;

	if (!take_number(&line, end, 16, '-', &m->start) ||
	    !take_number(&line, end, 16, ' ', &m->end) || end - line < 5)
		return false;
	perms = line;
	line += 5;
	if (perms[2] != 'x' || !take_number(&line, end, 16, ' ', &m->offset) ||
	    !take_number(&line, end, 16, ':', &major_nr) ||
	    !take_number(&line, end, 16, ' ', &minor_nr) ||
	    tap_text_take_digits(&line, end, 10, &m->ino))
		return false;
	m->dev = makedev(major_nr, minor_nr);
	while (line < end && *line == ' ')
		line++;
	*path = line;
	return m->start < m->end;
}

static int add_mapping(struct tap_maps *m, const struct tap_mapping *found, const char *path,
		       const char *end)
{
	int ret = tap_array_grow(&m->all, m->nr, &m->cap, sizeof(*m->all));

	if (ret)
		return ret;
	m->all[m->nr] = *found;
	m->all[m->nr].path = (uint32_t)m->paths.len;
	tap_buf_add(&m->paths, path, (size_t)(end - path));
	tap_buf_char(&m->paths, '\0');
	m->nr += !m->paths.err;
	return m->paths.err;
}

int tap_maps_parse(struct tap_maps *m, const char *text, size_t len)
{
	const char *all_end = text + len, *end, *path;
	uint64_t last = m->nr ? m->all[m->nr - 1].end : 0;
	int ret = 0;

	for (; !ret && text < all_end && (end = memchr(text, '\n', (size_t)(all_end - text)));
	     text = end + 1) {
		struct tap_mapping found = { 0 };

		/* mappings made during the read may come twice */
		if (!parse_line(text, end, &found, &path) || found.start < last)
			continue;
		last = found.end;
		ret = add_mapping(m, &found, path, end);
	}
	return ret;
}

int tap_maps_read(struct tap_maps *m, int tgid)
{
	struct tap_buf text = { .max = MAX_BYTES };
	char path[32];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/maps", tgid);
	ret = tap_buf_read_file(&text, path);
	if (!ret || ret == -EFBIG)
		ret = tap_maps_parse(m, text.data, text.len);
	tap_buf_release(&text);
	return ret;
}

void tap_maps_release(struct tap_maps *m)
{
	free(m->all);
	tap_buf_release(&m->paths);
	*m = (struct tap_maps){ 0 };
}
