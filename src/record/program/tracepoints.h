/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's tracepoints by its BTF, as texts: what a definition may be fed by, and what it can
 * name there. */
#ifndef TAP_PROGRAM_TRACEPOINTS_H
#define TAP_PROGRAM_TRACEPOINTS_H

#include "record/program/type_names.h"

/* The next tracepoint's name behind BTF type *@id, which is set to its own; begin with 0. Return:
 * NULL: there is none left. */
const char *tap_tracepoint_next(const struct btf *btf, uint32_t *id);

/* Adds "struct sched_entity *se, int cpu". Return: 0; -ENOENT: there is no such tracepoint;
 * -ENOMEM. */
int tap_tracepoint_params(const struct btf *btf, struct tap_type_names *types, const char *name,
			  struct tap_buf *out);

/*
 * Adds a line for each value that its arguments lead to without another pointer: "se->avg.util_avg
 * unsigned long". Return: as tap_tracepoint_params().
 */
int tap_tracepoint_members(const struct btf *btf, struct tap_type_names *types, const char *name,
			   struct tap_buf *out);

#endif
