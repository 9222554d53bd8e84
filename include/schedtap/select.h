/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A selection: which events, tasks and CPUs a recording or a report covers. It is built from words
 * that users type (the options -e -p -t -c -g -C of schedtap(1)); these mean the same wherever a
 * selection is used. If an option is given several times, one of its words must match; every option
 * that is given must match. A selection never changes once it is built, so threads may share it.
 *
 * The words of -e name events:
 *
 *   SYSTEM:NAME  two globs, separated by the first colon
 *   WORD         an event name (here a glob is allowed), a system, or a group of events ("schedtap
 *                list" shows the groups). If a group has the name of its kernel system (sched,
 *                task, cpuhp, irq), WORD means only the group, and "sched:*" the whole system
 *
 * Globs are those of fnmatch(3) without flags: * ? [set] [!set], and \ to quote a character.
 */
#ifndef SCHEDTAP_SELECT_H
#define SCHEDTAP_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include <schedtap/err.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tap_select;

/** struct tap_select_opts - The words of each option. An option without words selects all. */
struct tap_select_opts {
	size_t size; /* sizeof(struct tap_select_opts) */
	const char *const *events;
	unsigned int nr_events;
	const char *const *tgids; /* process IDs, decimal: 0..4194304 */
	unsigned int nr_tgids;
	const char *const *tids; /* thread IDs, decimal: 0..4194304; 0: the idle task of each CPU */
	unsigned int nr_tids;
	const char *const *comms; /* globs of thread names */
	unsigned int nr_comms;
	/*
	 * Globs of cgroup paths, relative to the root of the hierarchy, as reports print them; the
	 * leading "/" is optional. A cgroup's descendants match as well, so "/" matches every task
	 * whose cgroup is known.
	 */
	const char *const *cgroups;
	unsigned int nr_cgroups;
	/*
	 * A path in .cgroups that starts with this is a directory of the cgroup file system. NULL:
	 * the mount point of this machine's cgroup file system.
	 */
	const char *cgroup_mount;
	/* a list of CPU numbers and ranges within 0..65535, such as "0-3,8"; NULL: all */
	const char *cpus;
	/*
	 * Element i is the filter (-f) of .events[i], or NULL; events after the last element have
	 * no filter. The program that reads or records events applies filters: tap_select_event()
	 * ignores them.
	 */
	const char *const *filters;
	unsigned int nr_filters;
};

/**
 * tap_select_new() - Build a selection from words.
 * @opts: borrowed only during the call: the selection copies what it needs.
 * @out: owned by the caller, who calls tap_select_free(); NULL on error.
 *
 * Return: 0; -EINVAL if an option does not accept a word (the sentence starts with the option), or
 * if this library does not know the size of @opts; -ENOMEM.
 */
TAP_API TAP_MUST_CHECK int tap_select_new(const struct tap_select_opts *opts,
					  struct tap_select **out, struct tap_err *err);

/** tap_select_free() - Free a selection. NULL is allowed. */
TAP_API void tap_select_free(struct tap_select *s);

/**
 * tap_select_event() - Return true if -e selects this kind of event, or was not given.
 *
 * The other options do not count.
 */
TAP_API bool tap_select_event(const struct tap_select *s, const char *system, const char *name);

/** struct tap_select_task - The known properties of a task. */
struct tap_select_task {
	int tid;
	int tgid; /* its process; negative: unknown, and the tid is used instead */
	/* its name, which ends with a NUL or after comm_len bytes; NULL: unknown */
	const char *comm;
	size_t comm_len; /* bytes; 0: the name is unknown */
	const char *cgroup; /* its cgroup's path, NUL-terminated; NULL: unknown */
};

/**
 * tap_select_task() - Return true if a task matches all of -p, -t, -c and -g that are given.
 *
 * An unknown name or cgroup matches no glob, not even "*".
 */
TAP_API bool tap_select_task(const struct tap_select *s, const struct tap_select_task *task);

/**
 * tap_select_cpu() - Return true if -C contains @cpu, or was not given.
 * @cpu: negative if unknown, which no list contains.
 */
TAP_API bool tap_select_cpu(const struct tap_select *s, int cpu);

#ifdef __cplusplus
}
#endif
#endif
