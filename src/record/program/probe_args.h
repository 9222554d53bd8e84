/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a USDT probe's arguments are, as its note says in the assembler's words: "-4@%edi
 * 8@-16(%rbp) 4@$5 8@counter(%rip)", on arm64 "-4@w0 8@[sp, 16] 4@5".
 */
#ifndef TAP_PROGRAM_PROBE_ARGS_H
#define TAP_PROGRAM_PROBE_ARGS_H

#include "event/format.h"
#include "event/span.h"

#define TAP_PROBE_MAX_ARGS 12u /* as many as sys/sdt.h and a tracepoint have */

enum tap_probe_place {
	TAP_PROBE_CONSTANT, /* num */
	TAP_PROBE_REGISTER, /* reg, its bits from .shift on */
	TAP_PROBE_MEMORY, /* of the program, at reg + index * scale + num */
};

struct tap_probe_arg {
	struct tap_ctype type;
	enum tap_probe_place place;
	int reg, index; /* words of struct pt_regs; -1: none */
	uint8_t shift, scale;
	uint64_t num;
	struct span symbol; /* to whose address num is to be added; .s: NULL: none */
	struct span text; /* of it; what was read points into the note's text */
	const char *why; /* it cannot be read; NULL: it can */
};

/* @machine: EM_X86_64 or EM_AARCH64. Return: how many; what is above TAP_PROBE_MAX_ARGS is left
 * out. */
unsigned int tap_probe_args_read(const char *text, unsigned int machine,
				 struct tap_probe_arg *args);

/* A function's argument or, of @arg -1, what it returns, by the machine's ABI. Return: false: that
 * many are not in registers. */
bool tap_probe_args_of_function(unsigned int machine, int arg, struct tap_probe_arg *out);

/* The word of the program counter. */
int tap_probe_args_pc(unsigned int machine);

#endif
