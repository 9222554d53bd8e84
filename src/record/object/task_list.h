/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the tasks of the machine with the BPF iterator: their pids are those of the initial pid
 * namespace.
 */
#ifndef TAP_OBJECT_TASK_LIST_H
#define TAP_OBJECT_TASK_LIST_H

#include "base/buf.h"

struct bpf_object;

/* Load only the iterator. Return: NULL: the kernel refuses it. */
struct bpf_object *tap_bpf_load_iterator(void);
/*
 * Append a struct tap_task_row (bpf/task_row.h) for each task that the caller can see. Return: 0 or
 * -errno.
 */
int tap_bpf_list_tasks(struct bpf_object *obj, struct tap_buf *rows);

#endif
