/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* elements of a size that there is not */
// want: __print_array.*1, 2, 4 or 8
#ifdef EVENTS
#ifdef WRONG
#define PART_PRINT TP_printk("%s", __print_array(&__entry->id, 1, 3))
#else
#define PART_PRINT TP_printk("%s", __print_array(&__entry->id, 1, 4))
#endif
#include "part.h"
#endif
