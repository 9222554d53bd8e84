/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stack traces of events that are recorded over BPF: the maps of the programs of bpf/stacks.h, and
 * reading new stacks from them.
 */
#ifndef TAP_RECORD_BPF_STACKS_H
#define TAP_RECORD_BPF_STACKS_H

#include <bpf/libbpf.h>

#include "record/backend.h"
#include "record/stack_seen.h"
#include "record/stacks.h"

struct tap_bpf_stacks { /* all zero: no event has stacks */
	struct tap_stacks *table; /* owned */
	unsigned char *log; /* memory-mapped; layout in bpf/stack_maps.h */
	size_t log_bytes;
	uint64_t ring_bytes;
	struct tap_stack_seen *seen; /* memory-mapped; NULL: all stacks are walked */
	size_t seen_bytes;
	struct tap_stack_sights sights;
	uint64_t looked_ns; /* when stacks were last handed over to get names */
};

/* Return: the bits and depth of bpf/stack_maps.h; 0: no stacks. */
uint32_t tap_bpf_stacks_constant(const struct tap_stack_kinds *kinds);
/* Size the maps, before the object is loaded. Return: 0 or -errno. */
int tap_bpf_stacks_size(struct bpf_object *obj, const struct tap_plan *plan);
/* Map the maps, once the object is loaded. Return: 0; -errno with a sentence. */
int tap_bpf_stacks_open(struct tap_bpf_stacks *s, const struct bpf_object *obj,
			struct tap_plan *plan, struct tap_err *err);
/*
 * Take new stacks. Call it after the events were taken, whose records refer to them. Return: 0;
 * -ENOMEM with a sentence.
 */
int tap_bpf_stacks_drain(struct tap_bpf_stacks *s, struct tap_err *err);
/*
 * Hand new stacks over to get texts, at most twice a second. The page writer's thread reads the
 * names of programs' functions from files, so that a new stack's text is known after about a
 * second. Return: whether there are new texts, so that the head must be written again.
 */
bool tap_bpf_stacks_find(struct tap_bpf_stacks *s, struct tap_page_writer *writer);
/* Add the numbers of stacks to @price. @records: number of events with a stack. */
void tap_bpf_stacks_add_price(const struct tap_bpf_stacks *s, uint64_t records, json_t *price);
void tap_bpf_stacks_release(struct tap_bpf_stacks *s);

#endif
