/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of bpf/own.h, which a program made at run time calls. They are taken out of a loaded object, where
 * they are relocated already, and put behind the program that calls them.
 */
#ifndef TAP_PROGRAM_FUNCTIONS_H
#define TAP_PROGRAM_FUNCTIONS_H

#include "program/insns.h"

struct bpf_program;

struct tap_functions {
	struct tap_function {
		const struct bpf_insn *insns; /* borrowed from the object */
		unsigned int nr;
	} v[TAP_NR_OWN_FUNCTIONS];
};

/* @prog: tap_own_functions(), loaded. Return: 0; -EINVAL: it is not made as this expects. */
int tap_functions_find(struct tap_functions *f, const struct bpf_program *prog);

/* Behind the program's last instruction: adds what it calls, by numbers until now. */
void tap_functions_append(const struct tap_functions *f, struct tap_insns *b);

#endif
