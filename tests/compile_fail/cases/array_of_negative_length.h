/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an array of less than nothing */
// want: negative
// errors: 3
#ifdef EVENTS
#ifdef WRONG
#define PART_FIELD __array(int, more, -1)
#else
#define PART_FIELD __array(int, more, 1)
#endif
#include "part.h"
#endif
