// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "file/page_cost.h"
#include "file/perf_file.h"

#define MAX_FILES TAP_DAT_MAX_CPUS /* perf has at most one thread per CPU */

/*
 * Map a file of the folder. O_NONBLOCK: do not wait for a writer if it is a FIFO. Return: 0;
 * -ENOENT without an error text; -errno.
 */
static int map_file(struct tap_reader *r, int dir, const char *name, const struct tap_mapping **map,
		    struct tap_err *err)
{
	int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), ret = -errno;

	if (fd >= 0) {
		ret = tap_dat_add_map(r, fd, map);
		close(fd);
	}
	if (!ret || ret == -ENOENT)
		return ret;
	return tap_err_set(err, ret, "cannot read '%.300s/%s': %s", r->path, name, strerror(-ret));
}

static int copied_fd(const struct tap_mapping *map)
{
	return tap_page_copy_pays(map->data, map->len, map->fd) ? map->fd : -1;
}

int tap_perf_open_folder(struct tap_reader *r, int dir, struct tap_err *err)
{
	const struct tap_mapping *map;
	int ret = map_file(r, dir, "data", &map, err);
	char name[32];

	if (ret)
		return ret == -ENOENT ? 1 : ret;
	if (!tap_perf_is(map->data, map->len)) {
		tap_dat_drop_maps(r);
		return 1;
	}
	ret = tap_perf_open(r, map->data, map->len, copied_fd(map), err);
	for (unsigned int i = 0; !ret && i < MAX_FILES; i++) {
		snprintf(name, sizeof(name), "data.%u", i);
		ret = map_file(r, dir, name, &map, err);
		if (!ret)
			ret = tap_perf_add_part(r->perf, map->data, map->len, copied_fd(map), err);
	}
	return ret == -ENOENT ? 0 : ret;
}
