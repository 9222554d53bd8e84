/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* __field() of an array: its length would be lost */
// want: field list\[5\]: __array
#ifdef EVENTS
#ifdef WRONG
#define PART_FIELD __field(int, list[5])
#else
#define PART_FIELD __array(int, list, 5)
#endif
#include "part.h"
#endif
