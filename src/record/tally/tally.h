/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the tally (bpf/tally_maps.h): the waits of all tasks of the machine, which a BPF program on
 * sched_switch counts in the kernel. No events are recorded. Not thread safe.
 */
#ifndef TAP_RECORD_TALLY_TALLY_H
#define TAP_RECORD_TALLY_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

#include "tally_maps.h"

struct tap_tally;

struct tap_tally_cpu_view {
	unsigned int cpu, llc; /* .llc: as in struct tap_tally_llc_view */
	uint64_t cpu_ns, idle_ns, switches, max_wait_ns[TAP_TALLY_KINDS];
	/*
	 * Time by the length of its run queue, of tap_tally_length(), and the time multiplied by
	 * the length. The length is the one after each switch: a task that is queued later counts
	 * from the next switch on.
	 */
	uint64_t length_ns[TAP_TALLY_LENGTHS], runnable_ns;
};

/* CPUs that share the last level of cache. */
struct tap_tally_llc_view {
	unsigned int llc; /* of tap_machine_llc(): the lowest number of its CPUs */
	/*
	 * Waits of 1 ms or longer for one of the CPUs, as far as another one was idle that the task
	 * could use. A lower limit: struct tap_tally_cpu has the exact meaning.
	 */
	uint64_t idle_while_waiting_ns;
};

/* Numbers of the time from one reading to the next. */
struct tap_tally_view {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	bool from_waking; /* waits begin at the waking */
	unsigned int nr_slots; /* up to the last one that was ever used */
	/*
	 * By slot. .rows: borrowed until the next reading. Its .run_ns lacks slices that go on:
	 * .run_ns has all. .names: the cgroup's path, "idle" or "kernel threads"; NULL: the slot is
	 * not used. The sum of .run_ns is .cpu_ns, within 10 us for each CPU.
	 */
	const struct tap_tally_row *rows;
	const uint64_t *run_ns;
	const char *const *names;
	/* by slot: 0: the cgroup exists. Otherwise it is gone, and its slot is kept for a while. */
	const uint64_t *released_ns;
	/* the CPUs that were seen to switch since the tally began, and their time together */
	const struct tap_tally_cpu_view *cpus;
	unsigned int nr_cpus;
	bool knows_lengths; /* false: .length_ns and .runnable_ns of .cpus are 0 */
	uint64_t cpu_ns;
	const struct tap_tally_llc_view *llcs; /* those of .cpus */
	unsigned int nr_llcs;
	/*
	 * Tasks that ran or came to wait, by tid; the kernel adds a wait when it ends. Its numbers
	 * are read in the first milliseconds after .to_ns, while .task_waits is exact: a task may
	 * have waits there, and neither .run_ns nor .waits. .all_tasks: number of all tasks. None
	 * without .reads_tasks.
	 */
	const struct tap_tally_task *tasks;
	unsigned int nr_tasks, all_tasks;
	bool knows_task_waits; /* false: .wait_ns and .waits of .tasks are 0 */
	/* by index of .tasks; NULL without .counts_task_waits */
	const struct tap_tally_task_waits *task_waits;
	uint64_t missed; /* switches since the tally began for which the kernel did not run it */
	/* new cgroups since the tally began that count with an ancestor: there was no free slot */
	uint64_t no_free_slot;
	uint64_t command_migrations; /* of the command's tasks, since the tally began */
	uint64_t migrations[TAP_TALLY_SCOPES]; /* of all tasks */
};

struct tap_tally_opts {
	unsigned int max_cgroups; /* that have numbers of their own at a time, 1..60000 */
	bool reads_tasks; /* each reading takes about 1 us more for each task of the machine */
	/* with .reads_tasks: count each task's waits by length: about 10 ns more for each switch */
	bool counts_task_waits;
	/*
	 * Waits begin at the waking, not when the task is queued: this needs a second program at
	 * each waking. Also without it, if the kernel has no struct sched_info, or the CPUs' clocks
	 * may differ.
	 */
	bool from_waking;
	bool has_command; /* tap_tally_join() will be called */
};

/* Load and attach the programs. Return: 0; -errno with a sentence. */
int tap_tally_open(struct tap_tally **out, const struct tap_tally_opts *opts, struct tap_err *err);
void tap_tally_close(struct tap_tally *t);

/*
 * Take all the numbers since the last reading, or since the tally began. Waits for an RCU grace
 * period, usually 10 to 30 ms. @view: valid until the next reading. Return: 0; -errno with a
 * sentence.
 */
int tap_tally_read(struct tap_tally *t, struct tap_tally_view *view, struct tap_err *err);

/* Return true if a row has waits of a kind. */
bool tap_tally_has_waits(const struct tap_tally_row *row, enum tap_tally_kind kind);
/* Return true if the view has no numbers of a slot: none of its tasks ran or ended a wait. */
bool tap_tally_is_empty(const struct tap_tally_view *view, unsigned int slot);

/*
 * Let the calling process and its future descendants count in TAP_TALLY_COMMAND instead of their
 * cgroups, from its next sleep on. Return: 0; -errno.
 */
int tap_tally_join(const struct tap_tally *t);

/*
 * Measure the overhead: the average run time of the program on sched_switch during @ns, in which
 * the kernel measures all BPF programs. Return: ns per switch; 0 if there was none; -errno with a
 * sentence.
 */
int64_t tap_tally_overhead(struct tap_tally *t, uint64_t ns, struct tap_err *err);

#endif
