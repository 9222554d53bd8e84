/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an alignment that records do not have */
// want: event request: a field.{1,3}s type has an alignment above 8
#ifdef EVENTS
#ifndef ONCE
#define ONCE
struct wide {
	int x;
} __attribute__((aligned(8)));
struct wider {
	int x;
} __attribute__((aligned(16)));
#endif
#ifdef WRONG
#define PART_FIELD __field_struct(struct wider, wide)
#else
#define PART_FIELD __field_struct(struct wide, wide)
#endif
#include "part.h"
#endif
