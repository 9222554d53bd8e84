/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording notes about the machine that it was made on: the meta's host, cpus, clocks,
 * tasks and cgroups (file/meta.h has the keys). Read from /proc and /sys; what is not there
 * is left out.
 */
#ifndef TAP_RECORD_MACHINE_H
#define TAP_RECORD_MACHINE_H

#include <jansson.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/text.h"

/*
 * The highest CPU that is there, plus one; offline ones count. Not the possible ones: a virtual
 * machine may have hundreds of slots for CPUs that never come.
 */
unsigned int tap_machine_nr_cpus(void);
/* 0..1024, or -1 where the kernel has no cpu_capacity. */
int tap_machine_capacity(unsigned int cpu);

json_t *tap_machine_host(void); /* new references; NULL when out of memory */
json_t *tap_machine_cpus(void);
json_t *tap_machine_clocks(void); /* one reading of the three clocks */

/* Adds all tasks: tid -> tgid in @tgids, "tid comm" lines in @comms (struct tap_map tid -> char *).
 */
int tap_machine_tasks(struct tap_map *tgids, struct tap_map *comms);

/* Those that are online. Return: 0 or -ENOMEM; empty where nobody says so. */
int tap_machine_online(struct tap_cpus *online);
/*
 * Puts the CPUs that a task may use at @key of @texts, as the kernel lists them: nothing if they
 * are all of @online, "" where that is not known. @tid: here. Return: 0 or -ENOMEM.
 */
int tap_machine_affinity(pid_t tid, const struct tap_cpus *online, uint64_t key,
			 struct tap_map *texts);

/* The kernel's symbols, as text. Empty where their addresses are hidden from the caller. */
void tap_machine_symbols(struct tap_buf *kallsyms);

/*
 * Adds id -> path (owned char *) of every cgroup of the hierarchy that the CPU controller is on:
 * those are the groups that the scheduler knows. @members: tid -> id of the tasks in them.
 * @limited: of those whose CPU time has a quota, their own or one above them: id -> ns that their
 * tasks were throttled by now. Either may be NULL.
 */
int tap_machine_cgroups(struct tap_map *cgroups, struct tap_map *members, struct tap_map *limited);
/* Puts a copy of @text in its place. Return: 0 or -ENOMEM. */
int tap_machine_put_text(struct tap_map *m, uint64_t key, const char *text);
void tap_machine_release_texts(struct tap_map *m); /* frees the texts and the map */

#endif
