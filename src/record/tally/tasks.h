/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Run times, waits and switches of each task since the last reading, as the kernel counts them. */
#ifndef TAP_RECORD_TALLY_TASKS_H
#define TAP_RECORD_TALLY_TASKS_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include "base/buf.h"

#include "tally_maps.h"

struct tap_tally_tasks { /* zeroed: nothing read yet */
	struct tap_buf rows, rows_before; /* struct tap_tally_task of all tasks, by tid */
	struct tap_tally_task *v; /* owned; of tasks that ran or waited, since the last reading */
	unsigned int nr, cap, nr_all;
};

/*
 * @from_ns: of the last reading: a task that was not there then and is older cannot be compared,
 * and is left out. Return: 0; -errno with a sentence.
 */
int tap_tally_tasks_read(struct tap_tally_tasks *t, struct bpf_object *obj, uint64_t from_ns,
			 struct tap_err *err);
void tap_tally_tasks_release(struct tap_tally_tasks *t);

#endif
