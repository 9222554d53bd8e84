/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists the kernel's tracepoints, their parameters and members from BTF as text, for users who
 * write event definitions.
 */
#ifndef TAP_PROGRAM_TRACEPOINTS_H
#define TAP_PROGRAM_TRACEPOINTS_H

#include "record/program/type_names.h"

/*
 * Return the name of the next tracepoint after BTF type *@id, and set *@id to its type; start with
 * 0.
 * Return: NULL: no more.
 */
const char *tap_tracepoint_next(const struct btf *btf, uint32_t *id);

/*
 * Append the parameters, such as "struct sched_entity *se, int cpu". Return: 0; -ENOENT: no such
 * tracepoint; -ENOMEM.
 */
int tap_tracepoint_params(const struct btf *btf, struct tap_type_names *types, const char *name,
			  struct tap_buf *out);

/*
 * Append a line for each value that is reachable from the arguments without following another
 * pointer: "se->avg.util_avg unsigned long". Return: the errors of tap_tracepoint_params().
 */
int tap_tracepoint_members(const struct btf *btf, struct tap_type_names *types, const char *name,
			   struct tap_buf *out);

#endif
