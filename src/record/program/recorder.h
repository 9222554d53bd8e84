/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF program that records an event of a definition read at run time: what bpf/schedtap.bpf.c
 * makes of those that are built in. Its instructions are made here, the functions that take and
 * commit a record are that object's.
 */
#ifndef TAP_PROGRAM_RECORDER_H
#define TAP_PROGRAM_RECORDER_H

#include "event/defs.h"

struct btf;
struct tap_feed;
struct tap_functions;

/* What is the same for all programs of a recording, but for .stacks. */
struct tap_recorder_env {
	const struct btf *btf;
	const struct tap_functions *functions;
	unsigned int nr_cpus;
	bool by_cpu, by_task; /* only CPUs, or tasks, that bpf/scope.h finds wanted */
	uint32_t stacks; /* behind each record: as in "tap_stacks_of" (bpf/stack_maps.h); 0: none */
};

/*
 * Loads a program for @def on what feeds it. @absent: of its fields, those that this kernel lacks:
 * they are not assigned. Return: a descriptor; -EINVAL with a sentence, and @at: where in
 * def->assign, or in def->condition, it is, or NULL; -ENOENT: no such tracepoint; -EACCES where the
 * kernel refuses the program; -errno.
 */
int tap_recorder_load(const struct tap_recorder_env *env, const struct tap_def *def,
		      const struct tap_feed *feed, const bool *absent, const char **at,
		      struct tap_err *err);

/* The same without a kernel that is asked. Return: 0, or as tap_recorder_load(). */
int tap_recorder_check(const struct tap_recorder_env *env, const struct tap_def *def,
		       const struct tap_feed *feed, const bool *absent, const char **at,
		       struct tap_err *err);

#endif
