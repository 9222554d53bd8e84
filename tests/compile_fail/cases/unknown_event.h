/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* an event that is not there */
// want: trace_nosuch
#ifdef CODE
#ifdef WRONG
#define CALL trace_nosuch(1, "name")
#else
#define CALL trace_request(1, "name")
#endif
#include "use.h"
#endif
