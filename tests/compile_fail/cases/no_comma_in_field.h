/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a comma is missing between type and name */
// want: __field\(int more, \.\.\.\) has 1 parts, not 2
#ifdef EVENTS
#ifdef WRONG
#define PART_FIELD __field(int more)
#else
#define PART_FIELD __field(int, more)
#endif
#include "part.h"
#endif
