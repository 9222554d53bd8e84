/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* BPF instructions of nodes (scope.h). Registers: r6 is the program's context, r10 the stack; all
 * others are nobody's. */
#ifndef TAP_PROGRAM_INSNS_H
#define TAP_PROGRAM_INSNS_H

#include <linux/bpf.h>

#include "event/expr/expr.h"
#include "own_functions.h"

#define TAP_INSNS_TEXT_BYTES 256 /* of the stack, at its far end */

struct tap_insns {
	struct bpf_insn *v; /* owned */
	unsigned int nr, cap;
	int err; /* 0 or the first -errno: -ENOMEM, -E2BIG */
	const struct expr_prog *prog; /* whose nodes these are */
	/* Read all memory by bpf_probe_read_kernel(): where the verifier does not know what a
	 * pointer points to. */
	bool probe;
	/* Values are nothing that the verifier knows: else it tries all ways through the branches,
	 * of which there may be too many. */
	bool blur;
	int16_t *
		/* owned: of each node the place on the stack that has its value; 0: none yet */
		slots;
	uint8_t *uses; /* owned: in how many other nodes each is */
	uint32_t nr_slots; /* of both */
	int16_t next_slot, last_slot; /* the stack grows down to it */
	int16_t held; /* bytes from last_slot on: operands that wait for the other one */
	int16_t stack_end; /* where last_slot begins anew; 0: all 512 bytes are there */
};

void tap_insns_release(struct tap_insns *b);
/* Return: whether the program should be made and loaded again, more to the verifier's liking, which
 * said @err. */
bool tap_insns_retry(struct tap_insns *b, int err);
/* The program's first instructions: the context is in r1. */
void tap_insns_begin(struct tap_insns *b);
/* What was computed is no longer known: where jumps from elsewhere arrive. */
void tap_insns_forget(struct tap_insns *b);

void tap_insns_add(struct tap_insns *b, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
		   int32_t imm);
void tap_insns_call(struct tap_insns *b, int helper);
/* A function of bpf/own.h, which tap_functions_append() puts behind the program. */
void tap_insns_call_function(struct tap_insns *b, enum tap_own_function function);
/* The address of a map, or of the only element of one. */
void tap_insns_map(struct tap_insns *b, uint8_t dst, int map_fd);
void tap_insns_map_value(struct tap_insns *b, uint8_t dst, int map_fd);
void tap_insns_const(struct tap_insns *b, uint8_t dst, uint64_t v);
void tap_insns_move(struct tap_insns *b, uint8_t dst, uint8_t src);
/* Return: where on the stack the register's value is from now on; 0: there was no room (-E2BIG). */
int16_t tap_insns_push(struct tap_insns *b, uint8_t reg);
/* Return: BPF_J* of a comparison, or of OP_AND: whether both have a bit. */
uint8_t tap_insns_jump_of(enum expr_op op, bool is_signed);

/* Computes a node's value, if it is not there yet, into a register from r0 to r5. Others of these
 * are lost. */
void tap_insns_value(struct tap_insns *b, uint32_t node, uint8_t dst);
/*
 * Jumps where what a tracepoint passes is NULL. To the verifier (reg_not_null(), v6.4) it never is,
 * unless it is on the kernel's list of those that may (v6.13): it leaves out what asks of the
 * pointer. So a number made of it is asked; r2 is lost. Return: the jump.
 */
unsigned int tap_insns_jump_if_null(struct tap_insns *b, uint8_t reg);
/* The jump at @insn leads to what comes next. */
void tap_insns_land(struct tap_insns *b, unsigned int insn);

/* @dst = a pointer to where a place is, or a pointer's value. r0 to r5 are lost. */
void tap_insns_address(struct tap_insns *b, uint32_t node, uint8_t dst);
/* Copies @size bytes of a place to where @base points and @at. r0 to r5 are lost. */
void tap_insns_copy(struct tap_insns *b, uint32_t place, uint32_t size, uint8_t base, int16_t at);
/* dst = dst @op src, as 64-bit numbers; a division by zero is 0. r0 and r3 to r5 are lost. */
void tap_insns_arith(struct tap_insns *b, enum expr_op op, struct tap_ctype type, uint8_t dst,
		     uint8_t src);
/* Brings @reg into the range of a type. */
void tap_insns_fit(struct tap_insns *b, uint8_t reg, struct tap_ctype type);

#endif
