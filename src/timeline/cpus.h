/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The CPUs of a timeline: what each CPU runs, as long as its chain of switches is unbroken. */
#ifndef TAP_TIMELINE_CPUS_H
#define TAP_TIMELINE_CPUS_H

#include "timeline/internal.h"

/* Add CPUs until there are @nr. Return: 0 or -ENOMEM. */
int tap_cpu_add(struct tap_timeline *t, unsigned int nr);
/*
 * Charge the CPU's time up to @now, ns, to what it is known to run, and report that interval.
 * Return: 0, or what a watcher returned.
 */
int tap_cpu_close(struct tap_timeline *t, struct tap_cpu *c, uint64_t now);
/* Report what the CPU ran in an interval to watchers. Return: 0, or what a watcher returned. */
int tap_cpu_tell(struct tap_timeline *t, const struct tap_cpu *c, uint64_t from_ns, uint64_t to_ns);
/*
 * From @now, ns, on it is unknown what the CPU runs: events are missing. Return: 0, or what a
 * watcher returned.
 */
int tap_cpu_lose(struct tap_timeline *t, unsigned int cpu, uint64_t now);
/* The CPU's chain of switches is broken: what it ran since its last switch is unknown. */
void tap_cpu_break(struct tap_timeline *t, unsigned int cpu);
/* Break the chain of the CPU on which @task was thought to run: an event shows it elsewhere. */
void tap_cpu_break_of(struct tap_timeline *t, const struct task *task);

#endif
