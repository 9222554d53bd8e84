/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Macros: their names, parameters and bodies. */
#ifndef TAP_DEFINE_MACRO_H
#define TAP_DEFINE_MACRO_H

#include "base/map.h"
#include "event/define/arena.h"
#include "event/define/token.h"

struct tap_macro {
	struct tap_macro *next; /* the next macro with the same hash */
	struct span name;
	const struct tap_token *params, *body;
	unsigned int nr_params, nr_body;
	bool is_call; /* function-like: it has a parameter list */
	bool is_variadic; /* the last parameter takes all remaining arguments */
	bool is_defined; /* false after #undef */
	/* the preprocessor is reading its expansion, in which its name is not expanded again */
	bool busy;
};

struct tap_macros {
	struct tap_map by_hash;
	struct tap_arena *arena;
};

struct tap_macro *tap_macro_find(const struct tap_macros *m, struct span name);
/*
 * Return the macro with this name, and add an undefined one if it does not exist; NULL when out of
 * memory.
 */
struct tap_macro *tap_macro_get(struct tap_macros *m, struct span name);
/* Return the index of the parameter with this name, or nr_params. */
unsigned int tap_macro_param(const struct tap_macro *m, const struct tap_token *t);

#endif
