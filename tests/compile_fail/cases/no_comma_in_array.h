/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a comma is missing before the length */
// want: __array\(int, \.\.\.\) has 2 parts, not 3
#ifdef EVENTS
#ifdef WRONG
#define PART_FIELD __array(int, more 3)
#else
#define PART_FIELD __array(int, more, 3)
#endif
#include "part.h"
#endif
