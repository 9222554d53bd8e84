/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Properties of the recording machine: host, cpus, clocks, tasks and cgroups of the description
 * (file/meta.h lists the keys). They are read from /proc and /sys; what is missing there is left
 * out.
 */
#ifndef TAP_RECORD_MACHINE_H
#define TAP_RECORD_MACHINE_H

#include <fts.h>
#include <jansson.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/text.h"

/*
 * Return: the number of the last present CPU plus one; offline CPUs count. Possible CPUs do not
 * count: a virtual machine may have hundreds of slots for CPUs that are never plugged in.
 */
unsigned int tap_machine_nr_cpus(void);
/* Return: 0..1024; -1: the kernel has no cpu_capacity. */
int tap_machine_capacity(unsigned int cpu);

/*
 * Return: a number that is the same for all CPUs that share the last level of cache, or, where the
 * kernel does not know the caches, for all of a package.
 */
unsigned int tap_machine_llc(unsigned int cpu);
unsigned int tap_machine_node(unsigned int cpu); /* NUMA node; 0 if it is not known */

/*
 * Return true if the kernel keeps time with the CPUs' counter (TSC, kvm-clock, arm64's). It checks
 * the counter: if that is unreliable, such as differing between CPUs, the clock source is another
 * one.
 */
bool tap_machine_trusts_counter(void);

json_t *tap_machine_host(void); /* these three: a new reference; NULL when out of memory */
json_t *tap_machine_cpus(void);
json_t *tap_machine_clocks(void); /* one reading of CLOCK_MONOTONIC, _BOOTTIME and _REALTIME */

/*
 * Add all tasks: tid -> tgid to @tgids, and tid -> comm (owned char *) to @comms. Return: 0 or
 * -ENOMEM.
 */
int tap_machine_tasks(struct tap_map *tgids, struct tap_map *comms);

/* Read the online CPUs. @online: empty if /sys does not list them. Return: 0 or -ENOMEM. */
int tap_machine_online(struct tap_cpus *online);
/*
 * Set @key of @texts to the list of CPUs that a task may use, in the kernel's format: no entry if
 * they are all of @online, "" if they are not known. @tid: in the recorder's pid namespace. Return:
 * 0 or -ENOMEM.
 */
int tap_machine_affinity(pid_t tid, const struct tap_cpus *online, uint64_t key,
			 struct tap_map *texts);

/* Read /proc/kallsyms. Empty if the caller may not see addresses. */
void tap_machine_symbols(struct tap_buf *kallsyms);

/*
 * Add id -> path (owned char *) of every cgroup of the hierarchy with the CPU controller: those are
 * the task groups of the scheduler. @members: tid -> id of the tasks in them. @limited: id -> ns
 * that its tasks were throttled so far, of cgroups that have a CPU quota or are below one that has.
 * Both may be NULL. Return: 0 or -ENOMEM.
 */
int tap_machine_cgroups(struct tap_map *cgroups, struct tap_map *members, struct tap_map *limited);
/*
 * Call @visit for each cgroup of the hierarchy at @root, a parent before its children, until it
 * does not return 0. @path: below @root, "/" for @root itself. .fts_number of @e, at first 0, is
 * the caller's to use. Return: what @visit returned last; 0 if @root cannot be read.
 */
int tap_machine_walk_cgroups(const char *root, int (*visit)(void *ctx, FTSENT *e, const char *path),
			     void *ctx);
/* Set @key to a copy of @text, and free the text that it had. Return: 0 or -ENOMEM. */
int tap_machine_put_text(struct tap_map *m, uint64_t key, const char *text);
void tap_machine_release_texts(struct tap_map *m); /* frees the texts and the map */

#endif
