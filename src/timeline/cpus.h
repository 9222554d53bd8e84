/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CPUs of a timeline: what each is known to run, as long as its chain of switches holds. */
#ifndef TAP_TIMELINE_CPUS_H
#define TAP_TIMELINE_CPUS_H

#include "timeline/internal.h"

/* Up to @nr. Return: 0 or -ENOMEM. */
int tap_cpu_add(struct tap_timeline *t, unsigned int nr);
/* Accounts for its time up to @now, to what it is known to run. Return: 0; what a watcher returned.
 */
int tap_cpu_close(struct tap_timeline *t, struct tap_cpu *c, uint64_t now);
/* What it ran meanwhile. Return: as above. */
int tap_cpu_tell(struct tap_timeline *t, const struct tap_cpu *c, uint64_t from_ns, uint64_t to_ns);
/* From @now on nobody knows what it runs. Return: as above. */
int tap_cpu_lose(struct tap_timeline *t, unsigned int cpu, uint64_t now);
/* Its chain does not hold: all since its last switch belongs to nobody. */
void tap_cpu_break(struct tap_timeline *t, unsigned int cpu);
/* The same of where the task was thought to run: it is seen elsewhere. */
void tap_cpu_break_of(struct tap_timeline *t, const struct task *task);

#endif
