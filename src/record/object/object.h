/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf/schedtap.bpf.c, compiled, in the program. */
#ifndef TAP_OBJECT_OBJECT_H
#define TAP_OBJECT_OBJECT_H

#include <bpf/libbpf.h>

/* Not loaded yet; without the arrays of chains (bpf/chain.h), of which most are not needed. Return:
 * NULL with errno set; the caller's to close. */
struct bpf_object *tap_bpf_open(void);

/* What a program is for. */
enum tap_bpf_kind {
	TAP_BPF_RECORDS,
	TAP_BPF_KEEPS_TASKS, /* in the set of bpf/tasks.h */
	TAP_BPF_LISTS_TASKS,
	TAP_BPF_HAS_FUNCTIONS, /* that other programs take (bpf/own.h) */
};
enum tap_bpf_kind tap_bpf_kind(const struct bpf_program *prog);

/* A constant of the programs, before they are loaded. @len must be the variable's size. */
int tap_bpf_set(struct bpf_object *obj, const char *name, const void *value, size_t len);

/* An array that can be mapped, to be read and written; after the load. Return: to be unmapped; NULL
 * with errno set. */
void *tap_bpf_map_array(const struct bpf_object *obj, const char *name, size_t bytes);

#endif
