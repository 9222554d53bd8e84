/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes types of the kernel's BTF in C syntax. */
#ifndef TAP_PROGRAM_TYPE_NAMES_H
#define TAP_PROGRAM_TYPE_NAMES_H

#include <bpf/btf.h>

#include "base/buf.h"

struct tap_type_names;

/* @btf: borrowed. Reads all types once. Return: 0 or -ENOMEM. */
int tap_type_names_new(const struct btf *btf, struct tap_type_names **out);
void tap_type_names_free(struct tap_type_names *t);

/* Append a declaration of @name to @out, such as "struct rq *rq"; if @name is "", only the type. */
void tap_type_names_add(struct tap_type_names *t, uint32_t type, const char *name,
			struct tap_buf *out);

#endif
