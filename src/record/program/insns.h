/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates BPF instructions from expression nodes (scope.h). r6 holds the program's context and
 * r10 the stack; the caller may use all other registers.
 */
#ifndef TAP_PROGRAM_INSNS_H
#define TAP_PROGRAM_INSNS_H

#include <linux/bpf.h>

#include "event/expr/expr.h"
#include "own_functions.h"

#define TAP_INSNS_TEXT_BYTES 256 /* bytes reserved at the far end of the stack */

struct tap_insns {
	struct bpf_insn *v; /* owned */
	unsigned int nr, cap;
	int err; /* 0 or the first -errno: -ENOMEM, -E2BIG */
	const struct expr_prog *prog; /* program that the node numbers refer to */
	/* Use bpf_probe_read_kernel() for all memory: the verifier refuses direct loads. */
	bool probe;
	/* Hide values from the verifier, which else explores too many paths. */
	bool blur;
	int16_t *slots; /* owned: stack offset of each node's computed value; 0: not computed */
	uint8_t *uses; /* owned: for each node, number of nodes that use it */
	uint32_t nr_slots; /* length of .slots and .uses */
	/* next free offset, and offset of the last slot (the stack grows down) */
	int16_t next_slot, last_slot;
	int16_t held; /* bytes used above last_slot, by operands that wait for the other operand */
	int16_t stack_end; /* offset at which the stack ends; 0: all 512 bytes are available */
};

void tap_insns_release(struct tap_insns *b);
/*
 * Return true if the program should be generated and loaded again in a form that the verifier is
 * likelier to accept. @err: error of the failed load.
 */
bool tap_insns_retry(struct tap_insns *b, int err);
/* Start a program. Its context is in r1. */
void tap_insns_begin(struct tap_insns *b);
/* Discard all computed values, at a place that jumps from elsewhere reach. */
void tap_insns_forget(struct tap_insns *b);

void tap_insns_add(struct tap_insns *b, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
		   int32_t imm);
void tap_insns_call(struct tap_insns *b, int helper);
/* Call a function of bpf/own.h; tap_functions_append() must append it to the program. */
void tap_insns_call_function(struct tap_insns *b, enum tap_own_function function);
/* Load the address of a map, or of the single element of a map. */
void tap_insns_map(struct tap_insns *b, uint8_t dst, int map_fd);
void tap_insns_map_value(struct tap_insns *b, uint8_t dst, int map_fd);
void tap_insns_const(struct tap_insns *b, uint8_t dst, uint64_t v);
void tap_insns_move(struct tap_insns *b, uint8_t dst, uint8_t src);
/* Save a register on the stack. Return: the stack offset; 0: the stack is full (-E2BIG). */
int16_t tap_insns_push(struct tap_insns *b, uint8_t reg);
/*
 * Return: the BPF_J* code of a comparison, or of OP_AND (true if the operands have a bit in
 * common).
 */
uint8_t tap_insns_jump_of(enum expr_op op, bool is_signed);

/*
 * Compute a node's value, unless already done, into @dst (r0 to r5). Clobbers the other registers
 * r0 to r5.
 */
void tap_insns_value(struct tap_insns *b, uint32_t node, uint8_t dst);
/*
 * Jump if a pointer passed by a tracepoint is NULL. The verifier (reg_not_null(), v6.4) assumes
 * that such a pointer is never NULL, unless the kernel lists it as nullable (v6.13), and deletes
 * the test. So a number derived from the pointer is tested. Clobbers r2. Return: index of the jump.
 */
unsigned int tap_insns_jump_if_null(struct tap_insns *b, uint8_t reg);
/* Make the jump at index @insn jump to the next instruction. */
void tap_insns_land(struct tap_insns *b, unsigned int insn);

/* @dst = the address of a place, or a pointer's value. Clobbers r0 to r5. */
void tap_insns_address(struct tap_insns *b, uint32_t node, uint8_t dst);
/* Copy @size bytes of a place to @base + @at. Clobbers r0 to r5. */
void tap_insns_copy(struct tap_insns *b, uint32_t place, uint32_t size, uint8_t base, int16_t at);
/* dst = dst @op src, on 64-bit numbers; a division by zero yields 0. Clobbers r0 and r3 to r5. */
void tap_insns_arith(struct tap_insns *b, enum expr_op op, struct tap_ctype type, uint8_t dst,
		     uint8_t src);
/* Truncate or extend @reg to a type. */
void tap_insns_fit(struct tap_insns *b, uint8_t reg, struct tap_ctype type);

#endif
