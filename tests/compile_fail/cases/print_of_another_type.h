/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a conversion of another type */
// want: request|format specifies type .char \*. but the argument has type .int.
#ifdef EVENTS
#ifdef WRONG
#define PART_PRINT TP_printk("id=%s", __entry->id)
#else
#define PART_PRINT TP_printk("id=%d", __entry->id)
#endif
#include "part.h"
#endif
