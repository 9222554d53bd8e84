/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Resolves the names in a definition's expressions against the running kernel: arguments of its
 * tracepoint or probe, struct members by BTF, enumerators, and the tp_*() accessors. Expressions
 * become nodes (event/expr/expr.h), from which insns.h generates instructions.
 */
#ifndef TAP_PROGRAM_SCOPE_H
#define TAP_PROGRAM_SCOPE_H

#include <bpf/btf.h>

#include "event/defs.h"
#include "event/expr/build.h"
#include "record/program/feed.h"

#define TAP_SCOPE_MAX_ARGS 12u /* limit of tracepoints: MAX_BPF_FUNC_ARGS */
#define TAP_SCOPE_MAX_BOUND 256u

/* Why a value is unavailable. */
struct tap_scope_reason {
	char *text; /* owned */
	const char *at; /* position in the parsed text */
};

struct tap_scope {
	const struct btf *btf;
	struct span args[TAP_SCOPE_MAX_ARGS];
	uint32_t arg_types[TAP_SCOPE_MAX_ARGS]; /* BTF ids; 0 for a probe */
	/* for a probe: nodes of the arguments used so far, else 0 */
	uint32_t arg_nodes[TAP_SCOPE_MAX_ARGS];
	char arg_names[TAP_SCOPE_MAX_ARGS][8]; /* default names of a probe's arguments */
	unsigned int nr_args;
	const struct tap_probe *probe; /* NULL: a tracepoint */
	uint32_t tracepoint; /* BTF id of its typedef, btf_trace_... */
	/* Value of tp_nr_cpu_ids(). 0: for a filter, which can only use members of structs. */
	unsigned int nr_cpus;
	struct tap_format abi; /* this machine's ABI, for the parser */
	struct expr_parser p;
	struct expr_prog prog;
	struct { /* variables, and parameters of accessors being expanded */
		struct span name;
		uint32_t node;
	} bound[TAP_SCOPE_MAX_BOUND];
	unsigned int nr_bound, scope_at; /* entries from scope_at on are visible */
	unsigned int depth;
	const char *outer_at; /* position of the accessor's call being expanded, or NULL */
	struct tap_scope_reason *reasons;
	unsigned int nr_reasons, cap_reasons;
	uint32_t failed; /* reason of the error in .p; 0: a syntax error */
	/* Resolve REC->field; NULL: not available. */
	uint32_t (*record)(struct tap_scope *n, struct span field);
};

/* Source of a text or of a bitmask. */
struct tap_scope_bytes {
	uint32_t place; /* array in memory (OP_PLACE), or 0 */
	uint32_t pointer; /* else a pointer to bytes or to NUL-terminated text */
	uint32_t size; /* size of the array, or limit for the text, in bytes */
	bool user; /* the pointer is to user memory */
};

/*
 * @btf, @feed: borrowed. @params: the definition's parameters, "struct task_struct *p, int cpu";
 * NULL: use BTF's names, or arg0, arg1. Return: 0; -ENOENT: BTF does not have the tracepoint;
 * -ENOMEM.
 */
int tap_scope_init(struct tap_scope *n, const struct btf *btf, const struct tap_feed *feed,
		   const char *params, unsigned int nr_cpus);
void tap_scope_release(struct tap_scope *n);

/* Start parsing a text. Clears the error of the previous text. */
void tap_scope_begin(struct tap_scope *n, const char *text);
/* Add a reason at position @where in the text. Return: the reason's number. */
uint32_t tap_scope_say(struct tap_scope *n, struct span where, const char *fmt, ...)
	TAP_PRINTF(3, 4);
/*
 * Return: a node for an unavailable value with that reason. Parsing goes on; only expressions that
 * need the value fail.
 */
uint32_t tap_scope_lacking(struct tap_scope *n, uint32_t reason);
/* Return: the reason of the last error, or of @node being unavailable; 0: none. */
uint32_t tap_scope_why(struct tap_scope *n, uint32_t node);
static inline const char *tap_scope_text(const struct tap_scope *n, uint32_t reason)
{
	return reason ? n->reasons[reason - 1].text : "";
}

/* Bind a name to a node. The binding ends with its block, when the caller resets nr_bound. */
void tap_scope_bind(struct tap_scope *n, struct span name, uint32_t node);
/* Return: index of the innermost visible variable of that name, or -1. */
int tap_scope_bound(const struct tap_scope *n, struct span name);
/* Convert a node to a C type: a number type, or "struct NAME *". An error if @type is neither. */
uint32_t tap_scope_convert(struct tap_scope *n, struct span type, uint32_t node);
/* Get a node as bytes: an array, or a pointer. Return: 0; -EINVAL with a reason in .failed. */
int tap_scope_bytes(struct tap_scope *n, struct span where, uint32_t node,
		    struct tap_scope_bytes *bytes);

/*
 * Parse the arguments of a text accessor, such as tp_comm(), after its first argument and the
 * comma. @when: set to a node; the text is empty if its value is 0; 0: never. Return: false: @name
 * is not a text accessor.
 */
bool tap_scope_text_accessor(struct tap_scope *n, struct span name, uint32_t *text, uint32_t *when);
bool tap_scope_is_text_accessor(struct span name);

/*
 * Return the BTF type without typedefs, const and the like, or NULL. @id: in and out, its BTF id.
 */
const struct btf_type *tap_scope_plain_type(const struct tap_scope *n, uint32_t *id);
/* Return: BTF id of the struct that an argument points to; 0: it is not a pointer to a struct. */
uint32_t tap_scope_arg_struct(const struct tap_scope *n, unsigned int arg);

#endif
