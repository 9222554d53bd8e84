/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of bpf/own.h, for programs generated at run time. They are copied from a loaded BPF
 * object, where they are already relocated, and appended to the program that calls them, or inlined
 * into it.
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

/*
 * @prog: tap_own_functions(), loaded. Return: 0; -EINVAL: the program does not have the expected
 * layout.
 */
int tap_functions_find(struct tap_functions *f, const struct bpf_program *prog);

/*
 * Insert a function inline instead of calling it; for TAKE and COMMIT, because calls of them are an
 * eighth of an event's cost. Clobbers r6 to r9 and the first 8 bytes of the stack. The function
 * must not use more of the stack and must not call other functions.
 */
void tap_functions_splice(const struct tap_functions *f, struct tap_insns *b,
			  enum tap_own_function function);

/*
 * Append the functions that the program calls, after its last instruction, and replace the function
 * numbers in its calls by offsets.
 */
void tap_functions_append(const struct tap_functions *f, struct tap_insns *b);

#endif
