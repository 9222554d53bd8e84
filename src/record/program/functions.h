/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of bpf/own.h, for programs made at run time. They are taken out of a loaded object,
 * where they are relocated already, and put behind the program that calls them, or into it.
 */
#ifndef TAP_PROGRAM_FUNCTIONS_H
#define TAP_PROGRAM_FUNCTIONS_H

#include "record/program/insns.h"

struct bpf_program;

struct tap_functions {
	struct tap_function {
		const struct bpf_insn *insns; /* borrowed from the object */
		unsigned int nr;
	} v[TAP_NR_OWN_FUNCTIONS];
};

/* @prog: tap_own_functions(), loaded. Return: 0; -EINVAL: it is not made as this expects. */
int tap_functions_find(struct tap_functions *f, const struct bpf_program *prog);

/*
 * In place of a call, for calls of TAKE and COMMIT are an eighth of what an event costs: r6 to r9
 * are lost, and the first 8 bytes of the stack. The function takes no more, and calls no other.
 */
void tap_functions_splice(const struct tap_functions *f, struct tap_insns *b,
			  enum tap_own_function function);

/* Behind the program's last instruction: adds what it calls, by numbers until now. */
void tap_functions_append(const struct tap_functions *f, struct tap_insns *b);

#endif
