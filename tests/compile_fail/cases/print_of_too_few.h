/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fewer arguments than conversions */
// want: request|more .%. conversions than data arguments
#ifdef EVENTS
#ifdef WRONG
#define PART_PRINT TP_printk("id=%d %d", __entry->id)
#else
#define PART_PRINT TP_printk("id=%d %d", __entry->id, 1)
#endif
#include "part.h"
#endif
