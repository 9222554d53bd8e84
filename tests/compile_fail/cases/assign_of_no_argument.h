/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an argument that the event does not have */
// want: nosuch
#ifdef EVENTS
#ifdef WRONG
#define PART_ASSIGN __entry->id = nosuch;
#else
#define PART_ASSIGN __entry->id = *list;
#endif
#include "part.h"
#endif
