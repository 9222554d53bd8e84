/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's types as C writes them. */
#ifndef TAP_PROGRAM_TYPE_NAMES_H
#define TAP_PROGRAM_TYPE_NAMES_H

#include <bpf/btf.h>

#include "base/buf.h"

struct tap_type_names;

/* @btf: borrowed. Looks at all of its types, once. Return: 0 or -ENOMEM. */
int tap_type_names_new(const struct btf *btf, struct tap_type_names **out);
void tap_type_names_free(struct tap_type_names *t);

/* Adds a declaration of @name to @out, "struct rq *rq"; where that is "", the type alone. */
void tap_type_names_add(struct tap_type_names *t, uint32_t type, const char *name,
			struct tap_buf *out);

#endif
