/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Macros: by name, and what comes of them in a call. */
#ifndef TAP_DEFINE_MACRO_H
#define TAP_DEFINE_MACRO_H

#include "base/map.h"
#include "event/define/arena.h"
#include "event/define/token.h"

struct tap_macro {
	struct tap_macro *next; /* of the same hash */
	struct span name;
	const struct tap_token *params, *body;
	unsigned int nr_params, nr_body;
	bool is_call; /* it has parentheses */
	bool is_variadic; /* the last one takes all that is left */
	bool is_defined; /* #undef */
	bool busy; /* its text is being read: there it is no macro */
};

struct tap_macros {
	struct tap_map by_hash;
	struct tap_arena *arena;
};

struct tap_macro *tap_macro_find(const struct tap_macros *m, struct span name);
/* Return: the macro of that name, made if there was none; NULL when out of memory. */
struct tap_macro *tap_macro_get(struct tap_macros *m, struct span name);
/* Return: the parameter of this name, or nr_params. */
unsigned int tap_macro_param(const struct tap_macro *m, const struct tap_token *t);

#endif
