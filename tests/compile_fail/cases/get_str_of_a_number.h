/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* __get_str() of a field that is no string */
// want: request
#ifdef EVENTS
#ifdef WRONG
#define PART_PRINT TP_printk("%s", __get_str(id))
#else
#define PART_PRINT TP_printk("%d", __entry->id)
#endif
#include "part.h"
#endif
