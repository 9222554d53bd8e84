/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* __assign_str() of a field that is no string */
// want: __data_loc_id|request
#ifdef EVENTS
#ifdef WRONG
#define PART_ASSIGN __assign_str(id);
#else
#define PART_ASSIGN __entry->id++;
#endif
#include "part.h"
#endif
