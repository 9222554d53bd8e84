/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The output of the iterator over tasks (tasks.h) for each task. Included by the programs and the
 * recorder.
 */
#ifndef TAP_BPF_TASK_ROW_H
#define TAP_BPF_TASK_ROW_H

struct tap_task_row {
	unsigned int pid, tgid; /* in the initial pid namespace, as in all events */
	unsigned int own_pid, own_tgid; /* in the recorder's pid namespace */
	char comm[16];
};

#endif
