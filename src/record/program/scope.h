/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of a definition's expressions as the running kernel has them: its tracepoint's or
 * probe's arguments, members of structs by BTF, enumerators, the tp_*() accessors. What is read
 * becomes nodes (event/expr/expr.h), of which insns.h makes instructions.
 */
#ifndef TAP_PROGRAM_SCOPE_H
#define TAP_PROGRAM_SCOPE_H

#include <bpf/btf.h>

#include "event/defs.h"
#include "event/expr/build.h"
#include "record/program/feed.h"

#define TAP_SCOPE_MAX_ARGS 12u /* of a tracepoint: MAX_BPF_FUNC_ARGS */
#define TAP_SCOPE_MAX_BOUND 256u

/* Why something cannot be had. */
struct tap_scope_reason {
	char *text; /* owned */
	const char *at; /* in the text that is read from */
};

struct tap_scope {
	const struct btf *btf;
	struct span args[TAP_SCOPE_MAX_ARGS];
	uint32_t arg_types[TAP_SCOPE_MAX_ARGS]; /* BTF ids; of a probe 0 */
	/* of a probe: its arguments, those that were named; else 0 */
	uint32_t arg_nodes[TAP_SCOPE_MAX_ARGS];
	char arg_names[TAP_SCOPE_MAX_ARGS][8]; /* of a probe, where nobody gives others */
	unsigned int nr_args;
	const struct tap_probe *probe; /* NULL: it is a tracepoint */
	uint32_t tracepoint; /* BTF id of its typedef, btf_trace_... */
	/* tp_nr_cpu_ids(); 0: for a filter, which cannot look up what is no member of a struct */
	unsigned int nr_cpus;
	struct tap_format abi; /* of this machine: what the parser asks for */
	struct expr_parser p;
	struct expr_prog prog;
	struct { /* variables, and parameters of accessors that are being read */
		struct span name;
		uint32_t node;
	} bound[TAP_SCOPE_MAX_BOUND];
	unsigned int nr_bound, scope_at; /* those from scope_at on are seen */
	unsigned int depth;
	const char *outer_at; /* the accessor's call that is being read, or NULL */
	struct tap_scope_reason *reasons;
	unsigned int nr_reasons, cap_reasons;
	uint32_t failed; /* the reason of .p's error; 0: it is no expression */
	/* what REC->field is; NULL: not known */
	uint32_t (*record)(struct tap_scope *n, struct span field);
};

/* Where bytes come from: text, or a bitmask. */
struct tap_scope_bytes {
	uint32_t place; /* an array in memory (OP_PLACE), or 0 */
	uint32_t pointer; /* else to bytes, or to text that ends with a NUL */
	uint32_t size; /* of the array; else of text at most so much is read */
	bool user; /* the pointer is a program's */
};

/*
 * @btf, @feed: borrowed. @params: the definition's, "struct task_struct *p, int cpu"; NULL: BTF's
 * names, or arg0, arg1. Return: 0; -ENOENT: BTF does not have it; -ENOMEM.
 */
int tap_scope_init(struct tap_scope *n, const struct btf *btf, const struct tap_feed *feed,
		   const char *params, unsigned int nr_cpus);
void tap_scope_release(struct tap_scope *n);

/* Begins anew with a text: an error of one is none of the next one's. */
void tap_scope_begin(struct tap_scope *n, const char *text);
/* Return: the number of a reason, at a place in the text. */
uint32_t tap_scope_say(struct tap_scope *n, struct span where, const char *fmt, ...)
	TAP_PRINTF(3, 4);
/* Return: a node that cannot be had, for that reason: only who needs it fails. */
uint32_t tap_scope_lacking(struct tap_scope *n, uint32_t reason);
/* Why the last error was, or why @node is not known. Return: a reason's number; 0: there is none.
 */
uint32_t tap_scope_why(struct tap_scope *n, uint32_t node);
static inline const char *tap_scope_text(const struct tap_scope *n, uint32_t reason)
{
	return reason ? n->reasons[reason - 1].text : "";
}

/* Binds a name, up to the end of the block that it is in: where nr_bound is set back. */
void tap_scope_bind(struct tap_scope *n, struct span name, uint32_t node);
/* Return: the innermost variable of that name, below nr_bound, or -1. */
int tap_scope_bound(const struct tap_scope *n, struct span name);
/* Brings a node to a C type: of numbers, or "struct NAME *". An error where it is none. */
uint32_t tap_scope_convert(struct tap_scope *n, struct span type, uint32_t node);
/* A node as bytes: an array, or a pointer. Return: 0; -EINVAL, with a reason in .failed. */
int tap_scope_bytes(struct tap_scope *n, struct span where, uint32_t node,
		    struct tap_scope_bytes *bytes);

/*
 * Reads the arguments of a text accessor, tp_comm() and the like, whose first one and the comma
 * behind it were taken. @when: set to the node without which the text is empty, or 0. Return:
 * false: it is no text accessor.
 */
bool tap_scope_text_accessor(struct tap_scope *n, struct span name, uint32_t *text, uint32_t *when);
bool tap_scope_is_text_accessor(struct span name);

/* The BTF type behind typedefs, const and the like. Return: NULL: none. @id: set to its id. */
const struct btf_type *tap_scope_plain_type(const struct tap_scope *n, uint32_t *id);
/* Return: the BTF id of the struct that an argument points to; 0: it is no such pointer. */
uint32_t tap_scope_arg_struct(const struct tap_scope *n, unsigned int arg);

#endif
