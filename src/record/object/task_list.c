// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/object/task_list.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/cap.h"
#include "record/object/object.h"

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
	libbpf_print_fn_t print = libbpf_set_print(NULL); /* keep libbpf from printing to stderr */
	struct bpf_object *obj = tap_cap_for_bpf() ? tap_bpf_open() : NULL;
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
