/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses the locations of a USDT probe's arguments, which its ELF note has in the assembler's
 * syntax: "-4@%edi 8@-16(%rbp) 4@$5 8@counter(%rip)", on arm64 "-4@w0 8@[sp, 16] 4@5".
 */
#ifndef TAP_PROGRAM_PROBE_ARGS_H
#define TAP_PROGRAM_PROBE_ARGS_H

#include "event/format.h"
#include "event/span.h"

#define TAP_PROBE_MAX_ARGS 12u /* limit of sys/sdt.h and of tracepoints */

enum tap_probe_place {
	TAP_PROBE_CONSTANT, /* the value is .num */
	TAP_PROBE_REGISTER, /* .reg, shifted right by .shift bits */
	TAP_PROBE_MEMORY, /* user memory at reg + index * scale + num */
};

struct tap_probe_arg {
	struct tap_ctype type;
	enum tap_probe_place place;
	int reg, index; /* word index in struct pt_regs; -1: none */
	uint8_t shift, scale;
	uint64_t num;
	struct span symbol; /* symbol whose address is to be added to .num; .s is NULL: none */
	struct span text; /* the argument's text, in the note */
	const char *why; /* reason why it cannot be read; NULL: it can */
};

/*
 * @machine: EM_X86_64 or EM_AARCH64. Return: number of arguments; those after TAP_PROBE_MAX_ARGS
 * are ignored.
 */
unsigned int tap_probe_args_read(const char *text, unsigned int machine,
				 struct tap_probe_arg *args);

/*
 * Locate a function's argument @arg, or with @arg -1 its return value, by the machine's ABI.
 * Return: false: the argument is not passed in a register.
 */
bool tap_probe_args_of_function(unsigned int machine, int arg, struct tap_probe_arg *out);

/* Return the word index of the program counter in struct pt_regs. */
int tap_probe_args_pc(unsigned int machine);

#endif
