/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* __field() of a struct: it has no sign */
// want: field pair: __field_struct\(\) is for structs
// errors: 3
#ifdef EVENTS
#ifndef ONCE
#define ONCE
struct pair {
	int a, b;
};
#endif
#ifdef WRONG
#define PART_FIELD __field(struct pair, pair)
#else
#define PART_FIELD __field_struct(struct pair, pair)
#endif
#include "part.h"
#endif
