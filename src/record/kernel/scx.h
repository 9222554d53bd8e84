/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sched_ext scheduler of the machine, as /sys/kernel/sched_ext shows it. */
#ifndef TAP_RECORD_KERNEL_SCX_H
#define TAP_RECORD_KERNEL_SCX_H

#include <stdbool.h>
#include <stdint.h>

#define TAP_SCX_EVENTS 32u /* limit; kernels up to 7.3 have fewer */

struct tap_scx_event {
	char name[40]; /* "SCX_EV_SELECT_CPU_FALLBACK" */
	uint64_t count; /* since the scheduler was loaded */
};

struct tap_scx {
	bool is_supported; /* the kernel has CONFIG_SCHED_CLASS_EXT (since v6.12) */
	char state[16]; /* "disabled", "enabled", ...; "": unknown */
	char scheduler[64]; /* its name; "": none is loaded */
	bool all_tasks; /* it schedules all normal tasks, not only those of policy SCHED_EXT */
	int64_t rejected; /* nr_rejected: tasks that it refused; -1: unknown */
	int64_t loads; /* enable_seq: how many have been loaded since boot; -1: unknown */
	struct tap_scx_event events[TAP_SCX_EVENTS]; /* since v6.15; of root/events */
	unsigned int nr_events;
};

/* @root: "/sys/kernel/sched_ext". What cannot be read is unknown. */
void tap_scx_read(struct tap_scx *s, const char *root);

#endif
