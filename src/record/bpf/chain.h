/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of one tracepoint as a chain (bpf/chain.h), in the order of events/: the first one's
 * program is attached, or what is in front of it, and leads to the next one. Programs made of
 * definitions read at run time are in none.
 */
#ifndef TAP_RECORD_BPF_CHAIN_H
#define TAP_RECORD_BPF_CHAIN_H

#include "record/bpf/planned.h"

/* Before the object is loaded, when it is known which of its programs are. Return: 0 or -errno. */
int tap_bpf_chain_prepare(struct bpf_object *obj, struct tap_plan *plan);

/* Ties a program into the chain that it is in: @entry is the program, or what is in front of it.
 * Return: 0 or -errno. */
int tap_bpf_chain_tie(const struct bpf_object *obj, const struct bpf_program *prog, int entry);

/* How many events it records, with those that it leads to. 0: it is led to. */
unsigned int tap_bpf_chain_length(const struct bpf_object *obj, const struct bpf_program *prog);
/* Where the one behind it is in the chain's array. 0: there is none. */
unsigned int tap_bpf_chain_next(const struct bpf_object *obj, const struct bpf_program *prog);
/* The array's descriptor. */
int tap_bpf_chain_array(const struct bpf_object *obj, const struct bpf_program *prog);

/* Whether @prog leads to @other, or is it. */
bool tap_bpf_chain_leads_to(const struct bpf_object *obj, const struct bpf_program *prog,
			    const struct bpf_program *other);

#endif
