/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tasks that there are, from an iterator among the programs: with their initial numbers. */
#ifndef TAP_OBJECT_TASK_LIST_H
#define TAP_OBJECT_TASK_LIST_H

#include "base/buf.h"

struct bpf_object;

/* Only what lists tasks. Return: NULL where that is refused. */
struct bpf_object *tap_bpf_load_iterator(void);
/* Adds a struct tap_task_row (bpf/task_row.h) for each task that the caller can see. 0 or -errno.
 */
int tap_bpf_list_tasks(struct bpf_object *obj, struct tap_buf *rows);

#endif
