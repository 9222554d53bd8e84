/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TP_ARGS() that TP_PROTO() does not have */
// want: nosuch
// errors: 14
#ifdef EVENTS
#ifdef WRONG
#define PART_ARGS id, nosuch
#else
#define PART_ARGS id, list
#endif
#include "part.h"
#endif
