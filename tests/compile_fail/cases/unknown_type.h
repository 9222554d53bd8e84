/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a type that is not there */
// want: nosuch_t
// errors: 8
#ifdef EVENTS
#ifdef WRONG
#define PART_FIELD __field(nosuch_t, more)
#else
#define PART_FIELD __field(int, more)
#endif
#include "part.h"
#endif
