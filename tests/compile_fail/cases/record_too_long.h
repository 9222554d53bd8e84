/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* more than a record may have */
// want: event request: its fields are longer than a record may be
#ifdef EVENTS
#ifdef WRONG
#define PART_FIELD __array(char, big, 4100)
#else
#define PART_FIELD __array(char, big, 4000)
#endif
#include "part.h"
#endif
