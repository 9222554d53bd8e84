/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the iterator over tasks (tasks.h) tells of each. Read by the programs and by the recorder.
 */
#ifndef TAP_BPF_TASK_ROW_H
#define TAP_BPF_TASK_ROW_H

struct tap_task_row {
	unsigned int pid, tgid; /* in the initial pid namespace, as all events have them */
	unsigned int own_pid, own_tgid; /* in the recorder's */
	char comm[16];
};

#endif
