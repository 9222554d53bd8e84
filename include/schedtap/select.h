/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A selection: which events, tasks and CPUs a recording or a report is about. It is made of words
 * as people type them (the options -e -p -t -c -g -C of schedtap(1)), which mean the same wherever
 * one is used. Of several words of one option one must match, and every option that is given must.
 * It never changes once it is made, so that threads may share it.
 *
 * The words of -e name events:
 *
 *   SYSTEM:NAME  both are globs; the first colon parts them
 *   WORD         what has that name: events (here it may be a glob), all events of a system, or
 *                those of a group, of which "schedtap list" tells. Where a group is called like the
 *                kernel's system that it is of (sched, task, cpuhp, irq) it is the group alone:
 *                "sched:*" is all of the system
 *
 * Globs are those of fnmatch(3) without flags: * ? [set] [!set] and \ before what is to be itself.
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

/** struct tap_select_opts - The words of each option. No words: all. */
struct tap_select_opts {
	size_t size; /* sizeof(struct tap_select_opts) */
	const char *const *events;
	unsigned int nr_events;
	const char *const *tgids; /* processes, decimal: 0..4194304 */
	unsigned int nr_tgids;
	const char *const *tids; /* threads, decimal: 0..4194304; 0: the idle task of every CPU */
	unsigned int nr_tids;
	const char *const *comms; /* names of threads, globs */
	unsigned int nr_comms;
	/*
	 * Globs of cgroups' paths: from the root of the hierarchy on, as reports print them; a "/"
	 * in front may be left out. What is below one of them is in it, so "/" is all that is
	 * known.
	 */
	const char *const *cgroups;
	unsigned int nr_cgroups;
	/* Paths that begin with it are folders'. NULL: where this machine has its cgroups. */
	const char *cgroup_mount;
	const char *cpus; /* a list of numbers and ranges, "0-3,8", 0..65535; NULL: all */
	/*
	 * Of each of .events its filter (-f), or NULL; of those behind the last one none has one.
	 * They are for who reads or records events: tap_select_event() does not ask them.
	 */
	const char *const *filters;
	unsigned int nr_filters;
};

/**
 * tap_select_new() - Make a selection of words.
 * @opts: borrowed for the call alone: the selection has its own copies.
 * @out: owned by the caller, for tap_select_free(); NULL on error.
 *
 * Return: 0; -EINVAL with a sentence that begins with the option, for a word that is none of its
 * kind, or for a size of @opts that this library does not know; -ENOMEM.
 */
TAP_API TAP_MUST_CHECK int tap_select_new(const struct tap_select_opts *opts,
					  struct tap_select **out, struct tap_err *err);

/** tap_select_free() - Accepts NULL. */
TAP_API void tap_select_free(struct tap_select *s);

/**
 * tap_select_event() - Whether events of this kind are selected: -e alone.
 */
TAP_API bool tap_select_event(const struct tap_select *s, const char *system, const char *name);

/** struct tap_select_task - What is known of a task. */
struct tap_select_task {
	int tid;
	int tgid; /* its process; below 0: not known, and its own number is taken for it */
	const char *comm; /* ends with a NUL or after comm_len bytes; NULL: not known */
	size_t comm_len; /* bytes; 0: not known */
	const char *cgroup; /* its path, NUL-terminated; NULL: not known */
};

/**
 * tap_select_task() - Whether one task fits all of -p, -t, -c and -g that are given.
 *
 * A name or a cgroup that is not known matches nothing, not even "*".
 */
TAP_API bool tap_select_task(const struct tap_select *s, const struct tap_select_task *task);

/** tap_select_cpu() - Whether a CPU is of the list of -C. @cpu: below 0: not known, which none is.
 */
TAP_API bool tap_select_cpu(const struct tap_select *s, int cpu);

#ifdef __cplusplus
}
#endif
#endif
