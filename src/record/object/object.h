/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The compiled programs of bpf/, which are embedded in schedtap. */
#ifndef TAP_OBJECT_OBJECT_H
#define TAP_OBJECT_OBJECT_H

#include <bpf/libbpf.h>

/*
 * Open the BPF object without loading it. The program arrays of chains (bpf/chain.h) are not
 * created at load, because most are not needed. Return: owned by the caller; NULL with errno set.
 */
struct bpf_object *tap_bpf_open(void);
/* Open the tally's object (bpf/tally.bpf.c) likewise. */
struct bpf_object *tap_bpf_open_tally(void);

/* Purpose of a program. */
enum tap_bpf_kind {
	TAP_BPF_RECORDS,
	TAP_BPF_KEEPS_TASKS, /* maintains the set of bpf/tasks.h */
	TAP_BPF_KEEPS_CGROUPS, /* maintains the cache of bpf/scope.h */
	TAP_BPF_LISTS_TASKS,
	TAP_BPF_HAS_FUNCTIONS, /* contains functions that other programs copy (bpf/own.h) */
};
enum tap_bpf_kind tap_bpf_kind(const struct bpf_program *prog);

/*
 * Set a constant of the programs; only before the load. @len: at most the variable's size. Return:
 * 0; -EINVAL: @len is too large; -ENOENT: no such variable.
 */
int tap_bpf_set(struct bpf_object *obj, const char *name, const void *value, size_t len);

/*
 * Map an array map for reading and writing; only after the load. Return: to be unmapped by the
 * caller; NULL with errno set.
 */
void *tap_bpf_map_array(const struct bpf_object *obj, const char *name, size_t bytes);

#endif
