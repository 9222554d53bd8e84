// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* -p and -t as the set of bpf/tasks.h. */
#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/cap.h"
#include "capture/bpf/load.h"
#include "capture/bpf/object.h"

enum tap_bpf_kind tap_bpf_kind(const struct bpf_program *prog)
{
	const char *name = bpf_program__name(prog);

	if (!strcmp(name, "tap_each_task"))
		return TAP_BPF_LISTS_TASKS;
	return strncmp(name, "tap_task_", 9) ? TAP_BPF_RECORDS : TAP_BPF_KEEPS_TASKS;
}

int tap_bpf_list_tasks(struct bpf_object *obj, struct tap_buf *rows)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "tap_each_task");
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
	ssize_t n = fd;

	while (fd >= 0 && tap_buf_reserve(rows, 65536)) {
		n = read(fd, rows->data + rows->len, 65536);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0) {
			n = n ? -errno : 0;
			break;
		}
		rows->len += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return rows->err ? rows->err : (int)n;
}

struct bpf_object *tap_bpf_load_iterator(void)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL); /* it would tell stderr as well */
	struct bpf_object *obj = tap_cap_missing_for_bpf() ? NULL : tap_bpf_open();
	struct bpf_program *prog;

	if (obj)
		bpf_object__for_each_program(prog, obj)
			bpf_program__set_autoload(prog, tap_bpf_kind(prog) == TAP_BPF_LISTS_TASKS);
	if (obj && bpf_object__load(obj)) {
		bpf_object__close(obj);
		obj = NULL;
	}
	libbpf_set_print(print);
	return obj;
}

static int add_ids(struct bpf_object *obj, const char *map, const struct tap_select_ids *ids,
		   struct tap_err *err)
{
	int fd = bpf_object__find_map_fd_by_name(obj, map), ret = 0;

	for (unsigned int i = 0; i < ids->nr && !ret; i++) {
		uint8_t one = 1;
		uint32_t key = (uint32_t)ids->v[i];

		ret = bpf_map_update_elem(fd, &key, &one, BPF_ANY);
		if (ret)
			return tap_err_set(err, ret, "cannot add %u to the scope: %s", key,
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
 * Again until there are no more: a thread that was not yet in the set may have started another behind
 * the iterator's back.
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
