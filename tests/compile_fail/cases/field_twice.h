/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* two fields of one name */
// want: duplicate member|redeclaration
// errors: 3
#ifdef EVENTS
#ifdef WRONG
#define PART_FIELD __field(int, id)
#else
#define PART_FIELD __field(int, id2)
#endif
#include "part.h"
#endif
