/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a kind of field that is not there */
// want: __feild|part.h:21
// errors: 24
#ifdef EVENTS
#ifdef WRONG
#define PART_FIELD __feild(int, more)
#else
#define PART_FIELD __field(int, more)
#endif
#include "part.h"
#endif
