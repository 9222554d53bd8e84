/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The distinct stacks of a recording while it is made: from addresses to the text that an event's print format has. */
#ifndef TAP_CAPTURE_STACKS_H
#define TAP_CAPTURE_STACKS_H

#include <schedtap/err.h>

#include "base/map.h"

#define TAP_STACKS_MAX 65536u
#define TAP_STACKS_MAX_BYTES ((size_t)16 << 20) /* of texts of one kind */

struct tap_stack_new; /* bpf/stack_maps.h */
struct tap_stacks;

/* The kernel's symbols are read here. Return: 0; -ENOMEM with a sentence. */
int tap_stacks_new(struct tap_stacks **out, struct tap_err *err);
void tap_stacks_free(struct tap_stacks *s);

/* Whether functions of the kernel have names here. */
bool tap_stacks_name_kernel(const struct tap_stacks *s);

/* One that is new. A kernel's begins with what read it: that is left out. Return: 0; -ENOMEM. */
int tap_stacks_add(struct tap_stacks *s, const struct tap_stack_new *stack, unsigned int nr);

/* number -> text (const char *), borrowed until the next tap_stacks_add(). */
const struct tap_map *tap_stacks_texts(const struct tap_stacks *s, bool user);

#endif
