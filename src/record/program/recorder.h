/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates the BPF program that records an event whose definition is read at run time; built-in
 * events get theirs from bpf/schedtap.bpf.c. The instructions are generated here; the functions
 * that take and commit a record are copied from that object.
 */
#ifndef TAP_PROGRAM_RECORDER_H
#define TAP_PROGRAM_RECORDER_H

#include "event/defs.h"

struct btf;
struct tap_feed;
struct tap_functions;

/* Settings of all programs of a recording; only .stacks differs between events. */
struct tap_recorder_env {
	const struct btf *btf;
	const struct tap_functions *functions;
	unsigned int nr_cpus;
	bool by_cpu, by_task; /* record only selected CPUs, or selected tasks (bpf/scope.h) */
	/* stacks to record with each event, as in "tap_stacks_of" (bpf/stack_maps.h); 0: none */
	uint32_t stacks;
};

/*
 * Load a program that records @def from its source @feed. @absent: which of the definition's fields
 * this kernel lacks; they are not assigned. Return: a file descriptor; -EINVAL with a sentence, and
 * in @at the position of the error in def->assign or def->condition, or NULL; -ENOENT: no such
 * tracepoint; -EACCES: the kernel refuses the program; -errno.
 */
int tap_recorder_load(const struct tap_recorder_env *env, const struct tap_def *def,
		      const struct tap_feed *feed, const bool *absent, const char **at,
		      struct tap_err *err);

/* Generate the program without loading it. Return: 0, or the errors of tap_recorder_load(). */
int tap_recorder_check(const struct tap_recorder_env *env, const struct tap_def *def,
		       const struct tap_feed *feed, const bool *absent, const char **at,
		       struct tap_err *err);

#endif
