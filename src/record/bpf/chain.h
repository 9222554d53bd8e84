/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events of one tracepoint are recorded by a chain of programs (bpf/chain.h), in the order of
 * events/. Only the first one, or the filter before it, is attached; each calls the next one (tail
 * call). Programs of definitions that are read at run time are not part of chains.
 */
#ifndef TAP_RECORD_BPF_CHAIN_H
#define TAP_RECORD_BPF_CHAIN_H

#include "record/bpf/planned.h"

/*
 * Choose the programs' places, once it is decided which of them are loaded, but before the object
 * is loaded. Return: 0 or -errno.
 */
int tap_bpf_chain_prepare(struct bpf_object *obj, struct tap_plan *plan);

/*
 * Put a program into its chain. @entry: descriptor of the program, or of the filter before it.
 * Return: 0 or -errno.
 */
int tap_bpf_chain_tie(const struct bpf_object *obj, const struct bpf_program *prog, int entry);

/*
 * Return: the number of events that the chain of @prog records; 0: @prog is not the first of its
 * chain.
 */
unsigned int tap_bpf_chain_length(const struct bpf_object *obj, const struct bpf_program *prog);
/* Return: index of the next program in the chain's array; 0: there is none. */
unsigned int tap_bpf_chain_next(const struct bpf_object *obj, const struct bpf_program *prog);
/* Return: the descriptor of the chain's array. */
int tap_bpf_chain_array(const struct bpf_object *obj, const struct bpf_program *prog);

/* Return: whether @other is @prog, or a later program of its chain. */
bool tap_bpf_chain_leads_to(const struct bpf_object *obj, const struct bpf_program *prog,
			    const struct bpf_program *other);

#endif
