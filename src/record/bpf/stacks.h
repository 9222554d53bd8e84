/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks of events that are recorded over BPF: what the programs of bpf/stacks.h need, and what
 * they tell. */
#ifndef TAP_RECORD_BPF_STACKS_H
#define TAP_RECORD_BPF_STACKS_H

#include <bpf/libbpf.h>

#include "record/backend.h"
#include "record/stack_seen.h"
#include "record/stacks.h"

struct tap_bpf_stacks { /* all zero: no event has stacks */
	struct tap_stacks *table; /* owned */
	unsigned char *log; /* mapped: bpf/stack_maps.h */
	size_t log_bytes;
	uint64_t ring_bytes;
	struct tap_stack_seen *seen; /* mapped; NULL: all are walked */
	size_t seen_bytes;
	struct tap_stack_sights sights;
	uint64_t looked_ns; /* when it was last asked for what is new */
};

/* Which of them, as bpf/stack_maps.h has it. 0: none. */
uint32_t tap_bpf_stacks_constant(const struct tap_stack_kinds *kinds);
/* Before the object is loaded. Return: 0 or -errno. */
int tap_bpf_stacks_size(struct bpf_object *obj, const struct tap_plan *plan);
/* After it is loaded. Return: 0; -errno with a sentence. */
int tap_bpf_stacks_open(struct tap_bpf_stacks *s, const struct bpf_object *obj,
			struct tap_plan *plan, struct tap_err *err);
/* Takes those that are new, after the events that name them were taken. Return: 0; -ENOMEM with a
 * sentence. */
int tap_bpf_stacks_drain(struct tap_bpf_stacks *s, struct tap_err *err);
/* As find() of record/backend.h: what is new is in the head within a second, though names of
 * programs come from files. */
bool tap_bpf_stacks_find(struct tap_bpf_stacks *s, struct tap_page_writer *writer);
/* Adds what there was of them. @records: of events. */
void tap_bpf_stacks_add_price(const struct tap_bpf_stacks *s, uint64_t records, json_t *price);
void tap_bpf_stacks_release(struct tap_bpf_stacks *s);

#endif
