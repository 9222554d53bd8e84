/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* a field that is not there */
// want: trace_event_raw_request|request
#ifdef EVENTS
#ifdef WRONG
#define PART_ASSIGN __entry->nosuch++;
#else
#define PART_ASSIGN __entry->id++;
#endif
#include "part.h"
#endif
