/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks of events that are recorded over BPF: what the programs of bpf/stacks.h need, and what they tell. */
#ifndef TAP_CAPTURE_BPF_STACKS_H
#define TAP_CAPTURE_BPF_STACKS_H

#include <bpf/libbpf.h>

#include "capture/plan.h"
#include "capture/stacks.h"

struct tap_bpf_stacks { /* all zero: no event has stacks */
	struct tap_stacks *table; /* owned */
	unsigned char *log; /* mapped: bpf/stack_maps.h */
	size_t log_bytes;
	uint64_t ring_bytes;
};

/* Before the object is loaded. Return: 0 or -errno. */
int tap_bpf_stacks_size(struct bpf_object *obj, const struct tap_plan *plan);
/* After it is loaded. Return: 0; -errno with a sentence. */
int tap_bpf_stacks_open(struct tap_bpf_stacks *s, const struct bpf_object *obj, struct tap_plan *plan, struct tap_err *err);
/* Takes those that are new, after the events that name them were taken. @nr: adds how many. Return: 0; -ENOMEM with a sentence. */
int tap_bpf_stacks_drain(struct tap_bpf_stacks *s, unsigned int *nr, struct tap_err *err);
void tap_bpf_stacks_release(struct tap_bpf_stacks *s);

#endif
