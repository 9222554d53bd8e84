/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of a definition's TP_fast_assign() as the running kernel has them: its tracepoint's arguments, members of
 * structs by BTF, the tp_*() accessors. What a field is becomes nodes (expr/expr.h), of which insns.h makes instructions.
 */
#ifndef TAP_PROGRAM_SCOPE_H
#define TAP_PROGRAM_SCOPE_H

#include <bpf/btf.h>

#include "event/defs.h"
#include "expr/build.h"

#define TAP_SCOPE_MAX_ARGS 12u /* of a tracepoint: MAX_BPF_FUNC_ARGS */
#define TAP_SCOPE_MAX_BOUND 64u

struct tap_scope {
	const struct btf *btf;
	const struct tap_def *def;
	struct span args[TAP_SCOPE_MAX_ARGS];
	uint32_t arg_types[TAP_SCOPE_MAX_ARGS]; /* BTF ids */
	unsigned int nr_args;
	uint32_t tracepoint; /* BTF id of its typedef, btf_trace_... */
	struct tap_format abi; /* of this machine: what the parser asks for */
	struct expr_parser p;
	struct expr_prog prog;
	struct { /* parameters of accessors that are being read */
		struct span name;
		uint32_t node;
	} bound[TAP_SCOPE_MAX_BOUND];
	unsigned int nr_bound, scope_at; /* those from scope_at on are seen */
	unsigned int depth;
	char why[256]; /* the first that could not be, or "" */
};

/* Text that a field gets. */
struct tap_scope_text {
	uint32_t place; /* a char array in memory (OP_PLACE), or 0 */
	uint32_t pointer; /* else to text that ends with a NUL */
	uint32_t size; /* bytes of the array, else at most so many are read */
	uint32_t when; /* where this is 0 the text is empty; 0: always there */
};

/*
 * @btf, @def: borrowed. @tracepoint: what feeds it.
 * Return: 0; -ENOENT: BTF does not have it; -ENOMEM.
 */
int tap_scope_init(struct tap_scope *n, const struct btf *btf, const struct tap_def *def,
		   const char *tracepoint);
void tap_scope_release(struct tap_scope *n);

/* Return: a node for what a number field is assigned; 0: .why says what is missing. */
uint32_t tap_scope_number(struct tap_scope *n, const char *field);
/* The same of a text field. Return: 0; -EINVAL. */
int tap_scope_text(struct tap_scope *n, const char *field, struct tap_scope_text *text);

#endif
