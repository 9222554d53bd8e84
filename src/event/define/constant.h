/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Integer constant expressions in #if and array lengths. */
#ifndef TAP_DEFINE_CONSTANT_H
#define TAP_DEFINE_CONSTANT_H

#include "event/define/token.h"

/* The result. All numbers are 64-bit and signed, whatever their suffixes are. */
struct tap_constant {
	int64_t value;
	const char *error; /* NULL on success */
	unsigned int at; /* index of the token that caused the error; nr: after the last token */
};

/* Evaluate @nr tokens. @words_are_zero: unknown names are 0, as in #if. */
struct tap_constant tap_constant_of(const struct tap_token *v, unsigned int nr,
				    bool words_are_zero);

#endif
