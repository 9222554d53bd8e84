/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Integer constant expressions: of #if, and of the length of an array. */
#ifndef TAP_DEFINE_CONSTANT_H
#define TAP_DEFINE_CONSTANT_H

#include "event/define/token.h"

/* As of a 64-bit signed number, whatever suffixes say. */
struct tap_constant {
	int64_t value;
	const char *error; /* NULL: none */
	unsigned int at; /* token that it is about; nr: behind the last one */
};

/* @words_are_zero: as in #if, where every name that is left is 0. */
struct tap_constant tap_constant_of(const struct tap_token *v, unsigned int nr,
				    bool words_are_zero);

#endif
