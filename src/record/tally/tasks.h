/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Run times, waits and switches of each task since the last reading, as the kernel counts them, and
 * its waits by length, as the tally's program counts them.
 */
#ifndef TAP_RECORD_TALLY_TASKS_H
#define TAP_RECORD_TALLY_TASKS_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

#include "base/buf.h"

#include "tally_maps.h"

/* The map "tap_task_waits". */
struct tap_tally_counts {
	const struct tap_tally_task_count *v; /* mapped; NULL: waits are not counted */
	unsigned int nr_tags; /* elements of a bank */
};

struct tap_tally_list {
	struct tap_tally_task *v; /* owned; by tid */
	unsigned int nr, cap;
};

struct tap_tally_tasks { /* zeroed: nothing read yet */
	struct tap_buf rows, rows_before; /* struct tap_tally_task of all tasks, by tid */
	/* of tasks that ran or waited since the last reading, and at the last reading */
	struct tap_tally_list list, list_before;
	struct tap_tally_task_waits *waits; /* owned; by index of .list */
	unsigned int waits_cap;
	unsigned int nr_all;
	bool is_compared; /* .list was filled before */
	struct tap_tally_counts counts;
};

/* Map the waits that the programs of @obj count. Return: 0; -errno with a sentence. */
int tap_tally_tasks_map(struct tap_tally_tasks *t, const struct bpf_object *obj,
			struct tap_err *err);

/* List all tasks with the kernel's numbers. Return: 0; -errno with a sentence. */
int tap_tally_tasks_list(struct tap_tally_tasks *t, struct bpf_object *obj, struct tap_err *err);

/*
 * Compare the last two lists, and fill .list and .waits. @from_ns: of the last reading: a task that
 * was not there then and is older cannot be compared, and is left out. @epoch: whose waits to take;
 * no program may count in it any more. Return: 0 or -ENOMEM with a sentence.
 */
int tap_tally_tasks_compare(struct tap_tally_tasks *t, uint64_t from_ns, uint32_t epoch,
			    struct tap_err *err);

void tap_tally_tasks_release(struct tap_tally_tasks *t);

#endif
