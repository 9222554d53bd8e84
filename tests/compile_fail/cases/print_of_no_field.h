/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a field that is not there */
// want: request
#ifdef EVENTS
#ifdef WRONG
#define PART_PRINT TP_printk("%d", __entry->nosuch)
#else
#define PART_PRINT TP_printk("%d", __entry->id)
#endif
#include "part.h"
#endif
