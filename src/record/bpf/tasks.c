// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters by pid and tid (-p, -t): the set of tasks of bpf/tasks.h. */
#include <bpf/bpf.h>
#include "record/bpf/load.h"
#include "record/object/task_list.h"

static int add_ids(struct bpf_object *obj, const char *map, const struct tap_select_ids *ids,
		   struct tap_err *err)
{
	int fd = bpf_object__find_map_fd_by_name(obj, map), ret = 0;

	for (unsigned int i = 0; i < ids->nr && !ret; i++) {
		uint8_t one = 1;
		uint32_t key = (uint32_t)ids->v[i];

		ret = bpf_map_update_elem(fd, &key, &one, BPF_ANY);
		if (ret)
			return tap_err_set(err, ret, "cannot filter by task %u: %s", key,
					   strerror(-ret));
	}
	return ret;
}

static unsigned int count_tasks(const struct bpf_object *obj)
{
	int fd = bpf_object__find_map_fd_by_name(obj, "tap_tasks");
	uint64_t key, *last = NULL;
	unsigned int nr = 0;

	for (; !bpf_map_get_next_key(fd, last, &key); last = &key)
		nr++;
	return nr;
}

/*
 * Repeat until the set stops growing: a thread that was not yet in the set may have started another
 * one that the iterator had already passed.
 */
int tap_bpf_find_tasks(struct bpf_object *obj, const struct tap_select *select, struct tap_err *err)
{
	int ret = add_ids(obj, "tap_tgids", &select->tgids, err);
	unsigned int before = 0, now = 0;

	ret = ret ?: add_ids(obj, "tap_tids", &select->tids, err);
	do {
		struct tap_buf rows = { 0 };

		before = now;
		if (!ret) {
			ret = tap_bpf_list_tasks(obj, &rows);
			if (ret)
				tap_err_set(err, ret, "cannot list the tasks: %s", strerror(-ret));
		}
		ret = ret ?: tap_pids_check(&rows, select, err);
		tap_buf_release(&rows);
		now = count_tasks(obj);
	} while (!ret && now > before);
	return ret;
}
